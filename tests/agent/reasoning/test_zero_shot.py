"""The zero-shot reader on a model that is made here: what it does with probabilities, and models it must refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turngate.agent.reasoning import LABELS, READERS, SummaryReader, SummaryReading, Unread
from turngate.errors import ConfigError, MissingWeights

from ._tiny_nli import NLI, tiny_nli

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]


def reader(**fields: Any) -> SummaryReader:
    return READERS.build(READERS.configure({"type": "zero_shot", "device": "cpu", **fields}, "reader"))


@pytest.fixture(scope="module")
def agreeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that takes everything to be entailed."""
    return tiny_nli(tmp_path_factory.mktemp("agreeing"), favours=(-20, 0, 20))


def test_a_label_is_given_where_a_sentence_entails_its_hypothesis(agreeing: Path) -> None:
    found = reader(folder=str(agreeing)).read(["The noise is gone. An exact copy."])[0]
    assert isinstance(found, SummaryReading)
    assert all(getattr(found, label) for label in LABELS)
    assert {finding.sentence for finding in found.findings} == {"The noise is gone.", "An exact copy."}
    assert found.counts is None, "it does not look for counts"


def test_nothing_is_given_where_everything_is_contradicted(tmp_path: Path) -> None:
    against = reader(folder=str(tiny_nli(tmp_path / "m", favours=(20, 0, -20))))
    assert against.read(["The noise is gone."]) == [SummaryReading()]


def test_the_threshold_and_the_hypotheses_are_those_of_the_configuration(tmp_path: Path) -> None:
    folder = str(tiny_nli(tmp_path / "m"))
    only = reader(folder=folder, threshold=0, hypotheses={"mentions_damage": "There is noise."}).read(["Noise"])[0]
    assert isinstance(only, SummaryReading)
    assert (only.mentions_damage, only.claims_success, only.findings[0].words) == (True, False, "There is noise.")
    assert reader(folder=folder, threshold=1).read(["Noise"]) == [SummaryReading()]


def test_each_text_is_read_by_itself_and_every_time_alike(agreeing: Path) -> None:
    zero_shot = reader(folder=str(agreeing))
    texts = ["The noise is gone.", None, "", "噪声 🙂", "<b>copy</b> " * 300]
    together = zero_shot.read(texts)
    assert together == [zero_shot.read([text])[0] for text in texts]
    assert [isinstance(one, Unread) for one in together] == [False, True, True, False, False]


def test_a_model_without_entailment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no label `entailment` but bad, good"):
        reader(folder=str(tiny_nli(tmp_path / "m", labels=("bad", "good"), favours=(0, 0))))


def test_a_model_whose_head_would_be_random_is_refused(tmp_path: Path) -> None:
    folder = tiny_nli(tmp_path / "m", head=False)
    config = (folder / "config.json").read_text()
    assert NLI[0] in config
    with pytest.raises(ConfigError, match=r"lacks weights \(classifier"):
        reader(folder=str(folder))


def test_what_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingWeights, match="there is no folder"):
        reader(folder=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="transformers cannot load"):
        reader(folder=str(tmp_path))
    with pytest.raises(MissingWeights, match="nobody/nothing is not on this machine and local_files_only is set"):
        reader(model="nobody/nothing", local_files_only=True)


@pytest.mark.parametrize("fields", [{}, {"model": "a/b", "folder": "c"}, {"model": "no repository"}])
def test_a_source_that_cannot_be_one_is_told_before_anything_is_loaded(fields: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="reader"):
        reader(**fields)
