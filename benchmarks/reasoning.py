"""How well a reader of reasoning summaries finds what the labelled texts say.

    python benchmarks/reasoning.py [--reader lexicon] [--set FIELD=VALUE ...] [--texts FILE]

Prints precision, recall and F1 per label on each set of labelled texts, then the time per text. The lexicon takes
seconds. A classifier: `--reader zero_shot --set folder=PATH`; texts of one's own: a file like
benchmarks/labelled.yaml.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from _labelled import read_labelled, score_reader

from turngate.agent.reasoning import READERS, Unread
from turngate.yaml_text import parse_yaml


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--reader", default="lexicon")
    options.add_argument("--set", action="append", default=[], dest="fields", metavar="FIELD=VALUE")
    options.add_argument("--texts", type=Path)
    chosen = options.parse_args()
    given = (field.partition("=") for field in chosen.fields)
    fields = {name: parse_yaml(value, f"--set {name}") for name, _, value in given}
    reader = READERS.build(READERS.configure({"type": chosen.reader, **fields}, "reader"))
    for name, texts in read_labelled(chosen.texts).items():
        started = time.perf_counter()
        readings = reader.read([one.text for one in texts])
        spent = (time.perf_counter() - started) / len(texts)
        unread = sum(isinstance(reading, Unread) for reading in readings)
        print(f"\n{name}: {len(texts)} texts, {unread} not read, {spent * 1e3:.2f} ms a text\n")
        print("| label | texts with it | precision | recall | F1 |\n|---|---|---|---|---|")
        for score in score_reader(reader, texts):
            numbers = " | ".join("-" if n is None else f"{n:.3f}" for n in (score.precision, score.recall, score.f1))
            print(f"| {score.label} | {score.right + score.missed} | {numbers} |")


if __name__ == "__main__":
    main()
