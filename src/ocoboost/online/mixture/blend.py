"""One row through all that is made of the members' answers: experts, blends, probabilities, votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.oco.projections import project_row
from ocoboost.online.mixture import bayes, drift, pools, quick, reshaping, slow, steady, sureness, tournament
from ocoboost.online.mixture.agreeing import agree
from ocoboost.online.mixture.slow import SHARP_GAMMA

# The blends in order: slow, quick, pools, the probabilities that Bayes' rule makes of these, and the steady mixture.
FIRST_POOL = 1 + len(quick.PACES)
PROBABILITIES = bayes.N_BLENDS
STEADY = PROBABILITIES + 1
N_BLENDS = STEADY + 1
# Before anything is known the steady mixture is trusted most, then the slow one, the other blends alike, and members by
# themselves least: chosen on the tables and streams that docs/mixture.md names.
STEADY_PRIOR = 0.6
SLOW_PRIOR = 0.15
MEMBERS_PRIOR = 0.1
LEAST_SHARE = 1e-25  # what is shared out leaves every expert more than that, after any number of rows


class Plan(NamedTuple):
    """Which experts the members' answers make, and how voters are trusted at first."""

    gammas: FloatArray  # (members,) D is what the votes, divided by this, are projected to
    origin: IntArray  # (experts,) the member that an expert speaks for; the first are those of the slow mixture
    is_sharp: IntArray  # (experts,)
    n_slow: int
    prior: FloatArray  # (voters,) blends, then members
    windows: tuple[int, int]  # the first of the members that are neighbours, and the one after the last
    watched: tuple[int, int]  # the first of the voters that tell when the stream changes, and the one after the last


class Weights(NamedTuple):
    """What is learned about the members."""

    slow: FloatArray  # (slow experts,)
    quick: FloatArray  # (paces, experts)
    pools: FloatArray  # (pools, members)
    bayes: FloatArray  # (tempered blends,)
    reshaping: FloatArray  # (votes, powers, floors)
    sureness: FloatArray  # (slopes, shifts)
    steady: FloatArray  # (steady experts,)
    regret: FloatArray  # (copies, voters)
    travelled: FloatArray  # (copies, voters)
    heaviest: FloatArray  # (1,) row so far: quick mixtures, pools and tournament take rows relative to it


class Scratch(NamedTuple):
    """Memory to work in, so that nothing is allocated per row."""

    members: FloatArray  # (members, classes) answers
    experts: FloatArray  # (experts, classes)
    experts_awake: IntArray  # (experts,)
    logs: FloatArray  # (members, classes)
    blends: FloatArray  # (blends, classes)
    tempered: FloatArray  # (tempered blends, classes)
    sharpened: FloatArray  # (powers, classes)
    doubts: FloatArray  # (slopes, shifts)
    likeliest: IntArray  # (1,) label
    steady: FloatArray  # (steady experts, classes)
    steady_awake: IntArray  # (steady experts,)
    votes: IntArray  # (voters,)
    voters_awake: IntArray  # (voters,)
    voters: FloatArray  # (voters,) weights


def plan_for(gammas: list[float], n_slow: int, n_ages: int, n_watched: int) -> Plan:
    """For members with these gammas: the first ``n_slow`` are in the slow mixture, then come those of an age.

    The first ``n_watched`` of these, of one kind, tell when the stream changes.
    """
    long_lived, ages, others = range(n_slow), range(n_slow, n_slow + n_ages), range(n_slow, len(gammas))
    origin = [*long_lived, *long_lived, *others, *ages]
    n_plain = len(others)
    is_sharp = [0] * n_slow + [1] * n_slow + [0] * n_plain + [1] * n_ages
    alike = (1.0 - STEADY_PRIOR - SLOW_PRIOR - MEMBERS_PRIOR) / (N_BLENDS - 2)
    members = [MEMBERS_PRIOR / len(gammas)] * len(gammas)
    prior = [SLOW_PRIOR, *[alike] * (N_BLENDS - 2), STEADY_PRIOR, *members]
    windows = (n_slow + n_ages, len(gammas) - 1)
    watched = (N_BLENDS + n_slow, N_BLENDS + n_slow + n_watched)
    return Plan(np.array(gammas), np.array(origin), np.array(is_sharp), 2 * n_slow, np.array(prior), windows, watched)


def n_steady(plan: Plan) -> int:
    """How many experts the steady mixture has."""
    return plan.n_slow + plan.windows[1] - plan.windows[0] + 2 * (STEADY - FIRST_POOL)


def first_weights(plan: Plan, mean: int) -> Weights:
    """Nothing known: all experts alike, and pools that repeat the member ``mean``."""
    n_experts, n_members, n_voters = plan.origin.size, plan.gammas.size, plan.prior.size
    start = np.zeros((len(pools.STEPS), n_members))
    start[:, mean] = 1.0
    return Weights(
        slow=np.full(plan.n_slow, 1.0 / plan.n_slow),
        quick=np.full((len(quick.PACES), n_experts), 1.0 / n_experts),
        pools=start,
        bayes=np.full(bayes.N_EXPERTS, 1.0 / bayes.N_EXPERTS),
        reshaping=reshaping.first_shares(),
        sureness=sureness.first_shares(),
        steady=np.full(n_steady(plan), 1.0 / n_steady(plan)),
        regret=np.zeros((tournament.N_COPIES, n_voters)),
        travelled=np.zeros((tournament.N_COPIES, n_voters)),
        heaviest=np.zeros(1),
    )


def n_bytes_of(n_slow: int, n_members: int, n_ages: int, n_watched: int) -> int:
    """Memory of all that is learned about so many members: those in the slow mixture, all, and the ages among them."""
    weights = first_weights(plan_for([1.0] * n_members, n_slow, n_ages, n_watched), mean=0)
    return sum(array.nbytes for array in (*weights, *drift.first_watch(n_watched)))


def make_scratch(plan: Plan, n_classes: int) -> Scratch:
    """Scratch memory for this many classes."""
    n_experts, n_members, n_voters = plan.origin.size, plan.gammas.size, plan.prior.size
    return Scratch(
        members=np.zeros((n_members, n_classes)),
        experts=np.zeros((n_experts, n_classes)),
        experts_awake=np.ones(n_experts, dtype=np.int64),
        logs=np.zeros((n_members, n_classes)),
        blends=np.zeros((N_BLENDS, n_classes)),
        tempered=np.zeros((bayes.N_EXPERTS, n_classes)),
        sharpened=np.zeros((len(reshaping.POWERS), n_classes)),
        doubts=np.zeros((len(sureness.SLOPES), len(sureness.SHIFTS))),
        likeliest=np.full(1, -1),
        steady=np.zeros((n_steady(plan), n_classes)),
        steady_awake=np.ones(n_steady(plan), dtype=np.int64),
        votes=np.zeros(n_voters, dtype=np.int64),
        voters_awake=np.ones(n_voters, dtype=np.int64),
        voters=np.zeros(n_voters),
    )


@kernel(error_model="numpy")
def _lay_out(answers: FloatArray, awake: IntArray, row: int, plan: Plan, scratch: Scratch) -> None:
    """The experts' distributions on a row, and who is awake; ``answers`` has shape (members, rows, classes)."""
    n_classes = answers.shape[2]
    for member in range(answers.shape[0]):
        scratch.voters_awake[N_BLENDS + member] = awake[member, row]
        for j in range(n_classes):
            scratch.members[member, j] = answers[member, row, j]
    for expert in range(plan.origin.size):
        member = plan.origin[expert]
        scratch.experts_awake[expert] = awake[member, row]
        if awake[member, row]:
            gamma = SHARP_GAMMA if plan.is_sharp[expert] else plan.gammas[member]
            point = scratch.experts[expert]
            for j in range(n_classes):
                point[j] = scratch.members[member, j] / gamma
            if gamma < 1.0:
                project_row(point, point)


@kernel(error_model="numpy")
def _average(answers: FloatArray, awake: IntArray, weights: FloatArray, out: FloatArray) -> None:
    """The mean of the first answers that are awake."""
    total = 0.0
    for j in range(out.size):
        out[j] = 0.0
    for number in range(weights.size):
        if awake[number]:
            total += weights[number]
            for j in range(out.size):
                out[j] += weights[number] * answers[number, j]
    for j in range(out.size):
        out[j] /= total


@kernel(error_model="numpy")
def _blend(plan: Plan, weights: Weights, scratch: Scratch) -> None:
    """Fill in what every blend answers."""
    _average(scratch.experts, scratch.experts_awake, weights.slow, scratch.blends[0])
    n_paces = weights.quick.shape[0]
    for pace in range(n_paces):
        _average(scratch.experts, scratch.experts_awake, weights.quick[pace], scratch.blends[1 + pace])
    members_awake = scratch.voters_awake[N_BLENDS:]
    pools.take_logs(scratch.members, members_awake, scratch.logs)
    pools.multiply(scratch.logs, members_awake, weights.pools, scratch.blends[FIRST_POOL:PROBABILITIES])
    bayes.temper(scratch.blends, scratch.tempered)
    probabilities = scratch.blends[PROBABILITIES]
    for j in range(probabilities.size):
        probabilities[j] = 0.0
        for expert in range(weights.bayes.size):
            probabilities[j] += weights.bayes[expert] * scratch.tempered[expert, j]
    first, end = plan.windows
    steady.lay_out(
        scratch.experts[: plan.n_slow],
        scratch.members[first:end],
        members_awake[first:end],
        scratch.blends[FIRST_POOL:STEADY],
        scratch.steady,
        scratch.steady_awake,
    )
    _average(scratch.steady, scratch.steady_awake, weights.steady, scratch.blends[STEADY])


@kernel
def mode_of(answer: FloatArray, priorities: FloatArray) -> int:
    """The most probable label; ties go to the higher priority, then to the lowest index."""
    best = 0
    for j in range(1, answer.size):
        if answer[j] > answer[best] or (answer[j] == answer[best] and priorities[j] > priorities[best]):
            best = j
    return best


@kernel
def _mode(answer: FloatArray) -> int:
    """The most probable label; ties go to the lowest index."""
    best = 0
    for j in range(1, answer.size):
        if answer[j] > answer[best]:
            best = j
    return best


@kernel(error_model="numpy")
def _vote(
    plan: Plan, weights: Weights, n_learned: int, scratch: Scratch, votes: FloatArray, shares: FloatArray
) -> None:
    """D, the weighted votes, and the voters' mean distribution."""
    voters = scratch.voters
    tournament.weigh_voters(n_learned, plan.prior, scratch.voters_awake, weights.regret, weights.travelled, voters)
    for j in range(votes.size):
        votes[j] = 0.0
        shares[j] = 0.0
    for voter in range(voters.size):
        if not scratch.voters_awake[voter]:
            continue
        answer = scratch.blends[voter] if voter < N_BLENDS else scratch.members[voter - N_BLENDS]
        scratch.votes[voter] = _mode(answer)
        votes[scratch.votes[voter]] += voters[voter]
        for j in range(shares.size):
            shares[j] += voters[voter] * answer[j]
    for j in range(votes.size):
        votes[j] = min(votes[j], 1.0)  # the weights sum to one up to rounding
        shares[j] = min(shares[j], 1.0)


@kernel(error_model="numpy")
def learn_row(
    plan: Plan,
    weights: Weights,
    watch: drift.Watch,
    row: int,
    label: int,
    weight: float,
    loss: float,
    scratch: Scratch,
) -> None:
    """Move all weights by what a row has shown, once it was answered."""
    weights.heaviest[0] = max(weights.heaviest[0], weight)
    relative = weight / weights.heaviest[0] if weight > 0.0 else 0.0
    slow.settle(scratch.experts, label, weight, row, weights.slow)
    quick.switch(scratch.experts, scratch.experts_awake, label, relative, row, weights.quick)
    members_awake = scratch.voters_awake[N_BLENDS:]
    pools.descend(scratch.logs, members_awake, scratch.blends[FIRST_POOL:PROBABILITIES], label, relative, weights.pools)
    bayes.update(scratch.tempered, label, relative, weights.bayes)
    reshaping.update(scratch.sharpened, 1.0 - loss, label, relative, weights.reshaping)
    sureness.update(scratch.doubts, scratch.likeliest, label, relative, weights.sureness)
    steady.settle(scratch.steady, scratch.steady_awake, label, relative, row, weights.steady)
    tournament.count_mistakes(
        row, scratch.votes, scratch.voters_awake, label, loss, relative, weights.regret, weights.travelled
    )
    if relative > 0.0:
        first, end = plan.watched
        votes, awake = scratch.votes[first:end], scratch.voters_awake[first:end]
        drift.look(row, scratch.votes[0], votes, awake, label, watch)


@kernel(error_model="numpy")
def answer_row(
    answers: FloatArray,
    awake: IntArray,
    row: int,
    n_learned: int,
    plan: Plan,
    weights: Weights,
    scratch: Scratch,
    votes: FloatArray,
    shares: FloatArray,
    probabilities: FloatArray,
) -> None:
    """What is made of the members' answers to a row; what ``learn_row`` needs of it stays in ``scratch``."""
    _lay_out(answers, awake, row, plan, scratch)
    _blend(plan, weights, scratch)
    _vote(plan, weights, n_learned, scratch, votes, shares)
    reshaping.reshape(scratch.blends[PROBABILITIES], votes, weights.reshaping, scratch.sharpened, probabilities)
    sureness.reckon(probabilities, weights.sureness, scratch.doubts, scratch.likeliest)
    agree(probabilities, mode_of(votes, shares))


@kernel(error_model="numpy")
def blend_rows(
    answers: FloatArray,
    awake: IntArray,
    labels: IntArray,
    row_weights: FloatArray,
    n_learned: int,
    plan: Plan,
    weights: Weights,
    watch: drift.Watch,
    scratch: Scratch,
    votes: FloatArray,
    shares: FloatArray,
    probabilities: FloatArray,
) -> None:
    """Row by row: answer, then learn the row's label. Without labels nothing is learned.

    ``answers`` has shape (members, rows, classes), ``awake`` (members, rows); the outputs are (rows, classes).
    """
    learning = labels.size > 0
    for row in range(answers.shape[1]):
        answer_row(answers, awake, row, n_learned, plan, weights, scratch, votes[row], shares[row], probabilities[row])
        if learning:
            loss = 1.0 - votes[row, labels[row]]
            learn_row(plan, weights, watch, n_learned, labels[row], row_weights[row], loss, scratch)
            n_learned += 1


def check(weights: Weights) -> None:
    """Raise ``ValueError`` for weights that cannot have been learned."""
    for shares in (weights.slow, *weights.quick, weights.bayes, weights.reshaping, weights.sureness, weights.steady):
        if np.any(shares < LEAST_SHARE) or abs(shares.sum() - 1.0) > 1e-6:
            raise ValueError("invalid weights of the mixture: not a distribution")
    if np.any(np.abs(weights.pools) > 1e6):
        raise ValueError("invalid weights of the mixture: pools")
    regret, travelled = weights.regret, weights.travelled
    if np.any(travelled < 0.0) or np.any(np.abs(regret) > travelled + 1e-6 * (1.0 + travelled)):
        raise ValueError("invalid weights of the mixture: regret")
    exponent = (np.maximum(regret, 0.0) + 1.0) / (travelled + 1.0) * (np.maximum(regret, 0.0) + 1.0) / 3.0
    if np.any(exponent > 600.0) or weights.heaviest[0] < 0.0:  # its exponential would be infinite
        raise ValueError("invalid weights of the mixture: regret")
