"""Which picture a run began with, and which pictures its gate was calibrated on: by pixels, not by name."""

from __future__ import annotations

from turngate.traces.analysis.run.run_view import RunView

__all__ = ["calibration_origins", "origin_identity"]


def origin_identity(run: RunView) -> str:
    """Pixel identity of the run's origin; two names, files or formats of one picture have the same.

    Raises `DamagedRun` when the stored image is missing or was changed.
    """
    return run.folder.images.pixel_identity(run.info.origin.image)


def calibration_origins(run: RunView) -> frozenset[str]:
    """Pixel identities of the origins that the run's gate says it was calibrated on, gates inside it included.

    Empty where the configuration does not say. The gate was judged on its own calibration where `origin_identity(run)`
    is among them.
    """
    return run.config.gate.calibrated_on
