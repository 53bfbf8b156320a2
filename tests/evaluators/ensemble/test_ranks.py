"""Several evaluators as one: the mean of ranks in the chain."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.warps import photograph

from turngate import Picture
from turngate.errors import ConfigError
from turngate.evaluators import EvalInput, Score, Unscored
from turngate.evaluators.scoring import score

from ._ensembles import GRAYS, build, once, says, value


def test_rank_among_the_accepted_images() -> None:
    """Mean gray as the measure: brighter is better for one member, darker for the other."""
    bright, dark = ({"type": "scripted", "direction": direction} for direction in ("higher", "lower"))
    history = (GRAYS[1], GRAYS[2], GRAYS[3])
    assert value(once(build("rank_mean", {"a": bright}), GRAYS[4], history=history)) == 1
    assert value(once(build("rank_mean", {"a": bright}), GRAYS[2], history=history)) == 0.5
    result = once(build("rank_mean", {"a": bright, "b": dark}), GRAYS[0], history=history)
    assert isinstance(result, Score)
    assert (result.value, result.components["a"], result.components["b"]) == (0.5, 0, 1)
    assert result.components["a.value"] == 0


def test_a_rank_needs_a_past_and_repeatable_members() -> None:
    result = once(build("rank_mean", {"a": "scripted"}), history=())
    assert isinstance(result, Unscored)
    assert result.why == "no_reference"
    with pytest.raises(ConfigError, match=r"members\.a: rank_mean scores old images again"):
        build("rank_mean", {"a": says(1, 2)})
    judge = {"type": "openai_judge", "model": "m", "base_url": "http://127.0.0.1:1"}
    with pytest.raises(ConfigError, match=r"members\.a: rank_mean"):
        build("rank_mean", {"a": judge})


@pytest.mark.slow
def test_ranks_of_members_with_opposite_directions_units_and_gaps() -> None:
    """Ranks have no unit, and a member without a score is left out."""
    rgb = photograph("coffee")[:192, :192].astype(float)
    noise = np.random.default_rng(0).normal(0, 1, rgb.shape)
    chain = [Picture.from_rgb(np.clip(rgb + level * noise, 0, 255).astype(np.uint8)) for level in (0, 5, 15, 40, 80)]
    members = {"fidelity": "psnr", "worn": "drift", "small": {"type": "ms_ssim", "align": "crop"}}
    origin, *accepted = chain
    for place, candidate in enumerate(accepted):
        others = tuple(picture for picture in accepted if picture is not candidate)
        result = value(once(build("rank_mean", members), candidate, origin=origin, history=others))
        assert result == pytest.approx((3 - place) / 3), "the share of the others that are noisier"
    flat = once(
        build("rank_mean", {"a": "brisque", "b": "psnr"}, need=1), GRAYS[0], origin=GRAYS[1], history=(GRAYS[2],)
    )
    assert isinstance(flat, Score)
    assert (flat.components["scored"], flat.components["unscored"]) == (1, 1)


def test_a_rank_is_that_of_the_chain_not_of_the_batch() -> None:
    evaluator = build("rank_mean", {"a": "scripted"})
    assert evaluator.facts.batch_invariant
    samples = [EvalInput(candidate, history=(GRAYS[1], GRAYS[3])) for candidate in GRAYS]
    together = [value(result) for result in score(evaluator, samples)]
    assert together == [value(score(evaluator, [sample])[0]) for sample in samples] == [1, 0.75, 0.5, 0.25, 0]
