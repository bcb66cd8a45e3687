"""The tables that OnlineMBBM's potentials are looked up in or computed from; see ``potentials.py``."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel

EXACT = 0
FAST = 1
MONTE_CARLO = 2
METHODS = {"exact": EXACT, "fast": FAST, "monte-carlo": MONTE_CARLO}

N_DRAWS = 100  # of the published code
MOST_LEARNERS = 1000  # beyond this, terms of the exact formula leave the range of doubles
NEGLIGIBLE = {EXACT: 1e-19, FAST: 1e-5}  # probabilities that may be left out of sums
N_REMEMBERED = 2**19  # potentials, for all learners together: 12 MiB
MOST_OF_THREE = 2**21  # numbers in the table for three labels: 16 MiB, 145 learners
MOST_POWERS = 2**23  # numbers in the table of powers: 64 MiB
N_NODES = 32  # of the quadrature; the lightest are left out

_inlined = kernel(error_model="numpy", inline="always")  # the tables make costly arguments


class Potentials(NamedTuple):
    """Tables for one gamma, number of labels and number of learners, and a cache for every learner."""

    method: int
    n_classes: int
    chance: float  # p, of a vote for the true label
    chances: FloatArray  # (n + 1, n + 1) of c votes for the true label among n
    cumulated: FloatArray  # two labels: the same, summed over c; three: of up to c heads among n tosses of a coin
    ratios: FloatArray  # chances[n, c] / P(the other counts sum to n - c), when they are Poisson variables
    of_three: FloatArray  # the potentials for three labels, see ``place_of_three``; empty if they would be too many
    powers: FloatArray  # (multiplicity, bound, sum): P(sum of so many Poisson variables, all within the bound)
    widths: IntArray  # (n + 1,) no other label gets more votes than this, up to what is negligible
    nodes: FloatArray  # Gauss-Hermite
    node_weights: FloatArray
    words: NDArray[np.uint64]  # (2, gaps) hashes of single gaps
    keys: NDArray[np.uint64]  # (learner, slot, 2)
    values: FloatArray  # (learner, slot), -1 where nothing is cached
    seed: np.uint64


class Scratch(NamedTuple):
    """Memory for one thread to compute a potential in."""

    gaps: IntArray  # distinct, ascending
    sizes: IntArray  # how many labels have each
    product: FloatArray
    spare: FloatArray


def make_scratch(n_classes: int, n_learners: int) -> Scratch:
    """Scratch memory for potentials of this size."""
    return Scratch(
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_learners + 2),
        np.zeros(n_learners + 2),
    )


def make_potentials(method: int, *, gamma: float, n_classes: int, n_learners: int, seed: int) -> Potentials:
    """The tables for ``n_classes`` >= 2 labels and up to ``n_learners`` + 1 votes to come, with empty caches."""
    most = n_learners + 1
    other = (1.0 - gamma) / n_classes
    chance = gamma + other
    n_others = n_classes - 1
    chances = _binomials(most, chance)
    widths = np.zeros(most + 1, dtype=np.int64)
    empty = np.zeros((0, 0))
    cumulated, ratios, of_three, powers = empty, empty, np.zeros(0), np.zeros((0, 0, 0))
    nodes, node_weights = np.zeros(0), np.zeros(0)
    if n_others == 1:
        cumulated = np.cumsum(chances, axis=1)
    elif method != MONTE_CARLO:
        tails = np.cumsum(_binomials(most, other)[:, ::-1], axis=1)[:, ::-1]  # [n, w]: P(at least w votes of n)
        widths[:] = [int(np.argmax(np.append(tail, 0.0) < NEGLIGIBLE[method])) for tail in tails]
    if method == FAST:
        nodes, node_weights = np.polynomial.hermite.hermgauss(N_NODES)
        node_weights /= math.sqrt(math.pi)
        is_heavy = node_weights > NEGLIGIBLE[FAST]
        nodes, node_weights = nodes[is_heavy], node_weights[is_heavy]
    if n_others == 2:
        cumulated = np.cumsum(_binomials(most, 0.5), axis=1)
        n_of_three = place_of_three(most + 1, -most, -most)
        if method == EXACT and n_of_three <= MOST_OF_THREE:
            of_three = np.zeros(n_of_three)
            _fill_of_three(chance, other, most, of_three)
    if n_others > 2 and method == EXACT:
        # Any rate gives the same answer; this one keeps all sums that matter within the range of doubles.
        rate = 0.6 * most * (1.0 - chance) / n_others
        widest = int(widths.max())
        most_powers = max(1, min(n_others, MOST_POWERS // ((widest + 1) * (most + 1))))
        powers = np.zeros((most_powers + 1, widest + 1, most + 1))
        _fill_powers(_poissons(most, rate), powers)
        sums = _poissons(most, rate * n_others)
        ratios = np.zeros_like(chances)
        for n in range(most + 1):
            counts = np.nonzero(chances[n] >= NEGLIGIBLE[EXACT])[0]
            counts = counts[counts <= n]
            ratios[n, counts] = chances[n, counts] / sums[n - counts]
    in_closed_form = (n_others == 1 and method != MONTE_CARLO) or (n_others == 2 and method == EXACT)
    n_slots = 1 if in_closed_form else 2 ** max(6, int(math.log2(N_REMEMBERED / n_learners)))
    return Potentials(
        method,
        n_classes,
        chance,
        chances,
        cumulated,
        ratios,
        of_three,
        powers,
        widths,
        nodes,
        node_weights,
        _words(2 * most + 3),
        np.zeros((n_learners, n_slots, 2), dtype=np.uint64),
        np.full((n_learners, n_slots), -1.0),
        np.uint64(seed),
    )


def _binomials(most: int, chance: float) -> FloatArray:
    """P(c successes among n), for all c and n up to ``most``; sums of positive terms, so precise in the tails too."""
    table = np.zeros((most + 1, most + 1))
    table[0, 0] = 1.0
    for n in range(1, most + 1):
        table[n] = table[n - 1] * (1.0 - chance)
        table[n, 1:] += table[n - 1, :-1] * chance
    return table


def _poissons(most: int, rate: float) -> FloatArray:
    """P(0), ..., P(most) of a Poisson variable."""
    return np.cumprod(np.concatenate([[math.exp(-rate)], rate / np.arange(1.0, most + 1.0)]))


def _words(n_gaps: int) -> NDArray[np.uint64]:
    """Two hashes for each gap; fixed, so that Monte Carlo draws keyed by them are too."""
    return np.random.Philox(key=20170).random_raw(2 * n_gaps).reshape(2, n_gaps)


@kernel
def _fill_powers(poisson: FloatArray, powers: FloatArray) -> None:
    """All powers of truncated Poisson series, one factor at a time."""
    most = powers.shape[2] - 1
    for bound in range(powers.shape[1]):
        powers[0, bound, 0] = 1.0
        for power in range(1, powers.shape[0]):
            for j in range(min(bound, most) + 1):
                for i in range(min((power - 1) * bound, most - j) + 1):
                    powers[power, bound, i + j] += poisson[j] * powers[power - 1, bound, i]


@_inlined
def place_of_three(n: int, near: int, far: int) -> int:
    """The place of the potential of two gaps in the table, -n < near <= n and near <= far <= n + 1, n votes to come.

    A label that is n + 1 votes behind cannot win: larger gaps have the same potential.
    """
    row = near + n - 1  # of length 2 n + 1 - row
    return n * (n - 1) * (4 * n + 7) // 6 + row * (2 * n + 1) - row * (row - 1) // 2 + far - near


@kernel
def _fill_of_three(chance: float, other: float, most: int, out: FloatArray) -> None:
    """All potentials for three labels, by recursion over the next vote: for the true, the near or the far label."""
    for n in range(1, most + 1):
        for near in range(1 - n, n + 1):
            for far in range(near, n + 2):
                out[place_of_three(n, near, far)] = (
                    chance * known_of_three(out, n - 1, near + 1, far + 1)
                    + other * known_of_three(out, n - 1, near - 1, far)
                    + other * known_of_three(out, n - 1, min(near, far - 1), max(near, far - 1))
                )


@kernel
def known_of_three(table: FloatArray, n: int, near: int, far: int) -> float:
    if near > n:
        return 0.0
    if near <= -n:
        return 1.0
    return float(table[place_of_three(n, near, min(far, n + 1))])
