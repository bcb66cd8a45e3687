"""What all online boosters share: River's protocol around the cascade.

A call is read and checked whole before anything is learned, so bad input changes nothing. Then the block is cut at
the rows that bring a new label, feature or category, and each piece goes through the cascade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from river import base

from ocoboost import tables
from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade import Cascade, PooledVotes, modes
from ocoboost.encoding import Additions, Label, Labels, Row, Schema, as_label
from ocoboost.errors import BrokenModelError, InvalidInputError, WeakLearnerError
from ocoboost.oco.players import PLAYERS
from ocoboost.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters, invalid
from ocoboost.randomness import PREDICT, draw_label, fresh_seed, uniform
from ocoboost.regimes import Regime
from ocoboost.weak import foreign
from ocoboost.weak.contract import WeakEnsemble


@dataclass
class State:
    """All that a booster has learned."""

    cascade: Cascade
    ensemble: WeakEnsemble
    labels: Labels
    schema: Schema = field(default_factory=Schema)
    n_rows: int = 0
    broken: str = ""  # why no more may be learned


class OnlineBooster(base.MiniBatchClassifier):
    """Base of the boosters that play an online convex optimization game for every row."""

    regime: ClassVar[Regime]
    ranges: ClassVar[Mapping[str, Range]] = {
        "n_learners": Count(1),
        "gamma": Between(0.0, 1.0, closed="right", hint="smaller means weaker learners"),
        "relabel": OneOf("fractional", "random"),
        "votes": OneOf("label", "distribution"),
        "pool": OneOf("label", "distribution"),
        "start": OneOf("uniform", "label"),
        "player": OneOf(*PLAYERS),
        "step_size": AnyOf(OneOf(None, "optimal"), Between(0.0, float("inf"), closed="neither")),
        "n_jobs": AnyOf(Count(1), Count(-1, below=0, hint="-1 means all cores")),
        "seed": AnyOf(OneOf(None), Count(0, below=2**64)),
    }

    def __init__(
        self,
        learner: Any = None,
        *,
        n_learners: int = 100,
        gamma: float = 0.5,
        relabel: str = "fractional",
        votes: str = "label",
        pool: str = "label",
        start: str = "uniform",
        player: str = "gradient",
        step_size: float | str | None = None,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        self.learner = learner
        self.n_learners = n_learners
        self.gamma = gamma
        self.relabel = relabel
        self.votes = votes
        self.pool = pool
        self.start = start
        self.player = player
        self.step_size = step_size
        self.classes = classes
        self.n_jobs = n_jobs
        self.seed = seed
        self._state: State | None = None

    # -- learning ------------------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any, *, w: float = 1.0) -> None:
        """Learn one row with label ``y`` and weight ``w``."""
        self._learn([tables.read_row(x)], [as_label(y, 0)], tables.read_weights(w, 1))

    def learn_many(self, X: Any, y: Any, *, w: Any = None) -> None:
        """Learn a block of rows; the same bits as ``learn_one`` on each of them in turn."""
        self._learn(*self._read(X, y, w))

    def predict_learn_many(self, X: Any, y: Any, *, w: Any = None) -> list[Label | None]:
        """Predict each row, then learn it; None for rows before the first label was ever seen."""
        predictions: list[Label | None] = []
        self._learn(*self._read(X, y, w), see=lambda state, pooled: predictions.extend(self._modes(state, pooled)))
        return predictions

    def reset(self) -> None:
        """Forget everything that was learned."""
        self._state = None

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The label distribution D: the scaled votes, projected onto the simplex. Empty before the first label."""
        state, pooled = self._poll([tables.read_row(x)])
        return dict(zip(state.labels.known, self._distribution(state, pooled)[0].tolist(), strict=True))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The mode of D; ties go to the most votes, then to the label seen first. None before the first label."""
        return self._modes(*self._poll([tables.read_row(x)]))[0]

    def sample_one(self, x: dict[Any, Any]) -> Any:
        """A label drawn from D, as the paper predicts; the draw is fixed by the seed and the rows learned so far."""
        state, pooled = self._poll([tables.read_row(x)])
        if not state.labels.known:
            return None
        draw = uniform(np.uint64(state.cascade.seed), PREDICT, state.n_rows, 0)
        return state.labels.known[draw_label(self._distribution(state, pooled)[0], draw)]

    def vote_shares_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The share of the learners' pooled votes that each label has, before scaling and projection."""
        state, pooled = self._poll([tables.read_row(x)])
        return dict(zip(state.labels.known, self._shares(state, pooled)[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """``predict_proba_one`` of every row, one column per label of ``classes_``."""
        state, pooled = self._poll(tables.read_rows(X))
        return tables.make_matrix(X, state.labels.known, self._distribution(state, pooled))

    def predict_many(self, X: Any) -> Any:
        """``predict_one`` of every row."""
        return tables.make_labels(X, self._modes(*self._poll(tables.read_rows(X))))

    def vote_shares_many(self, X: Any) -> Any:
        """``vote_shares_one`` of every row, one column per label of ``classes_``."""
        state, pooled = self._poll(tables.read_rows(X))
        return tables.make_matrix(X, state.labels.known, self._shares(state, pooled))

    # -- what is known -------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Label]:
        """The labels known so far, in the order of their indices."""
        return list(self._ready().labels.known)

    @property
    def n_rows_(self) -> int:
        """The number of rows learned so far."""
        return self._ready().n_rows

    @property
    def relabel_(self) -> str:
        """The relabelling in force: "random" where the learner takes no weights, whatever was asked for."""
        return self._ready().cascade.relabel

    @property
    def _multiclass(self) -> bool:
        return not foreign.is_binary_river(self.learner)

    def _more_tags(self) -> set[str]:
        return set(getattr(self.learner, "_tags", ()))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import tree

        yield {"learner": tree.HoeffdingTreeClassifier(grace_period=50), "n_learners": 3}

    # -- inside --------------------------------------------------------------------------------------------------

    def _ready(self) -> State:
        """The state, or a fresh one that is kept only once a row has been accepted for learning."""
        return self._state if self._state is not None else self._begin()

    def _begin(self) -> State:
        check_parameters(self, self.ranges)
        if self.step_size is not None and not PLAYERS[self.player].has_step_size:
            raise invalid(self, "step_size", "be None", self.step_size, f"player {self.player!r} sets its own steps")
        seed = fresh_seed() if self.seed is None else int(self.seed)
        labels = self._closed_or_growing_labels()
        ensemble = self._make_ensemble(seed, len(labels))
        if ensemble.max_classes is not None and len(labels) > ensemble.max_classes:
            hint = f"{ensemble.name} tells only two labels apart; wrap it in river.multiclass.OneVsRestClassifier"
            raise invalid(self, "classes", "hold at most 2 labels", self.classes, hint)
        cascade = Cascade(
            regime=self.regime,
            gamma=float(self.gamma),
            n_learners=int(self.n_learners),
            relabel=self.relabel if ensemble.takes_weights else "random",
            votes=self.votes,
            start=self.start,
            player=self.player,
            step_size=self.step_size,
            seed=seed,
        )
        return State(cascade, ensemble, labels)

    def _closed_or_growing_labels(self) -> Labels:
        if self.classes is None:
            return Labels()
        try:
            labels = Labels(self.classes)
        except TypeError as error:  # not iterable, or a label that cannot be one
            raise invalid(self, "classes", "be None or a sequence of labels", self.classes, str(error)) from None
        if isinstance(self.classes, str) or len(labels) == 0 or len(set(labels.known)) < len(labels):
            raise invalid(self, "classes", "be None or a sequence of distinct labels", self.classes)
        return labels

    def _make_ensemble(self, seed: int, n_classes: int) -> WeakEnsemble:
        learner = self.learner
        if learner is None:
            from river import tree

            learner = tree.HoeffdingTreeClassifier()
        if foreign.is_river_like(learner):
            return foreign.RiverEnsemble(learner, int(self.n_learners), seed)
        if foreign.is_sklearn_like(learner):
            if self.classes is None:
                hint = f"{type(learner).__name__} must know all labels before its first partial_fit"
                raise invalid(self, "classes", "be given for a scikit-learn learner", None, hint)
            return foreign.SklearnEnsemble(learner, int(self.n_learners), seed, n_classes)
        must = "be a classifier that can learn online: River's learn_one, or scikit-learn's partial_fit"
        hint = (
            "pass an instance, not a class" if isinstance(learner, type) else "try river.tree.HoeffdingTreeClassifier()"
        )
        raise invalid(self, "learner", must, learner, hint)

    def _read(self, X: Any, y: Any, w: Any) -> tuple[list[Row], list[Label], FloatArray]:
        rows = tables.read_rows(X)
        return rows, tables.read_labels(y, len(rows)), tables.read_weights(w, len(rows))

    def _learn(
        self,
        rows: list[Row],
        labels: list[Label],
        weights: FloatArray,
        *,
        see: Callable[[State, PooledVotes], object] | None = None,
    ) -> None:
        """Check a block whole, cut it, and learn it; ``see`` is shown each row's votes from before it was learned."""
        state = self._ready()
        if state.broken:
            raise BrokenModelError(
                f"{type(self).__name__}: {state.broken}, so a row is only half learned; "
                "call reset(), or reload the model from before."
            )
        new_labels, additions = self._plan(state, rows, labels, weights)
        self._state = state
        cuts = sorted({0, len(rows)} | set(new_labels) | set(additions))
        for first, last in pairwise(cuts):
            if first in new_labels:
                # The prediction for a row that brings a new label is made before that label exists.
                if see is not None:
                    see(*self._poll(rows[first : first + 1]))
                state.labels.add(new_labels[first])
            if first in additions:
                state.schema.apply(additions[first])
            block = state.ensemble.prepare(rows[first:last], state.schema, learning=True)
            indices = state.labels.indices(labels[first:last])
            pooled = self._cascade(state, block, indices, weights[first:last])
            if see is not None:
                see(state, pooled.after(1) if first in new_labels else pooled)

    def _plan(
        self, state: State, rows: list[Row], labels: list[Label], weights: FloatArray
    ) -> tuple[dict[int, Label], dict[int, Additions]]:
        """Everything new in a block, by row; raises, having changed nothing, if the block cannot be learned."""
        ensemble = state.ensemble
        new_labels = state.labels.plan(labels)
        if ensemble.max_classes is not None and len(state.labels) + len(new_labels) > ensemble.max_classes:
            row = sorted(new_labels)[ensemble.max_classes - len(state.labels)]
            raise InvalidInputError(
                f"y: the label at row {row} is {new_labels[row]!r}, the third, and {ensemble.name} tells only two "
                "labels apart; wrap it in river.multiclass.OneVsRestClassifier."
            )
        if not ensemble.takes_weights and np.any(weights != 1.0):
            row = int(np.argmax(weights != 1.0))
            raise InvalidInputError(
                f"w: the weight at row {row} is {float(weights[row])!r}, and {ensemble.name} takes no weights; "
                "leave w out, or boost a learner whose learn_one declares w."
            )
        additions = state.schema.plan(rows)
        ensemble.check(rows, learning=True)
        return new_labels, additions

    def _cascade(self, state: State, block: Sequence[Any], labels: IntArray, weights: FloatArray) -> PooledVotes:
        """One uncut block through the cascade; a failure half way marks the model as broken."""
        state.broken = "learning was interrupted"
        try:
            pooled = state.cascade.learn(state.ensemble, block, labels, weights, len(state.labels), state.n_rows)
        except WeakLearnerError as error:
            error.row += state.n_rows  # from the row of the block to the row of the stream
            state.broken = str(error)
            raise
        state.broken = ""
        state.n_rows += len(labels)
        return pooled

    def _poll(self, rows: list[Row]) -> tuple[State, PooledVotes]:
        state = self._ready()
        n_classes = len(state.labels)
        if n_classes == 0:
            return state, PooledVotes.none(len(rows), 0)
        state.schema.plan(rows)
        state.ensemble.check(rows, learning=False)
        block = state.ensemble.prepare(rows, state.schema, learning=False)
        return state, state.cascade.poll(state.ensemble, block, n_classes)

    def _counts(self, pooled: PooledVotes) -> FloatArray:
        return pooled.of(self.pool)

    def _shares(self, state: State, pooled: PooledVotes) -> FloatArray:
        return self._counts(pooled) / state.cascade.n_learners

    def _distribution(self, state: State, pooled: PooledVotes) -> FloatArray:
        if not state.labels.known:
            return self._counts(pooled)
        return state.cascade.distribution(self._counts(pooled))

    def _modes(self, state: State, pooled: PooledVotes) -> list[Label | None]:
        n_rows = len(pooled.labels)
        if not state.labels.known:
            return [None] * n_rows
        chosen = np.empty(n_rows, dtype=np.int64)
        modes(self._distribution(state, pooled), self._counts(pooled), chosen)
        return [state.labels.known[label] for label in chosen]
