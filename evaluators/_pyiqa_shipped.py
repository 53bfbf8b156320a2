"""The numbers behind our own BRISQUE and NIQE, in the files that pyiqa reads."""

from __future__ import annotations

from pathlib import Path

from turngate.evaluators.no_reference.parameters import BRISQUE, NIQE, parameters

__all__ = ["write_ours"]


def write_ours(path: Path) -> None:
    """Write `path`, which is called as one of `_pyiqa_files.OURS`; the same numbers as in pyiqa's hub."""
    if path.name.startswith("niqe"):
        from scipy.io import savemat

        pristine = parameters(*NIQE)
        savemat(path, {"mu_prisparam": pristine["mean"][None], "cov_prisparam": pristine["covariance"]})
        return
    import torch

    model = parameters(*BRISQUE)
    vectors = (torch.tensor(model["coefficients"]).float(), torch.tensor(model["support_vectors"]).float())
    torch.save(vectors, path)
