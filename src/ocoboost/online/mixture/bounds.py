"""What the tournament, the probabilities and the prediction sets guarantee, whatever the stream does.

Let a voter have prior q, and let its copies' priors be those of ``tournament``. For a copy (Luo & Schapire, 2015,
Lemma 2)::

    Phi(R + r, C + |r|) <= Phi(R, C) + w(R, C) r + 3 |r| / (2 (C + 1)),    Phi(R, C) = exp([R]+^2 / (3 C)),

and the weights make the prior-weighted sum of w r over all copies at most 0 on every row. So at any time the sum of
q Phi over all copies ever born is at most B, the sum of q (1 + 3/2 (1 + ln(1 + C))) over them, and a copy with prior q
has::

    R <= sqrt(3 C ln(B / q)).

An interval is covered by the lives of copies, each born where the one before it ends and of a higher order, so that
their lengths at least double; the last one may end later. Losses are 1 - D[y] of the tournament against the mistakes of
the voter; rows have weight 1.
"""

from __future__ import annotations

import math

from ocoboost.online.mixture import bayes, reshaping, sets, sureness
from ocoboost.online.mixture.clock import LEAST_ORDER, n_orders
from ocoboost.online.mixture.tournament import ORDER_PRIOR, WHOLE_PRIOR

_LEAST_ROWS = 1 << LEAST_ORDER  # from one birth, of whatever order, to the next


def _total(n_rows: int) -> float:
    """B: what the potentials of all copies of all voters, weighted by their priors, can add up to."""

    def most(length: int) -> float:
        return 1.0 + 1.5 * (1.0 + math.log(1.0 + length))

    total = WHOLE_PRIOR * most(n_rows)
    for order in range(LEAST_ORDER, LEAST_ORDER + n_orders(max(0, n_rows - 1))):
        n_births = (n_rows - 1 - 2**order) // 2 ** (order + 1) + 1
        total += n_births * ORDER_PRIOR * most(min(2 ** (order + 1), n_rows))
    return total


def _copy_bound(length: int, n_rows: int, prior: float) -> float:
    return min(float(length), math.sqrt(3.0 * length * math.log(max(1.0, _total(n_rows) / prior))))


def regret_bound(n_rows: int, prior: float) -> float:
    """The most by which the summed loss 1 - D[y] can exceed the mistakes of one voter, on the first rows of a stream.

    ``prior`` is the voter's (``OnlineBoostClassifier.voters_`` has them). Where it sleeps, neither counts. Expected
    mistakes of the sampled prediction are exactly that loss; the most probable label is wrong at most twice as often.

    >>> round(regret_bound(1_000, 0.1)), round(regret_bound(100_000, 0.1))
    (135, 1761)
    """
    return _copy_bound(n_rows, n_rows, WHOLE_PRIOR * prior)


def interval_regret_bound(first: int, end: int, prior: float) -> float:
    """The same for the rows in [first, end) of a longer stream.

    >>> round(interval_regret_bound(50_000, 51_000, 0.1))
    759
    """
    if first == 0:
        return regret_bound(end, prior)
    bound = 0.0
    begin = -(-first // _LEAST_ROWS) * _LEAST_ROWS  # the rows before the next birth may all be lost
    bound += min(begin, end) - first
    while begin < end:
        order = (begin & -begin).bit_length() - 1
        length = min(2 << order, end - begin)
        bound += _copy_bound(length, end, ORDER_PRIOR * prior)
        begin += 2 << order
    return min(bound, float(end - first))


def tracking_regret_bound(n_rows: int, n_switches: int, prior: float) -> float:
    """The most by which the loss can exceed the mistakes of any sequence of voters with so many switches.

    Every voter in it has at least this prior. By the bound on intervals: the worst is that of equal ones, up to where
    they begin on the clock, which costs at most as much as if each were twice as long.

    >>> round(tracking_regret_bound(100_000, 0, 0.1)) == round(regret_bound(100_000, 0.1))
    True
    """
    if n_switches == 0:
        return regret_bound(n_rows, prior)
    n_intervals = n_switches + 1
    log = math.log(max(1.0, _total(n_rows) / (ORDER_PRIOR * prior)))
    # Pieces of an interval of length n: below 2**LEAST_ORDER rows before the first, then lengths that at least double
    # up to the last, which is cut; so the sum of their square roots is at most (2 + sqrt(2)) sqrt(n) + sqrt(n).
    longest = math.sqrt(n_rows / n_intervals)
    per_interval = _LEAST_ROWS + (3.0 + math.sqrt(2.0)) * longest * math.sqrt(3.0 * log)
    return min(float(n_rows), n_intervals * per_interval)


def log_loss_bound(n_rows: int, n_switches: int = 0) -> float:
    """The most by which the summed log loss of Bayes' rule can exceed that of any sequence of tempered blends.

    These are the probabilities before they are reshaped (``reshaping_bound``), before their most probable label is
    moved (``sureness_bound``), and before ``agreeing`` raises the label that is predicted.

    >>> round(log_loss_bound(1_000), 2), round(log_loss_bound(1_000, 3), 2)
    (7.62, 32.17)
    """
    n_experts = bayes.N_EXPERTS
    if n_rows == 0:
        return 0.0
    stays = -math.log1p(-bayes.SHARE + bayes.SHARE / n_experts)
    switches = math.log(n_experts / bayes.SHARE)
    return math.log(n_experts) + (n_rows - 1 - n_switches) * stays + n_switches * switches


def reshaping_bound(n_rows: int) -> float:
    """The most by which the summed log loss of reshaped probabilities can exceed that of the probabilities as they are.

    >>> round(reshaping_bound(1_000), 2), round(reshaping_bound(100_000), 1)
    (0.93, 25.3)
    """
    return _cost_of_choosing(reshaping.first_shares().max(), reshaping.SHARE, n_rows)


def sureness_bound(n_rows: int) -> float:
    """The same of probabilities whose most probable label was moved, against those before.

    >>> round(sureness_bound(1_000), 2), round(sureness_bound(100_000), 1)
    (0.89, 24.6)
    """
    return _cost_of_choosing(sureness.first_shares().max(), sureness.SHARE, n_rows)


def _cost_of_choosing(prior: float, share: float, n_rows: int) -> float:
    """By how much Bayes' rule with a share can exceed the log loss of one expert with this prior."""
    if n_rows == 0:
        return 0.0
    return -math.log(prior) - (n_rows - 1) * math.log1p(-share * (1.0 - prior))


def most_misses(n_rows: int, coverage: float, n_waiting: int = 0) -> float:
    """The most rows of a stream whose label is outside of its prediction set, with empty sets or without.

    With a = 1 - coverage, the rate begins at a, moves by STEP (a - 1) with every miss and by STEP a with every other
    row, and does not fall below -STEP (1 - a): there every label is let in. So it tells the number of misses. Rows
    that bring a label are not counted, nor are those without weight. While ``n_waiting`` rows at most are predicted and
    wait for their labels, as many misses may follow after the rate has reached 0.

    >>> round(most_misses(10_000, 0.9), 1)
    1010.9
    """
    missed = 1.0 - coverage
    return min(float(n_rows), missed * n_rows + missed / sets.STEP + (1.0 - missed) * (1 + n_waiting))


def fewest_misses(n_rows: int, coverage: float, n_waiting: int = 0) -> float:
    """The fewest, if sets may be empty: the rate does not rise above 1 + STEP a, where no label is let in.

    >>> round(fewest_misses(10_000, 0.9), 1)
    909.9
    """
    missed = 1.0 - coverage
    return max(0.0, missed * n_rows - (1.0 - missed) / sets.STEP - missed * (1 + n_waiting))
