"""Who the members of a mixture are, and how much each of them counts at present."""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.online.mixture import blend, pools, quick
from ocoboost.online.mixture.ages import AGES
from ocoboost.online.mixture.engine import Mixture
from ocoboost.online.mixture.neighbours import WINDOWS
from ocoboost.online.mixture.tournament import weigh_voters

LONG_LIVED = "long-lived"
BLENDS = (
    "slow mixture",
    *(f"quick mixture, {factor:g} times the rate, share {share:g}" for factor, share in quick.PACES),
    *(f"pool, step {step:g}" for step in pools.STEPS),
    "probabilities",
    "steady mixture",
)


def member_names(mixture: Mixture) -> list[str]:
    """The members by name, long-lived ones first, then by age."""
    kinds = mixture.ages
    ages = [f"{kind.name}, {2**order} to {2 ** (order + 1) - 1} rows old" for kind in kinds for order in AGES]
    windows = [f"nearest of {window} rows" for window in WINDOWS] if mixture.neighbours is not None else []
    return [*(member.name for member in mixture.members), *ages, *windows, "last label"]


def member_groups(mixture: Mixture) -> dict[str, str]:
    """What every member is, roughly: long-lived, of an age, neighbours, or the last label."""
    least = [AGES[0] + (order - AGES[0]) // 2 * 2 for order in AGES]  # two ages make a group
    ages = [f"{2**order} to {2 ** (order + 2) - 1} rows old" for order in least] * len(mixture.ages)
    windows = ["nearest rows"] * (len(WINDOWS) if mixture.neighbours is not None else 0)
    groups = [*[LONG_LIVED] * len(mixture.members), *ages, *windows, "last label"]
    return dict(zip(member_names(mixture), groups, strict=True))


def voters(mixture: Mixture) -> dict[str, float]:
    """The priors of all that vote, by name: blends, then members, the boosters' mean among them."""
    names, n_long = member_names(mixture), len(mixture.members)
    every = [*BLENDS, *names[:n_long], "mean of the boosters", *names[n_long:]]
    return dict(zip(every, mixture.plan.prior.tolist(), strict=True))


def member_weights(mixture: Mixture) -> dict[str, float]:
    """Each member's share in what is voted, by name; the mean counts for all boosters alike."""
    plan, weights, n_long = mixture.plan, mixture.weights, len(mixture.members)
    awake = mixture.awake()
    counts = np.empty(plan.prior.size)
    voting = np.concatenate([np.ones(blend.N_BLENDS, dtype=np.int64), awake])
    weigh_voters(mixture.n_rows, plan.prior, voting, weights.regret, weights.travelled, counts)
    n_members = plan.gammas.size
    by_blend = [_counted(plan.origin[: plan.n_slow], weights.slow, n_members)]
    by_blend += [_counted(plan.origin, pace, n_members) * awake for pace in weights.quick]
    by_blend += [np.abs(pool) * awake for pool in weights.pools]
    by_blend.append(np.mean(by_blend[1:], axis=0))  # Bayes' rule is over these
    by_blend.append(_steady_members(mixture, by_blend[blend.FIRST_POOL :], awake))
    total = counts[blend.N_BLENDS :].copy()
    for weight, members in zip(counts, by_blend, strict=False):
        total += weight * members / members.sum()
    mean = total[n_long]
    total = np.delete(total, n_long)
    boosted = [number for number, member in enumerate(mixture.members) if member.is_boosted]
    total[boosted] += mean / len(boosted)
    return dict(zip(member_names(mixture), total.tolist(), strict=True))


def _counted(origin: IntArray, weights: FloatArray, n_members: int) -> FloatArray:
    """The weights of every member's experts, added up."""
    counts: FloatArray = np.zeros(n_members)
    np.add.at(counts, origin, weights)
    return counts


def _steady_members(mixture: Mixture, blends: list[FloatArray], awake: IntArray) -> FloatArray:
    """How much each member counts in the steady mixture, if ``blends`` are made of the members like this."""
    plan, steady = mixture.plan, mixture.weights.steady
    first, end = plan.windows
    n_direct = plan.n_slow + end - first
    origin = np.concatenate([plan.origin[: plan.n_slow], np.arange(first, end)])
    counts = _counted(origin, steady[:n_direct], plan.gammas.size) * awake
    for weight, members in zip(steady[n_direct:].reshape(-1, 2).sum(axis=1), blends, strict=True):
        counts += weight * members / members.sum()
    return counts
