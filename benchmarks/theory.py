"""Regret curves beside the theorems.

    python benchmarks/theory.py run         # ten minutes; resumes
    python benchmarks/theory.py report      # draws docs/figures/theory_*.svg and writes the tables of docs/theory.md

The boosters are the paper's own (drawn labels, label votes, uniform start, gradient descent with step gamma / sqrt(N))
over exponential weights on stumps, on streams whose best hypothesis is known. Every finished run is kept in
``benchmarks/results/theory.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import studies

from ocoboost import OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, StumpExperts
from ocoboost.bench import synthetic
from ocoboost.bench.jobs import Job, Result
from ocoboost.theory import bounds

N_ROWS, SEEDS = 500, range(5)
N_LEARNERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
GAMMAS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
MIDDLE = 64  # learners, where gamma varies
SMALL_GAMMA = 0.3  # up to here slopes in gamma are fitted
BOOSTERS = {"agnostic": OnlineAgnosticBoostClassifier, "realizable": OnlineRealizableBoostClassifier}
# Booster, stream, pieces of the learners' stumps (the rule has three), gammas for which the number of learners varies.
SETTINGS = {
    "noisy": ("agnostic", "noisy", 3, (1.0, 0.3)),
    "oblivious": ("agnostic", "oblivious", 3, (1.0, 0.3)),
    "class noise": ("agnostic", "class noise", 3, (1.0, 0.3)),
    "realizable": ("realizable", "realizable", 2, (0.5, 0.2)),
}


# -- running -----------------------------------------------------------------------------------------------------------


def plan() -> Iterator[Job]:
    for name, (_, _, _, gammas) in SETTINGS.items():
        for seed in SEEDS:
            pairs = {(gamma, n) for gamma in gammas for n in N_LEARNERS} | {(gamma, MIDDLE) for gamma in GAMMAS}
            for gamma, n_learners in sorted(pairs):
                yield {"setting": name, "gamma": gamma, "n_learners": n_learners, "seed": seed}


def learner_of(pieces: int) -> StumpExperts:
    return StumpExperts(n_cells=synthetic.RULE_CELLS, n_pieces=pieces, horizon=N_ROWS, votes="random")


def run(job: Job) -> Result:
    booster, stream, pieces, _ = SETTINGS[job["setting"]]
    known = synthetic.load(stream, N_ROWS, job["seed"])
    model = BOOSTERS[booster](
        learner_of(pieces),
        gamma=job["gamma"],
        n_learners=job["n_learners"],
        relabel="random",
        votes="label",
        pool="label",
        start="uniform",
        classes=synthetic.RULE_CLASSES,
        seed=job["seed"],
    )
    account = model.account()
    model.learn_many([x for x, _ in known.rows], [y for _, y in known.rows])
    report = account.report(known.best_labels)
    assert abs(report.regret - report.parts.regret) < 1e-9
    return {
        "regret": report.regret,
        "players": report.parts.players,
        "learners": report.parts.learners,
        "bound": report.bound,
        "player_bound": report.player_bound,
    }


def curve(found: list[dict[str, Any]], along: str, what: str, **fixed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Places on the axis, and values of shape (seeds, places)."""
    chosen = [one for one in found if all(one[name] == value for name, value in fixed.items())]
    places = sorted({one[along] for one in chosen})
    values = {(one["seed"], one[along]): one[what] for one in chosen}
    return np.array(places, dtype=float), np.array([[values[seed, place] for place in places] for seed in SEEDS])


# -- fitting -----------------------------------------------------------------------------------------------------------


def slopes(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The slope of each seed's curve on logarithmic axes."""
    return np.array([np.polyfit(np.log(places), np.log(row), 1)[0] for row in values])


def floor_and_exponent(places: np.ndarray, values: np.ndarray) -> list[str]:
    """Floor and exponent of ``floor + c * N ** -exponent`` on the mean curve, errors by leaving one seed out."""
    from scipy.optimize import curve_fit

    def law(n: np.ndarray, floor: float, scale: float, exponent: float) -> np.ndarray:
        return floor + scale * n**-exponent

    def fitted(curves: np.ndarray) -> np.ndarray:
        mean = curves.mean(axis=0)
        limits = ([-1.0, 0.0, 0.05], [2.0, 10.0, 2.0])
        return curve_fit(law, places, mean, p0=(max(mean[-1], 0.0), 1.0, 0.5), bounds=limits, maxfev=20_000)[0]

    without = np.array([fitted(np.delete(values, seed, axis=0)) for seed in range(len(values))])
    errors = np.sqrt((len(values) - 1) * without.var(axis=0))
    fit = fitted(values)
    return [f"-{fit[2]:.2f} ± {errors[2]:.2f}", f"{fit[0]:.3f} ± {errors[0]:.3f}"]


def learners_table(found: list[dict[str, Any]]) -> str:
    """What changes with the number of learners."""
    rows = []
    for name, (booster, _, _, gammas) in SETTINGS.items():
        for gamma in gammas:
            fixed = {"setting": name, "gamma": gamma}
            places, players = curve(found, "n_learners", "players", **fixed)
            _, regret = curve(found, "n_learners", "regret", **fixed)
            _, learners = curve(found, "n_learners", "learners", **fixed)
            late = places >= 4
            slope = studies.shown(slopes(places[late], players[:, late]).tolist(), 2)
            fitted = floor_and_exponent(places[late], regret[:, late])
            own = studies.shown(learners[:, -1].tolist(), 3)
            rows.append([f"{name}, {booster}", f"{gamma:g}", slope, *fitted, own])
    columns = ["stream, booster", "gamma", "players' part: slope in N", "regret: fitted exponent of N", "fitted floor"]
    return studies.table([*columns, "learners' regret / (gamma T) at N = 256"], rows)


def gamma_table(found: list[dict[str, Any]]) -> str:
    """What changes with gamma."""
    rows = []
    for name, (booster, *_) in SETTINGS.items():
        places, players = curve(found, "gamma", "players", setting=name, n_learners=MIDDLE)
        _, bound = curve(found, "gamma", "player_bound", setting=name, n_learners=MIDDLE)
        small = places <= SMALL_GAMMA
        measured, promised = (slopes(places[small], part[:, small]) for part in (players, bound))
        rows.append([f"{name}, {booster}", studies.shown(measured.tolist(), 2), f"{promised[0]:.2f}"])
    return studies.table(["stream, booster", "players' part: slope in gamma", "their bound: slope"], rows)


def bounds_table(found: list[dict[str, Any]]) -> str:
    """Regrets beside bounds; with three pieces and gamma 1, exponential weights keep the condition on any labels."""
    rows = []
    for name, (booster, _, pieces, gammas) in SETTINGS.items():
        if booster == "agnostic":
            regret = curve(found, "n_learners", "regret", setting=name, gamma=gammas[0])[1][:, -1]
            weak = learner_of(pieces).regret_bound(N_ROWS, n_features=3, n_classes=3) / N_ROWS
            player = bounds.player_regret_bound(gamma=1.0, n_classes=3, n_learners=256) / 256
            numbers = [f"{value:.3f}" for value in (weak + player, player, weak)]
            rows.append([f"{name}, {booster}", "1", studies.shown(regret.tolist(), 3), *numbers])
    return studies.table(["stream, booster", "gamma", "regret", "bound", "of it players", "of it learners"], rows)


def tables(found: list[dict[str, Any]]) -> str:
    middle = f"At N = {MIDDLE}, along gamma from {GAMMAS[0]} to {SMALL_GAMMA}, where the theory has slope -1:"
    sides = f"Both sides of the theorems, {N_ROWS} rows, N = 256, the bounds known before the run:"
    return "\n\n".join([learners_table(found), middle, gamma_table(found), sides, bounds_table(found)])


# -- drawing -----------------------------------------------------------------------------------------------------------


def draw(found: list[dict[str, Any]]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update(
        {"svg.hashsalt": "ocoboost", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    )
    from matplotlib import pyplot as plt

    columns = [(name, gamma) for name, (_, _, _, gammas) in SETTINGS.items() for gamma in gammas]
    figure, axes = plt.subplots(2, 4, figsize=(12, 6), sharex=True, sharey=True, layout="constrained")
    for axis, (name, gamma) in zip(axes.T.flat, columns, strict=True):
        panel(axis, found, "n_learners", setting=name, gamma=gamma)
        axis.set_title(f"{name}, gamma {gamma:g}")
    for axis in axes[-1]:
        axis.set_xlabel("learners N")
    finish(figure, axes, studies.DOCS / "figures" / "theory_learners.svg")
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), sharex=True, sharey=True, layout="constrained", squeeze=False)
    for axis, name in zip(axes.flat, SETTINGS, strict=True):
        panel(axis, found, "gamma", setting=name, n_learners=MIDDLE)
        axis.set_title(f"{name}, N = {MIDDLE}")
        axis.set_xlabel("gamma")
    finish(figure, axes, studies.DOCS / "figures" / "theory_gamma.svg")


LINES = {
    "bound": ("Theorem, with measured learners", "tab:red", "--"),
    "player_bound": ("bound on the players' part", "tab:orange", ":"),
    "players": ("players' part", "tab:orange", "-"),
    "learners": ("learners' part", "tab:green", "-"),
    "regret": ("regret", "tab:blue", "-"),
}


def panel(axis: Any, found: list[dict[str, Any]], along: str, **fixed: Any) -> None:
    for what, (label, color, style) in LINES.items():
        places, values = curve(found, along, what, **fixed)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axis.errorbar(places, values.mean(axis=0), error, label=label, color=color, linestyle=style, linewidth=1.3)
    axis.set_xscale("log", base=2 if along == "n_learners" else 10)
    axis.set_yscale("symlog", linthresh=0.1, linscale=0.5)
    axis.set_yticks([-0.1, 0.0, 0.1, 1.0, 10.0], ["-0.1", "0", "0.1", "1", "10"])


def finish(figure: Any, axes: Any, path: Path) -> None:
    for axis in axes[:, 0]:
        axis.set_ylabel("gain per row")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=5, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    options = parser.parse_args()
    if options.command == "run":
        studies.run_missing("theory", plan(), run, options)
    else:
        found = studies.finished("theory", options)
        draw(found)
        studies.put(studies.DOCS / "theory.md", tables(found))


if __name__ == "__main__":
    main()
