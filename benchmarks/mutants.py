"""One wrong program for every testable statement of the paper, and the test that must notice it.

    python benchmarks/mutants.py                 # all of them, a few minutes; exits with 1 if one survives
    python benchmarks/mutants.py "Lemma 17"      # those of some statements
    python benchmarks/mutants.py --table         # writes the table in docs/statements.md

The sources and tests are copied to a temporary folder, one line is changed, and the test is run uncompiled. Every test
is also run on the unchanged copy first, where it must pass. ``tests/test_statements.py`` checks that every line is
there to be changed, and that docs/statements.md names the same tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LOOP = "tests/cascade/test_paper_loop.py::test_the_cascade_is_the_papers_loop"
DRAWN = "tests/batch/test_drawn_rows.py"
CLAIMS = "tests/test_paper_claims.py"
THEOREMS = "tests/test_paper_theorems.py"
BELOW = "tests/test_below_gamma_one.py"
CONDITIONS = "tests/theory/test_conditions.py"
EXPERTS = "tests/test_paper_experts.py"
ESTIMATES = "tests/online/test_bandit_estimates.py"
PLAYS = "tests/online/test_bandit_plays.py"
REMARKS = "tests/test_paper_remarks.py"


class Mutant(NamedTuple):
    """A statement, and a change that makes it false."""

    statement: str
    file: str  # in src/ocoboost
    line: str  # part of one line, which occurs once
    wrong: str
    test: str  # a file or a function
    only: str = ""  # of its cases, as for pytest's -k


MUTANTS = (
    Mutant("Algorithm 1", "cascade/answers.py", "shares / gamma", "shares / 1.0", LOOP, "bins"),
    Mutant(
        "Algorithm 1",
        "cascade/relabelling.py",
        "label_votes[row, best] += 1.0",
        "label_votes[row, 0] += 1.0",
        LOOP,
        "bins",
    ),
    Mutant(
        "Algorithm 1", "cascade/regimes.py", "centres = np.tile(centre", "centres = 0.5 * np.tile(centre", LOOP, "bins"
    ),
    Mutant("Algorithm 1", "oco/losses.py", "out[j] = 2.0 * vote[j] / gamma", "out[j] = 2.0 * vote[j]", LOOP, "bins"),
    Mutant(
        "Algorithm 1", "cascade/regimes.py", "out[draw_label(play, draw)] = weight", "out[label] = weight", LOOP, "bins"
    ),
    Mutant(
        "Algorithm 1",
        "cascade/regimes.py",
        "playing.starts.take(labels",
        "playing.starts.take(0 * labels",
        "tests/online/test_algorithms.py",
        "label and fractional and Agnostic and 0.3",
    ),
    Mutant(
        "Algorithm 2",
        "batch/rows.py",
        "_drawn_labels(rules.playing.seed, stage, numbers, examples, chances)",
        "rows.labels[examples]",
        DRAWN,
    ),
    Mutant(
        "Algorithm 2",
        "batch/booster.py",
        "out = votes / self.gamma_",
        "out = votes / 1.0",
        "tests/batch/test_boosters.py::test_the_smallest_gamma_predicts_the_plurality",
    ),
    Mutant(
        "Algorithm 3",
        "batch/game.py",
        "self.payoff.slopes(strategy))",
        "-self.payoff.slopes(strategy))",
        "tests/batch/test_game.py",
        "nearly_optimal",
    ),
    Mutant("Algorithm 4", "oco/domains.py", "np.full(1, 0.5)", "np.full(1, 0.4)", LOOP, "bins"),
    Mutant("Algorithm 4", "oco/losses.py", "/ gamma - 1.0  # Alg", "/ gamma + 1.0  # Alg", LOOP, "bins"),
    Mutant(
        "Algorithm 4",
        "cascade/regimes.py",
        "weight if draw < play[0] else 0.0",
        "weight if draw < 0.5 else 0.0",
        LOOP,
        "bins",
    ),
    Mutant(
        "Algorithm 5",
        "batch/rows.py",
        "rows.weights[:, None] * players.plays if rules.is_realizable else rows.weights[:, None]",
        "rows.weights[:, None]",
        DRAWN,
    ),
    Mutant("Algorithm 5", "batch/boosting.py", "np.array([1.0 / n_taught])", "np.array([0.5])", DRAWN),
    Mutant(
        "Definition 1",
        "theory/conditions.py",
        "gains = taught - mass * np.eye",
        "gains = taught + mass * np.eye",
        CONDITIONS,
        "gains_are or fixed_before",
    ),
    Mutant(
        "Definition 2",
        "theory/conditions.py",
        "gains[:, label] = share",
        "gains[:, label] = 2.0 * share",
        CONDITIONS,
        "gains_are or batch_agnostic",
    ),
    Mutant(
        "Definition 3",
        "theory/conditions.py",
        "2.0 * (votes * taught).sum(axis=1) - taught",
        "1.0 * (votes * taught).sum(axis=1) - taught",
        CONDITIONS,
        "gains_are",
    ),
    Mutant(
        "Definition 4",
        "theory/conditions.py",
        "plain_gain(votes, taught), None)",
        "2.0 * plain_gain(votes, taught), None)",
        CONDITIONS,
        "gains_are",
    ),
    Mutant(
        "Definition 5",
        "theory/conditions.py",
        "plain_gain(votes, taught), 2.0 * taught -",
        "plain_gain(votes, taught), 1.0 * taught -",
        CONDITIONS,
        "gains_are",
    ),
    Mutant(
        "Definition 6",
        "theory/conditions.py",
        "share * (2.0 * votes[:, label] - 1.0)",
        "share * votes[:, label]",
        CONDITIONS,
        "gains_are",
    ),
    Mutant(
        "Definition 7",
        "theory/conditions.py",
        "(n_classes * taught - taught.sum(axis=1, keepdims=True))",
        "(n_classes * taught)",
        CONDITIONS,
        "gains_are",
    ),
    Mutant(
        "Theorem 1",
        "cascade/answers.py",
        "shares / gamma",
        "shares / 1.0",
        f"{BELOW}::test_theorem_1_below_gamma_1",
        "2-0.5-400-fractional",
    ),
    Mutant(
        "Section 3, N = T / gamma^2",
        "theory/bounds.py",
        "math.ceil(n_rounds / gamma**2)",
        "math.ceil(n_rounds / gamma)",
        f"{THEOREMS}",
        "section_3",
    ),
    Mutant(
        "Section 3, cost",
        "oco/losses.py",
        "out[j] = 2.0 * vote[j] / gamma",
        "out[j] = sum([2.0 * vote[i] * (i == j) for i in range(out.size)]) / gamma",
        "tests/cascade/test_cost.py",
        "gradient and 0",
    ),
    Mutant("Section 3, two labels", "oco/losses.py", "out[label] -= 2.0", "out[label] -= 1.0", CLAIMS, "brukhim"),
    Mutant(
        "Section 3, small gamma",
        "oco/projections.py",
        "(total - 1.0) / n_active",
        "(total - 40.0) / n_active",
        CLAIMS,
        "plurality",
    ),
    Mutant(
        "Section 3, by way of the plane",
        "oco/projections.py",
        "(total - 1.0) / n_active",
        "(total - 1.0) / (n_active + 1)",
        REMARKS,
        "plane",
    ),
    Mutant(
        "Section 3, polarization",
        "oco/projections.py",
        "out[j] = max(point[j] - highest - threshold, 0.0)",
        "out[j] = max(point[j] - highest - threshold, 0.01)",
        REMARKS,
        "fewer_labels",
    ),
    Mutant(
        "Section 3, mistakes and plays",
        "oco/losses.py",
        "out[label] -= 2.0",
        "out[label] += 2.0",
        REMARKS,
        "mistakes_move",
    ),
    Mutant(
        "Section 4, T = O(1 / (gamma epsilon)^2)",
        "theory/bounds.py",
        "math.ceil((constant / error) ** 2)",
        "math.ceil(constant / error)",
        THEOREMS,
        "section_3",
    ),
    Mutant(
        "Corollary 2, Theorem 5",
        "batch/booster.py",
        "out = votes / self.gamma_",
        "out = votes / 1.0",
        BELOW,
        "algorithm_2 and 0.5",
    ),
    Mutant(
        "Corollary 3, Theorem 8",
        "cascade/answers.py",
        "shares / gamma",
        "shares / 1.0",
        f"{BELOW}::test_corollary_mistake_bound_of_algorithm_4_below_gamma_1",
        "2-0.5-300-fractional",
    ),
    Mutant(
        "Corollary 4, Theorem 10",
        "batch/booster.py",
        "out = votes / self.gamma_",
        "out = votes / 1.0",
        BELOW,
        "algorithm_5",
    ),
    Mutant(
        "Proposition 6",
        "batch/game.py",
        "self.payoff.slopes(strategy))",
        "-self.payoff.slopes(strategy))",
        "tests/batch/test_game.py",
        "nearly_optimal",
    ),
    Mutant(
        "Lemmas 7, 11",
        "batch/game.py",
        "self.payoff.slopes(strategy))",
        "-self.payoff.slopes(strategy))",
        "tests/batch/test_game.py",
        "improper_oracle",
    ),
    Mutant(
        "Appendix C, remarks",
        "theory/conditions.py",
        "gains[:, label] = share",
        "gains[:, label] = 2.0 * share",
        REMARKS,
        "never_negative",
    ),
    Mutant(
        "Appendix C, remarks",
        "theory/conditions.py",
        "(n_classes * taught - taught.sum(axis=1, keepdims=True))",
        "(n_classes * taught - 2.0 * taught.sum(axis=1, keepdims=True))",
        REMARKS,
        "asks_for_more",
    ),
    Mutant(
        "Propositions 12 to 14",
        "theory/conditions.py",
        "(2.0 * votes[:, label] - 1.0), gains",
        "(2.0 * votes[:, label] + 1.0), gains",
        CONDITIONS,
        "gains_are",
    ),
    Mutant(
        "Appendix D, constant rate",
        "learners/experts/rates.py",
        "return rate / -math.expm1(-rate)",
        "return 1.0",
        EXPERTS,
        "constant_rate or another_factor",
    ),
    Mutant(
        "Appendix D, sizes",
        "learners/experts/rates.py",
        "math.sqrt(8.0 * log_size / self.horizon)",
        "math.sqrt(8.0 * log_size)",
        EXPERTS,
        "sizes",
    ),
    Mutant("Lemma 15", "randomness.py", "if u < cumulated:", "if u < 0.5 + cumulated:", CLAIMS, "expectation"),
    Mutant(
        "Lemma 16", "oco/losses.py", "out[label] -= 2.0", "out[label] -= 1.0", CLAIMS, "up_to_a_constant or upperbound"
    ),
    Mutant(
        "Lemma 17",
        "oco/projections.py",
        "(total - 1.0) / n_active",
        "(total - 0.8) / n_active",
        CLAIMS,
        "lemma_upperbound",
    ),
    Mutant(
        "Lemma 18",
        "oco/losses.py",
        "/ gamma - 1.0  # Alg",
        "/ gamma - 0.5  # Alg",
        CLAIMS,
        "lemma_upperbound_real or up_to_a_constant",
    ),
    Mutant(
        "Lemma 19", "oco/losses.py", "out[j] = 2.0 * vote[j] / gamma", "out[j] = vote[j] / gamma", CLAIMS, "equivalence"
    ),
    Mutant(
        "Pairwise theorem",
        "cascade/answers.py",
        "shares / gamma",
        "shares / 1.0",
        "tests/test_pairwise.py::test_theorem_below_gamma_1",
        "5-0.5-400-fractional",
    ),
    Mutant(
        "Pairwise booster",
        "oco/losses.py",
        "out[j] = -2.0 * vote[j] / gamma",
        "out[j] = 2.0 * vote[j] / gamma",
        LOOP,
        "bins and pairwise",
    ),
    Mutant(
        "Pairwise lesson",
        "cascade/regimes.py",
        "2.0 * kept if j == label",
        "kept if j == label",
        "tests/test_pairwise.py",
        "lesson",
    ),
    Mutant(
        "Price of guessing",
        "theory/bounds.py",
        "min(1.0 / gamma - 1.0, 2.0)",
        "min(1.0 / gamma - 1.0, 1.9)",
        BELOW,
        "price",
    ),
    Mutant(
        "Bandit estimate",
        "online/acting.py",
        "+ rate / n_classes",
        "+ rate",
        "tests/online/test_bandit.py",
        "weight_1_on_average",
    ),
    Mutant(
        "Learning from plays",
        "online/per_label.py",
        "np.full(len(labels), is_right), np.ones(len(labels))",
        "np.full(len(labels), is_right), weights",
        PLAYS,
        "weight_1 and foreign",
    ),
    Mutant(
        "Learning from plays",
        "theory/bounds.py",
        "math.sqrt(2.0 * bandit_energy(",
        "math.sqrt(1.0 * bandit_energy(",
        PLAYS,
        "no_more_than_the_errors",
    ),
    Mutant(
        "OptBandit, AdaBandit",
        "cascade/estimated.py",
        "losses[:] = 1.0 / chance",
        "losses[:] = 1.0",
        ESTIMATES,
        "the_label_on_average",
    ),
    Mutant(
        "OptBandit",
        "cascade/opt_bandit.py",
        "out[vote] += estimates[label] * potential(",
        "out[vote] += potential(",
        ESTIMATES,
        "online_mbbm_on_average and 3",
    ),
    Mutant(
        "AdaBandit",
        "cascade/ada_bandit.py",
        "total += estimates[label] * slope(",
        "total += slope(",
        ESTIMATES,
        "olm_on_average and 3",
    ),
    Mutant(
        "Few labels",
        "online/few_labels.py",
        "weight = min(share / probability",
        "weight = min(1.0 / probability",
        "tests/online/test_few_labels.py",
        "alike_on_average",
    ),
)


def copied(folder: Path) -> None:
    """Sources and tests, and nothing else that could be found by accident."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "fingerprints"))
    shutil.copy(ROOT / "pyproject.toml", folder)


def passes(folder: Path, test: str, only: str) -> bool:
    """Whether a test passes there, uncompiled and in one process."""
    command = [sys.executable, "-m", "pytest", test, "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [*command, *(["-k", only] if only else [])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1):
        raise SystemExit(f"{test}, {only}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return run.returncode == 0


def survives(mutant: Mutant, folder: Path) -> bool:
    """Whether the test does not notice."""
    path = folder / "src" / "ocoboost" / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.line, mutant.wrong), encoding="utf-8")
    try:
        return passes(folder, mutant.test, mutant.only)
    finally:
        path.write_text(text, encoding="utf-8")


def table(mutants: Sequence[Mutant]) -> str:
    """What is changed for every statement, and what notices it."""
    lines = ["| statement | changed line | wrong | test that fails |", "|---|---|---|---|"]
    for mutant in mutants:
        test = f"`{mutant.test}`" + (f', `-k "{mutant.only}"`' if mutant.only else "")
        lines.append(f"| {mutant.statement} | `{mutant.file}`: `{mutant.line}` | `{mutant.wrong}` | {test} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("statements", nargs="*", help="only those whose name begins so")
    parser.add_argument("--table", action="store_true", help="write the table of docs/statements.md")
    options = parser.parse_args()
    chosen = [one for one in MUTANTS if not options.statements or one.statement.startswith(tuple(options.statements))]
    if options.table:
        import studies

        studies.put(studies.DOCS / "statements.md", table(MUTANTS), "mutants")
        return 0
    n_survivors = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        sound = {(one.test, one.only): passes(folder, one.test, one.only) for one in chosen}
        for mutant in chosen:
            if not sound[mutant.test, mutant.only]:
                verdict = "its test fails without it"
            else:
                verdict = "survives" if survives(mutant, folder) else "killed"
            n_survivors += verdict != "killed"
            print(f"{mutant.statement:<28} {verdict:<10} {mutant.file}: {mutant.wrong}", flush=True)
    print(f"{len(chosen) - n_survivors} of {len(chosen)} killed")
    return 1 if n_survivors else 0


if __name__ == "__main__":
    sys.exit(main())
