"""The potentials of OnlineMBBM (Jung, Goetz & Tewari, 2017): how likely the vote will be wrong in the end.

With n votes to come, each for the true label y with probability p = gamma + (1 - gamma) / k and for every other label
with probability q = (1 - gamma) / k, the potential of the vote counts s is

    phi_n(s) = P( s_y + X_y <= max over l != y of s_l + X_l ),    X ~ Multinomial(n; p, q, ..., q)

A tie is a mistake. It depends on n and on the multiset of gaps s_y - s_l only, and there are three ways to it:

    exact         two labels: a binomial distribution function. Three: a table over n and the two gaps, filled by the
                  recursion over the next vote; where it would be too large, a sum over X_y of the window that the
                  second count must be in. More: given X_y the other counts are independent Poisson variables given
                  their sum, so the answer is one coefficient of a product of truncated Poisson series, one for each
                  distinct gap. All terms are positive: nothing cancels.
    fast          X_y normal (Gauss-Hermite quadrature), the other counts normal and independent. Two labels: exact.
    monte-carlo   100 draws, as the published code; keyed by the arguments, so that no order of asking matters.

With more than three labels answers are remembered, for every learner apart (a learner always asks with the same n), in
a table of fixed size that forgets the older of two entries. Entries are recognised by 128 bits hashed from the multiset
of gaps.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.randomness import POTENTIAL, uniform

EXACT = 0
FAST = 1
MONTE_CARLO = 2
METHODS = {"exact": EXACT, "fast": FAST, "monte-carlo": MONTE_CARLO}

N_DRAWS = 100  # of the published code
MOST_LEARNERS = 1000  # beyond, the terms of the exact formula leave the range of doubles
NEGLIGIBLE = {EXACT: 1e-19, FAST: 1e-5}  # probabilities that may be left out of sums
N_REMEMBERED = 2**19  # potentials, for all learners together: 12 MiB
MOST_OF_THREE = 2**21  # numbers in the table for three labels: 16 MiB, 145 learners
MOST_POWERS = 2**23  # numbers in the table of powers: 64 MiB
N_NODES = 32  # of which the lightest are left out

_kernel = kernel(error_model="numpy")
_inlined = kernel(error_model="numpy", inline="always")  # the tables make costly arguments
_SQRT_HALF = math.sqrt(0.5)


class Potentials(NamedTuple):
    """Tables for one gamma, number of labels and number of learners, and the memory of every learner."""

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
    values: FloatArray  # (learner, slot), -1 where nothing is remembered
    seed: np.uint64


class Room(NamedTuple):
    """Where one thread works out a potential."""

    gaps: IntArray  # distinct, ascending
    sizes: IntArray  # how many labels have each
    product: FloatArray
    spare: FloatArray


def make_room(n_classes: int, n_learners: int) -> Room:
    """Room for potentials of this size."""
    return Room(
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_learners + 2),
        np.zeros(n_learners + 2),
    )


def make_potentials(method: int, *, gamma: float, n_classes: int, n_learners: int, seed: int) -> Potentials:
    """The tables for ``n_classes`` >= 2 labels and up to ``n_learners`` + 1 votes to come, nothing remembered yet."""
    most = n_learners + 1
    other = (1.0 - gamma) / n_classes
    chance = gamma + other
    n_rivals = n_classes - 1
    chances = _binomials(most, chance)
    widths = np.zeros(most + 1, dtype=np.int64)
    empty = np.zeros((0, 0))
    cumulated, ratios, of_three, powers = empty, empty, np.zeros(0), np.zeros((0, 0, 0))
    nodes, node_weights = np.zeros(0), np.zeros(0)
    if n_rivals == 1:
        cumulated = np.cumsum(chances, axis=1)
    elif method != MONTE_CARLO:
        tails = np.cumsum(_binomials(most, other)[:, ::-1], axis=1)[:, ::-1]  # [n, w]: P(at least w votes of n)
        widths[:] = [int(np.argmax(np.append(tail, 0.0) < NEGLIGIBLE[method])) for tail in tails]
    if method == FAST:
        nodes, node_weights = np.polynomial.hermite.hermgauss(N_NODES)
        node_weights /= math.sqrt(math.pi)
        is_heavy = node_weights > NEGLIGIBLE[FAST]
        nodes, node_weights = nodes[is_heavy], node_weights[is_heavy]
    if n_rivals == 2:
        cumulated = np.cumsum(_binomials(most, 0.5), axis=1)
        n_of_three = place_of_three(most + 1, -most, -most)
        if method == EXACT and n_of_three <= MOST_OF_THREE:
            of_three = np.zeros(n_of_three)
            _fill_of_three(chance, other, most, of_three)
    if n_rivals > 2 and method == EXACT:
        # Any rate gives the same answer; this one keeps all sums that matter within the range of doubles.
        rate = 0.6 * most * (1.0 - chance) / n_rivals
        widest = int(widths.max())
        most_powers = max(1, min(n_rivals, MOST_POWERS // ((widest + 1) * (most + 1))))
        powers = np.zeros((most_powers + 1, widest + 1, most + 1))
        _fill_powers(_poissons(most, rate), powers)
        sums = _poissons(most, rate * n_rivals)
        ratios = np.zeros_like(chances)
        for n in range(most + 1):
            counts = np.nonzero(chances[n] >= NEGLIGIBLE[EXACT])[0]
            counts = counts[counts <= n]
            ratios[n, counts] = chances[n, counts] / sums[n - counts]
    in_closed_form = (n_rivals == 1 and method != MONTE_CARLO) or (n_rivals == 2 and method == EXACT)
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
    """Truncated Poisson series to every power, one factor after the other."""
    most = powers.shape[2] - 1
    for bound in range(powers.shape[1]):
        powers[0, bound, 0] = 1.0
        for power in range(1, powers.shape[0]):
            for j in range(min(bound, most) + 1):
                for i in range(min((power - 1) * bound, most - j) + 1):
                    powers[power, bound, i + j] += poisson[j] * powers[power - 1, bound, i]


@_inlined
def place_of_three(n: int, near: int, far: int) -> int:
    """Where the table holds the potential of two gaps, -n < near <= n and near <= far <= n + 1, with n votes to come.

    A label that is n + 1 behind is out of the race: larger gaps come to the same.
    """
    row = near + n - 1  # of length 2 n + 1 - row
    return n * (n - 1) * (4 * n + 7) // 6 + row * (2 * n + 1) - row * (row - 1) // 2 + far - near


@kernel
def _fill_of_three(chance: float, other: float, most: int, out: FloatArray) -> None:
    """All potentials for three labels: the next vote is for the true label, for the near or for the far one."""
    for n in range(1, most + 1):
        for near in range(1 - n, n + 1):
            for far in range(near, n + 2):
                out[place_of_three(n, near, far)] = (
                    chance * _known_of_three(out, n - 1, near + 1, far + 1)
                    + other * _known_of_three(out, n - 1, near - 1, far)
                    + other * _known_of_three(out, n - 1, min(near, far - 1), max(near, far - 1))
                )


@kernel
def _known_of_three(table: FloatArray, n: int, near: int, far: int) -> float:
    if near > n:
        return 0.0
    if near <= -n:
        return 1.0
    return table[place_of_three(n, near, min(far, n + 1))]


@_inlined
def potential(potentials: Potentials, learner: int, n: int, counts: IntArray, label: int, room: Room) -> float:
    """The potential of these vote counts with n votes to come; remembered for the learner who asks."""
    most = -1  # votes of another label
    for other in range(potentials.n_classes):
        if other != label and counts[other] > most:
            most = counts[other]
    lead = counts[label] - most
    if lead > n:
        value = 0.0
    elif lead + n <= 0:
        value = 1.0
    elif potentials.n_classes == 2 and potentials.method != MONTE_CARLO:
        value = potentials.cumulated[n, (n - lead) // 2]
    elif potentials.n_classes == 3 and potentials.method == EXACT:
        far = 2 * counts[label] + most - counts[0] - counts[1] - counts[2]
        if potentials.of_three.size > 0:
            value = potentials.of_three[place_of_three(n, lead, min(far, n + 1))]
        else:
            value = exact_of_three(potentials.chances, potentials.cumulated, n, lead, far)
    else:
        # From some gap on all come to the same: such labels can no longer win, or not with any chance that counts.
        farthest = n + 1
        if potentials.method != MONTE_CARLO:
            farthest = min(farthest, potentials.widths[n] + 1 - max(0, 1 - lead))
        first = np.uint64(0)
        second = np.uint64(0)
        origin = (potentials.words.shape[1] - 1) // 2
        for other in range(potentials.n_classes):
            if other != label:
                gap = min(counts[label] - counts[other], farthest)
                first += potentials.words[0, origin + gap]
                second += potentials.words[1, origin + gap]
        slot = np.int64(first & np.uint64(potentials.values.shape[1] - 1))
        keys = potentials.keys
        if keys[learner, slot, 0] != first or keys[learner, slot, 1] != second:
            slot ^= 1
        value = potentials.values[learner, slot]
        if keys[learner, slot, 0] != first or keys[learner, slot, 1] != second or value < 0.0:
            value = _work_out(potentials, learner, n, counts, label, farthest, first, second, room)
    return value


@_kernel
def _work_out(
    potentials: Potentials,
    learner: int,
    n: int,
    counts: IntArray,
    label: int,
    farthest: int,
    first: Any,
    second: Any,
    room: Room,
) -> float:
    """A potential that is not remembered, and now is."""
    keys, values = potentials.keys, potentials.values
    slot = np.int64(first & np.uint64(values.shape[1] - 1))
    n_groups = _group(counts, label, potentials.n_classes, farthest, room)
    if potentials.method == EXACT:
        value = exact(potentials, n, n_groups, room)
    elif potentials.method == FAST:
        value = approximate(potentials, n, n_groups, room)
    else:
        value = sampled(potentials, n, n_groups, room, first)
    values[learner, slot ^ 1] = values[learner, slot]
    for word, key in enumerate((first, second)):
        keys[learner, slot ^ 1, word] = keys[learner, slot, word]
        keys[learner, slot, word] = key
    values[learner, slot] = value
    return value


@_kernel
def _group(counts: IntArray, label: int, n_classes: int, farthest: int, room: Room) -> int:
    """The distinct gaps of the other labels, ascending, and how many labels have each; returns their number."""
    n_groups = 0
    for other in range(n_classes):
        if other == label:
            continue
        gap = min(counts[label] - counts[other], farthest)
        place = 0
        while place < n_groups and room.gaps[place] < gap:
            place += 1
        if place < n_groups and room.gaps[place] == gap:
            room.sizes[place] += 1
            continue
        for later in range(n_groups, place, -1):
            room.gaps[later] = room.gaps[later - 1]
            room.sizes[later] = room.sizes[later - 1]
        room.gaps[place] = gap
        room.sizes[place] = 1
        n_groups += 1
    return n_groups


@_kernel
def exact_of_three(chances: FloatArray, coins: FloatArray, n: int, near: int, far: int) -> float:
    """The same as ``exact`` for two other labels, which share their votes as coins fall."""
    ahead = 0.0
    for c in range(max(0, 1 - near), n + 1):
        total = n - c
        fewest = max(0, total - (far + c - 1))  # votes of the near one, so that the far one stays behind
        most = min(near + c - 1, total)
        if fewest <= most:
            chance = coins[total, most]
            if fewest > 0:
                chance -= coins[total, fewest - 1]
            ahead += chances[n, c] * chance
    return max(0.0, 1.0 - ahead)


@_kernel
def exact(potentials: Potentials, n: int, n_groups: int, room: Room) -> float:
    """One minus the chance that the true label ends ahead of all others, summed over its votes c."""
    width = potentials.widths[n]
    most_power = potentials.powers.shape[0] - 1
    ahead = 0.0
    for c in range(max(0, 1 - room.gaps[0]), n + 1):
        ratio = potentials.ratios[n, c]
        if ratio == 0.0:
            continue
        total = n - c  # votes of the other labels
        # A group's series: its labels may each get up to ``bound`` votes. Groups whose bounds do not bind are one.
        product, spare = room.product, room.spare
        product[0] = 1.0
        degree = 0
        group = 0
        chance = 0.0
        while group < n_groups:
            bound = min(room.gaps[group] + c - 1, width)
            size = room.sizes[group]
            group += 1
            while group < n_groups and bound == width:
                size += room.sizes[group]
                group += 1
            while size > 0:
                power = min(size, most_power)
                size -= power
                series = potentials.powers[power, bound]
                reach = min(power * bound, total)
                if group == n_groups and size == 0:  # the last: only one coefficient of the product is wanted
                    for i in range(max(0, total - reach), min(degree, total) + 1):
                        chance += product[i] * series[total - i]
                elif degree == 0:
                    for j in range(reach + 1):
                        spare[j] = product[0] * series[j]
                    degree = reach
                    product, spare = spare, product
                else:
                    _multiply(product, degree, series, reach, total, spare)
                    degree = min(degree + reach, total)
                    product, spare = spare, product
        ahead += ratio * chance
    return max(0.0, 1.0 - ahead)


@_kernel
def _multiply(a: FloatArray, a_degree: int, b: FloatArray, b_degree: int, most: int, out: FloatArray) -> None:
    """The product of two polynomials, up to degree ``most``."""
    for i in range(min(a_degree + b_degree, most) + 1):
        out[i] = 0.0
    for i in range(min(a_degree, most) + 1):
        factor = a[i]
        for j in range(min(b_degree, most - i) + 1):
            out[i + j] += factor * b[j]


@_kernel
def approximate(potentials: Potentials, n: int, n_groups: int, room: Room) -> float:
    """The potential for normal counts, independent given the votes for the true label."""
    n_rivals = potentials.n_classes - 1
    mean = n * potentials.chance
    spread = math.sqrt(2.0 * mean * (1.0 - potentials.chance))
    ahead = 0.0
    for node in range(potentials.nodes.size):
        votes = min(max(mean + spread * potentials.nodes[node], 0.0), float(n))
        expected = max((n - votes) / n_rivals, 1e-9)
        scale = _SQRT_HALF / math.sqrt(expected)
        chance = 1.0
        for group in range(n_groups):
            below = 0.5 * math.erfc((expected + 0.5 - room.gaps[group] - votes) * scale)
            for _ in range(room.sizes[group]):
                chance *= below
        ahead += potentials.node_weights[node] * chance
    return max(0.0, 1.0 - ahead)


@_kernel
def sampled(potentials: Potentials, n: int, n_groups: int, room: Room, key: Any) -> float:
    """The share of mistakes among draws that are fixed by n and the gaps."""
    n_wrong = 0
    for draw in range(N_DRAWS):
        number = draw * potentials.n_classes
        purpose = POTENTIAL + 8 * n
        votes = draw_binomial(n, potentials.chance, uniform(potentials.seed, purpose, key, number))
        left = n - votes
        n_left = potentials.n_classes - 1
        wrong = False
        # The nearest rivals come first; once one is ahead, or none can be, the rest need not be drawn.
        for group in range(n_groups):
            if wrong or room.gaps[group] + votes > left:
                break
            for _ in range(room.sizes[group]):
                number += 1
                others = draw_binomial(left, 1.0 / n_left, uniform(potentials.seed, purpose, key, number))
                wrong = wrong or room.gaps[group] + votes <= others
                left -= others
                n_left -= 1
                if wrong:
                    break
        n_wrong += wrong
    return n_wrong / N_DRAWS


@_kernel
def draw_binomial(n: int, chance: float, u: float) -> int:
    """The number of successes at which the cumulated binomial distribution first exceeds ``u``."""
    if chance >= 1.0:
        return n
    term = (1.0 - chance) ** n
    odds = chance / (1.0 - chance)
    cumulated = term
    successes = 0
    while u >= cumulated and successes < n:
        term *= odds * (n - successes) / (successes + 1)
        successes += 1
        cumulated += term
    return successes


@_kernel
def importance(potentials: Potentials, learner: int, n: int, counts: IntArray, label: int, room: Room) -> float:
    """Sum over l of phi_n(s + e_l) - phi_n(s + e_y), term by term: how much is lost if the next vote is wrong."""
    counts[label] += 1
    right = potential(potentials, learner, n, counts, label, room)
    counts[label] -= 1
    total = 0.0
    for other in range(potentials.n_classes):
        if other != label:
            counts[other] += 1
            total += potential(potentials, learner, n, counts, label, room) - right
            counts[other] -= 1
    return total


@_kernel
def importances(potentials: Potentials, n_extra: int, counts: IntArray, room: Room, out: FloatArray) -> None:
    """The importance for every learner, after the same votes."""
    for learner in range(out.size):
        out[learner] = importance(potentials, learner, out.size - 1 - learner + n_extra, counts, 0, room)
