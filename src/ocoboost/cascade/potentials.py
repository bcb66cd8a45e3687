"""The potentials of OnlineMBBM (Jung, Goetz & Tewari, 2017): the probability that the final vote is wrong.

With n votes to come, each for the true label y with probability p = gamma + (1 - gamma) / k and for every other label
with probability q = (1 - gamma) / k, the potential of the vote counts s is

    phi_n(s) = P( s_y + X_y <= max over l != y of s_l + X_l ),    X ~ Multinomial(n; p, q, ..., q)

A tie is a mistake. The potential depends only on n and the multiset of gaps s_y - s_l. It is computed in three ways:

    exact         two labels: a binomial distribution function. Three: a table over n and the two gaps, filled by the
                  recursion over the next vote; where that would be too large, a sum over X_y of the probability
                  that the second count lies in the window it must be in. More: given X_y, the other counts are
                  independent Poisson variables conditioned on their sum, so the answer is one coefficient of a product
                  of truncated Poisson series, one for each distinct gap. All terms are positive: nothing cancels.
    fast          X_y normal (Gauss-Hermite quadrature), the other counts normal and independent. Two labels: exact.
    monte-carlo   100 draws, as in the published code; keyed by the arguments, so the order of calls does not matter.

With more than three labels, potentials are cached for each learner separately (a learner always asks with the same n),
in a table of fixed size that replaces the older of two entries. Entries are identified by 128 bits hashed from the
multiset of gaps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.potential_tables import EXACT, FAST, MONTE_CARLO, N_DRAWS, Potentials, Scratch, place_of_three
from ocoboost.compiling import kernel
from ocoboost.randomness import POTENTIAL, uniform

_kernel = kernel(error_model="numpy")
_inlined = kernel(error_model="numpy", inline="always")  # the tables make costly arguments
_SQRT_HALF = math.sqrt(0.5)


@_inlined
def potential(potentials: Potentials, learner: int, n: int, counts: IntArray, label: int, scratch: Scratch) -> float:
    """The potential of these vote counts with n votes to come; cached for the learner that asks."""
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
        # Beyond some gap all labels are alike: they cannot win any more, or only with negligible probability.
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
            value = _work_out(potentials, learner, n, counts, label, farthest, first, second, scratch)
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
    scratch: Scratch,
) -> float:
    """Compute a potential that is not cached, and cache it."""
    keys, values = potentials.keys, potentials.values
    slot = np.int64(first & np.uint64(values.shape[1] - 1))
    n_groups = _group(counts, label, potentials.n_classes, farthest, scratch)
    if potentials.method == EXACT:
        value = exact(potentials, n, n_groups, scratch)
    elif potentials.method == FAST:
        value = approximate(potentials, n, n_groups, scratch)
    else:
        value = sampled(potentials, n, n_groups, scratch, first)
    values[learner, slot ^ 1] = values[learner, slot]
    for word, key in enumerate((first, second)):
        keys[learner, slot ^ 1, word] = keys[learner, slot, word]
        keys[learner, slot, word] = key
    values[learner, slot] = value
    return value


@_kernel
def _group(counts: IntArray, label: int, n_classes: int, farthest: int, scratch: Scratch) -> int:
    """The distinct gaps of the other labels, ascending, and how many labels have each; returns their number."""
    n_groups = 0
    for other in range(n_classes):
        if other == label:
            continue
        gap = min(counts[label] - counts[other], farthest)
        place = 0
        while place < n_groups and scratch.gaps[place] < gap:
            place += 1
        if place < n_groups and scratch.gaps[place] == gap:
            scratch.sizes[place] += 1
            continue
        for later in range(n_groups, place, -1):
            scratch.gaps[later] = scratch.gaps[later - 1]
            scratch.sizes[later] = scratch.sizes[later - 1]
        scratch.gaps[place] = gap
        scratch.sizes[place] = 1
        n_groups += 1
    return n_groups


@_kernel
def exact_of_three(chances: FloatArray, coins: FloatArray, n: int, near: int, far: int) -> float:
    """The same as ``exact`` for two other labels, between which coin tosses divide the votes."""
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
def exact(potentials: Potentials, n: int, n_groups: int, scratch: Scratch) -> float:
    """One minus the chance that the true label ends ahead of all others, summed over its votes c."""
    width = potentials.widths[n]
    most_power = potentials.powers.shape[0] - 1
    ahead = 0.0
    for c in range(max(0, 1 - scratch.gaps[0]), n + 1):
        ratio = potentials.ratios[n, c]
        if ratio == 0.0:
            continue
        total = n - c  # votes of the other labels
        # A group's series: its labels may each get up to ``bound`` votes. Groups whose bounds do not bind are merged.
        product, spare = scratch.product, scratch.spare
        product[0] = 1.0
        degree = 0
        group = 0
        chance = 0.0
        while group < n_groups:
            bound = min(scratch.gaps[group] + c - 1, width)
            size = scratch.sizes[group]
            group += 1
            while group < n_groups and bound == width:
                size += scratch.sizes[group]
                group += 1
            while size > 0:
                power = min(size, most_power)
                size -= power
                series = potentials.powers[power, bound]
                reach = min(power * bound, total)
                if group == n_groups and size == 0:  # the last: only one coefficient of the product is needed
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
def approximate(potentials: Potentials, n: int, n_groups: int, scratch: Scratch) -> float:
    """The potential for normal counts, independent given the votes for the true label."""
    n_others = potentials.n_classes - 1
    mean = n * potentials.chance
    spread = math.sqrt(2.0 * mean * (1.0 - potentials.chance))
    ahead = 0.0
    for node in range(potentials.nodes.size):
        votes = min(max(mean + spread * potentials.nodes[node], 0.0), float(n))
        expected = max((n - votes) / n_others, 1e-9)
        scale = _SQRT_HALF / math.sqrt(expected)
        chance = 1.0
        for group in range(n_groups):
            below = 0.5 * math.erfc((expected + 0.5 - scratch.gaps[group] - votes) * scale)
            for _ in range(scratch.sizes[group]):
                chance *= below
        ahead += potentials.node_weights[node] * chance
    return max(0.0, 1.0 - ahead)


@_kernel
def sampled(potentials: Potentials, n: int, n_groups: int, scratch: Scratch, key: Any) -> float:
    """The share of mistakes among draws that are keyed by n and the gaps."""
    n_wrong = 0
    for draw in range(N_DRAWS):
        number = draw * potentials.n_classes
        purpose = POTENTIAL + 8 * n
        votes = draw_binomial(n, potentials.chance, uniform(potentials.seed, purpose, key, number))
        left = n - votes
        n_left = potentials.n_classes - 1
        wrong = False
        # The nearest labels come first; once one is ahead, or none can be, the rest need not be drawn.
        for group in range(n_groups):
            if wrong or scratch.gaps[group] + votes > left:
                break
            for _ in range(scratch.sizes[group]):
                number += 1
                others = draw_binomial(left, 1.0 / n_left, uniform(potentials.seed, purpose, key, number))
                wrong = wrong or scratch.gaps[group] + votes <= others
                left -= others
                n_left -= 1
                if wrong:
                    break
        n_wrong += wrong
    return n_wrong / N_DRAWS


@_kernel
def draw_binomial(n: int, chance: float, u: float) -> int:
    """The number of successes at which the cumulative binomial distribution first exceeds ``u``."""
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
def importance(potentials: Potentials, learner: int, n: int, counts: IntArray, label: int, scratch: Scratch) -> float:
    """Sum over l of phi_n(s + e_l) - phi_n(s + e_y), term by term: how much is lost if the next vote is wrong."""
    counts[label] += 1
    right = potential(potentials, learner, n, counts, label, scratch)
    counts[label] -= 1
    total = 0.0
    for other in range(potentials.n_classes):
        if other != label:
            counts[other] += 1
            total += potential(potentials, learner, n, counts, label, scratch) - right
            counts[other] -= 1
    return total


@_kernel
def importances(potentials: Potentials, n_extra: int, counts: IntArray, scratch: Scratch, out: FloatArray) -> None:
    """The importance for every learner, after the same votes."""
    for learner in range(out.size):
        out[learner] = importance(potentials, learner, out.size - 1 - learner + n_extra, counts, 0, scratch)
