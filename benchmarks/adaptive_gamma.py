"""A booster that learns its gamma, row by row and without a grid, beside fixed gammas and the mixture over four.

    python benchmarks/adaptive_gamma.py run --data-dir FOLDER
    python benchmarks/adaptive_gamma.py report

Let u = 1 / gamma, and m_j be the lead of the label over its rival j in the vote shares of a row. The hinge loss
H(u) = max over j of (1 - u m_j)_+ bounds the sampled mistakes of every booster that projects u times its shares,
1 - D_y <= (1 - 1/k) H(u), and is convex in u. So u is learned by gradient descent on [1, 20] whose step follows the
squared gradients, 19 / sqrt(2 sum of g^2): for every fixed u, the sum of H over the rows exceeds that of u by at most
19 sqrt(2 sum of g^2), g being at most 1. The next row's game is played at the gamma learned so far. All have 80
Hoeffding trees; the mixture divides them among its gammas. At most 2,000 rows of each dataset; accuracy against the
clean labels, of the mode. ``report`` writes a table of docs/theory.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies

from ocoboost import (
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBoostClassifier,
    OnlinePairwiseBoostClassifier,
)
from ocoboost.bench import datasets, measures, noise, paper
from ocoboost.bench.jobs import Job, Result
from ocoboost.online.members import GAMMAS

N_LEARNERS, MOST_ROWS, LARGEST = 80, 2000, 20.0
REGIMES = {"agnostic": OnlineAgnosticBoostClassifier, "pairwise": OnlinePairwiseBoostClassifier}
MODELS = ["mixture", *(f"{r}, {g}" for r, g in itertools.product(REGIMES, [*map(str, GAMMAS), "learned"]))]
FLIPS = (0.0, 0.2)


class LearnedScale:
    """The player of u = 1 / gamma."""

    def __init__(self) -> None:
        self.u = 2.0
        self.squares = 0.0
        self.loss = 0.0
        self.leads: list[float] = []  # over the strongest rival

    def see(self, shares: np.ndarray[Any, Any], label: int) -> None:
        """Move after the vote shares of a row and its label."""
        lead = float(shares[label] - np.delete(shares, label).max())
        self.leads.append(lead)
        loss = max(0.0, 1.0 - self.u * lead)
        self.loss += loss
        if loss > 0.0 and lead != 0.0:
            self.squares += lead**2
            step = (LARGEST - 1.0) / np.sqrt(2.0 * self.squares)
            self.u = float(np.clip(self.u + step * lead, 1.0, LARGEST))

    def regret(self) -> tuple[float, float]:
        """Against the best u in hindsight, per row, and the bound on it."""
        every = np.linspace(1.0, LARGEST, 400)
        best = np.maximum(0.0, 1.0 - np.outer(every, self.leads)).sum(axis=1).min()
        bound = (LARGEST - 1.0) * np.sqrt(2.0 * self.squares)
        return (self.loss - best) / len(self.leads), bound / len(self.leads)


def learn_adaptively(model: Any, X: Sequence[Any], y: Sequence[Any]) -> tuple[list[Any], LearnedScale]:
    """A prequential run of a booster whose gamma changes with every row."""
    scale, said = LearnedScale(), []
    for x, label in zip(X, y, strict=True):
        (answered,) = model.prequential([x], [label])
        said += answered.labels
        scale.see(answered.vote_shares[0], answered.classes.index(label))
        cells = model.state_.engine.cells
        cells.gamma, cells._choices = 1.0 / scale.u, None
    return said, scale


def jobs(shuffles: int) -> Iterator[Job]:
    for shuffle, name, flips, model in itertools.product(range(1, shuffles + 1), paper.DATASETS, FLIPS, MODELS):
        yield {"dataset": name, "flips": flips, "model": model, "shuffle": shuffle}


def work(job: Job, data_dir: Path | None) -> Result:
    rows = datasets.shuffled(datasets.load(job["dataset"], data_dir), job["shuffle"])[:MOST_ROWS]
    X, clean = [x for x, _ in rows], [label for _, label in rows]
    y = noise.flip(clean, job["flips"], seed=job["shuffle"])
    shared = {"classes": sorted(set(clean)), "seed": job["shuffle"]}
    if job["model"] == "mixture":
        said = OnlineBoostClassifier(HoeffdingTrees(), budget=N_LEARNERS, **shared).predict_learn_many(X, y)
        return {"accuracy": round(measures.accuracy(said, clean), 3)}
    regime, gamma = job["model"].split(", ")
    options = {"n_learners": N_LEARNERS, "start": "label", "pool": "distribution", **shared}
    if gamma != "learned":
        said = REGIMES[regime](HoeffdingTrees(), gamma=float(gamma), **options).predict_learn_many(X, y)
        return {"accuracy": round(measures.accuracy(said, clean), 3)}
    said, scale = learn_adaptively(REGIMES[regime](HoeffdingTrees(), **options), X, y)
    regret, bound = scale.regret()
    assert regret <= bound
    found = {"accuracy": measures.accuracy(said, clean), "gamma": 1.0 / scale.u, "regret": regret, "bound": bound}
    return {name: round(float(value), 3) for name, value in found.items()}


def report(runs: list[dict[str, Any]]) -> str:
    names = [name for name in paper.DATASETS if any(run["dataset"] == name for run in runs)]
    columns = list(itertools.product(names, FLIPS))

    def cells(model: str, what: str, digits: int) -> list[str]:
        found = [
            [run[what] for run in runs if (run["model"], run["dataset"], run["flips"]) == (model, *column)]
            for column in columns
        ]
        return [studies.shown(values, digits) if values else "" for values in found]

    lines = [[model, *cells(model, "accuracy", 1)] for model in MODELS]
    lines += [[f"{regime}, gamma at the end", *cells(f"{regime}, learned", "gamma", 2)] for regime in REGIMES]
    return studies.table(["", *(f"{name.capitalize()}, {flips:.0%} flipped" for name, flips in columns)], lines)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--shuffles", type=int, default=2)
    options = parser.parse_args()
    if options.command == "run":
        task = partial(work, data_dir=options.data_dir)
        studies.run_missing("adaptive_gamma", jobs(options.shuffles), task, options)
    else:
        studies.put(studies.DOCS / "theory.md", report(studies.finished("adaptive_gamma", options)), "adaptive gamma")


if __name__ == "__main__":
    main()
