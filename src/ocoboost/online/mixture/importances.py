"""Which features the votes of the native trees rest on, weighted by how much each member counts at present.

Nothing is kept for this while rows are learned. It is read off the trees: the evidence that their splits, and the naive
Bayes of their leaves, give for the labels (``learners.evidence``). Every member's adds up to one before it is weighted,
so that after a change those who know the new concept decide here as they do in the votes, however few rows they saw.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.cascade.contract import WeakEnsemble
from ocoboost.data.schema import Schema
from ocoboost.learners.hoeffding import importances as hoeffding
from ocoboost.learners.hoeffding.ensemble import HoeffdingEnsemble
from ocoboost.learners.mondrian import importances as mondrian
from ocoboost.learners.mondrian.ensemble import MondrianEnsemble
from ocoboost.online.mixture.ages import AGES, UNBORN
from ocoboost.online.mixture.clock import LEAST_ORDER
from ocoboost.online.mixture.engine import Mixture
from ocoboost.online.mixture.standing import member_weights


def importances(mixture: Mixture, schema: Schema, n_classes: int) -> dict[Hashable, float]:
    """Each feature's share, most important first; all are 0 while no tree has found anything."""
    total = np.zeros(len(schema.columns))
    for weight, ensemble in _trees(mixture):
        total += weight * _shares(ensemble, len(schema.columns), n_classes)
    by_name = dict.fromkeys(schema.kinds, 0.0)
    for column, share in zip(schema.columns, total.tolist(), strict=True):
        by_name[column.name] += share  # label shares belong to the text that they are made from
    sum_of_all = sum(by_name.values())
    shares = {name: share / sum_of_all if sum_of_all > 0.0 else 0.0 for name, share in by_name.items()}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _trees(mixture: Mixture) -> list[tuple[float, WeakEnsemble]]:
    """The ensembles of the members that have one, with their weights."""
    weights = list(member_weights(mixture).values())
    found = [(weights[number], cascade.ensemble) for number, cascade in enumerate(mixture.cascades)]
    for kind, ages in enumerate(mixture.ages):
        first = len(mixture.cascades) + kind * len(AGES)
        for slot in ages.slots:
            age = (mixture.n_rows - slot.born).bit_length() - 1 - LEAST_ORDER
            if slot.born != UNBORN and 0 <= age < len(AGES) and mixture.n_rows - slot.born < slot.period:
                found.append((weights[first + age], slot.cascade.ensemble))
    return found


def _shares(ensemble: WeakEnsemble, n_columns: int, n_classes: int) -> FloatArray:
    """Each column's share of what an ensemble knows; zeros if that is nothing, or if its trees are not native."""
    shares: FloatArray = np.zeros(n_columns)
    if isinstance(ensemble, MondrianEnsemble):
        evidence = mondrian.split_evidence(ensemble.trees, n_classes)
    elif isinstance(ensemble, HoeffdingEnsemble):
        evidence = hoeffding.split_evidence(ensemble.trees, ensemble.rules, n_classes)
    else:
        return shares
    source, _ = ensemble.places()
    is_known = source >= 0
    np.add.at(shares, source[is_known], evidence[is_known])
    shares = np.maximum(shares, 0.0)
    return shares / shares.sum() if shares.sum() > 0.0 else shares
