"""What the laws of blocks are checked with: all that a model knows, and the two ways to go through a stream."""

from __future__ import annotations

import warnings

from model_files import bits
from ocoboost.cascade.native import NativeEnsemble
from ocoboost.errors import HazardWarning
from ocoboost.online.mixture.engine import Mixture

PROBES = [{}, {"a": 0.5}, {"a": -2, "b": 1.0, "c": "red"}, {"c": "violet", "d": 3}]


def learned(model, probes=PROBES):
    """Everything the model knows, in a form that == compares exactly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HazardWarning)  # the probes may have none of its columns
        return _learned(model, probes)


def _learned(model, probes):
    state = model.state_
    return (
        state.labels.known,
        state.schema.kinds,
        state.schema.categories,
        state.schema.columns,
        list(state.schema.others),
        {name: [array.tobytes() for array in counts.state()] for name, counts in state.schema.statistics.items()},
        state.n_rows,
        [state_of_learners(cascade.ensemble) for cascade in state.engine.cascades],
        [{name: array.tobytes() for name, array in c.cells.state().items()} for c in state.engine.cascades],
        state_of_mixture(state.engine) if isinstance(state.engine, Mixture) else None,
        [model.predict_proba_one(x) for x in probes],
        [model.vote_shares_one(x) for x in probes],
        [model.sample_one(x) for x in probes],
    )


def state_of_mixture(mixture):
    """What is known beside the long-lived members: weights, the watch, all ages, neighbours, the last label."""
    if not all(isinstance(cascade.ensemble, NativeEnsemble) for cascade in mixture.cascades):
        assert not mixture.ages  # so that nothing is left out
        own = [list(mixture.weights), list(mixture.watch), mixture.prediction_sets.state(), mixture.keyed.state()]
        return bits([*own, mixture.n_rows, mixture.last_label])
    known = mixture.state()
    known.pop("members")  # are compared by themselves
    return bits(known)


def state_of_learners(ensemble):
    if hasattr(ensemble, "learners"):
        return [vars(learner) for learner in ensemble.learners]
    return bits(ensemble.state())  # whatever the size of its arrays


def row_by_row(model, stream):
    predictions = []
    for x, y, w in stream:
        predictions.append(model.predict_one(x))
        model.learn_one(x, y, w=w)
    return predictions


def block_by_block(model, stream, blocks):
    predictions = []
    for first, last in blocks:
        x, y, w = zip(*stream[first:last], strict=True)
        predictions += model.predict_learn_many(list(x), list(y), w=list(w))
    return predictions
