"""Vowpal Wabbit's contextual bandits on one stream, for ``benchmarks/bandit.py``, in a Python that has them.

    python benchmarks/vowpal.py < job.json     # needs: pip install vowpalwabbit

Reads {"options": ..., "n_classes": k, "rows": [[{name: value}, label], ...], "seed": ...} with labels from 0 to k - 1,
and writes a list of [greedy, played] labels. Numbers are features with that value, texts are features of their own.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import Any


def example(x: dict[str, Any]) -> str:
    """A row in Vowpal Wabbit's format."""
    parts = []
    for place, value in enumerate(x.values()):
        parts.append(f"f{place}={value.replace(' ', '_')}" if isinstance(value, str) else f"f{place}:{value:.6g}")
    return "| " + " ".join(parts)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    import vowpalwabbit

    job = json.load(sys.stdin)
    draws = random.Random(job["seed"])
    learner = vowpalwabbit.Workspace(f"--cb_explore {job['n_classes']} {job['options']} --quiet")
    said = []
    for x, label in job["rows"]:
        text = example({name: value for name, value in x.items() if value is not None})
        chances = learner.predict(text)
        greedy = max(range(len(chances)), key=chances.__getitem__)
        played = draws.choices(range(len(chances)), chances)[0]
        learner.learn(f"{played + 1}:{float(played != label)}:{chances[played]:.6g} {text}")
        said.append([greedy, played])
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
