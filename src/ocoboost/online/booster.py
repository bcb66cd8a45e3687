"""What all online boosters share: parameters, and River's protocol around the state.

A call is read and checked whole before anything is learned, so bad input changes nothing. Parameters are checked at
first use and fixed from then on; ``reset`` lets changed ones take effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from river import base

from ocoboost import tables
from ocoboost.arrays import FloatArray
from ocoboost.cascade import Cascade, PooledVotes
from ocoboost.encoding import Label, Labels, Row
from ocoboost.errors import BrokenModelError, InvalidInputError
from ocoboost.oco.players import PLAYERS
from ocoboost.online.state import State
from ocoboost.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters, invalid
from ocoboost.randomness import PREDICT, draw_label, fresh_seed, uniform
from ocoboost.regimes import Regime
from ocoboost.weak import foreign

# Below this the prediction is the plurality for any number of learners, and squares would overflow.
SMALLEST_GAMMA = 1e-100


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
        "step_size": AnyOf(OneOf(None, "optimal"), Between(0.0, 1e100, closed="right")),
        "n_jobs": AnyOf(OneOf(-1), Count(1), hint="-1 means all cores"),
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
        with self._naming():
            rows, labels, weights = [tables.read_row(x)], [tables.read_label(y)], tables.read_weights(w, 1)
        self._learn(rows, labels, weights)

    def learn_many(self, X: Any, y: Any, *, w: Any = None) -> None:
        """Learn a block of rows; the same bits as ``learn_one`` on each of them in turn."""
        self._learn(*self._read(X, y, w))

    def predict_learn_many(self, X: Any, y: Any, *, w: Any = None) -> list[Label | None]:
        """Predict each row, then learn it; None for rows before the first label was ever seen."""
        predictions: list[Label | None] = []
        self._learn(*self._read(X, y, w), see=lambda state, pooled: predictions.extend(state.modes(pooled)))
        return predictions

    def check_parameters(self) -> None:
        """Raise `InvalidParameterError` now, rather than at first use, if a parameter is out of its range."""
        self._checked_labels()

    def reset(self) -> None:
        """Forget everything that was learned. Parameters changed since then take effect."""
        self._state = None

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The label distribution D: the scaled votes, projected onto the simplex. Empty before the first label."""
        known, distribution = self._ask_one(x, Cascade.label_distribution)
        return dict(zip(known, distribution.tolist(), strict=True))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The mode of D; ties go to the most votes, then to the label seen first. None before the first label."""
        known, label = self._ask_one(x, Cascade.predicted_labels)
        return known[int(label)] if known else None

    def sample_one(self, x: dict[Any, Any]) -> Any:
        """A label drawn from D, as the paper predicts; the draw is fixed by the seed and the rows learned so far."""
        known, label = self._ask_one(x, self._draw)
        return known[int(label)] if known else None

    def vote_shares_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The share of the learners' pooled votes that each label has, before scaling and projection."""
        known, shares = self._ask_one(x, Cascade.vote_shares)
        return dict(zip(known, shares.tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """``predict_proba_one`` of every row, one column per label of ``classes_``."""
        return tables.make_matrix(X, *self._ask(self._read_rows(X), Cascade.label_distribution))

    def predict_many(self, X: Any) -> Any:
        """``predict_one`` of every row."""
        known, labels = self._ask(self._read_rows(X), Cascade.predicted_labels)
        return tables.make_labels(X, [known[label] for label in labels] if known else [None] * len(labels))

    def vote_shares_many(self, X: Any) -> Any:
        """``vote_shares_one`` of every row, one column per label of ``classes_``."""
        return tables.make_matrix(X, *self._ask(self._read_rows(X), Cascade.vote_shares))

    # -- what is known -------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Label]:
        """The labels known so far, in the order of their indices."""
        return list(self._state.labels.known if self._state is not None else self._checked_labels().known)

    @property
    def n_rows_(self) -> int:
        """The number of rows learned so far."""
        return 0 if self._state is None else self._state.n_rows

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

    # -- beginning -----------------------------------------------------------------------------------------------

    def _ready(self) -> State:
        """The state, or a fresh one that is kept only once a row has been accepted for learning."""
        return self._state if self._state is not None else self._begin()

    def _begin(self) -> State:
        labels = self._checked_labels()
        seed = fresh_seed() if self.seed is None else int(self.seed)
        try:
            ensemble = foreign.make_ensemble(self._learner(), int(self.n_learners), seed, len(labels))
        except Exception as error:
            hint = f"cloning it raised {type(error).__name__}: {error}"
            raise invalid(self, "learner", "be a classifier that can be cloned", self.learner, hint) from error
        if ensemble.max_classes is not None and len(labels) > ensemble.max_classes:
            must = f"hold at most {ensemble.max_classes} labels"
            raise invalid(self, "classes", must, self.classes, f"{ensemble.name} tells no more apart")
        cascade = Cascade(
            regime=self.regime,
            gamma=max(float(self.gamma), SMALLEST_GAMMA),
            n_learners=int(self.n_learners),
            relabel=self.relabel if ensemble.takes_weights else "random",
            votes=self.votes,
            pool=self.pool,
            start=self.start,
            player=self.player,
            step_size=self.step_size,
            seed=seed,
        )
        return State(cascade, ensemble, labels)

    def _checked_labels(self) -> Labels:
        """The labels known from the start, once every parameter is known to be in its range."""
        check_parameters(self, self.ranges)
        if self.step_size is not None and not PLAYERS[self.player].has_step_size:
            raise invalid(self, "step_size", "be None", self.step_size, f"player {self.player!r} sets its own steps")
        learner = self._learner()
        if not foreign.is_river_like(learner):
            if not foreign.is_sklearn_like(learner):
                must = "be a classifier that can learn online: River's learn_one, or scikit-learn's partial_fit"
                isclass = isinstance(learner, type)
                hint = "pass an instance, not a class" if isclass else "try river.tree.HoeffdingTreeClassifier()"
                raise invalid(self, "learner", must, learner, hint)
            if self.classes is None or len(self.classes) < 2:
                hint = f"{type(learner).__name__} must know all labels before its first partial_fit"
                raise invalid(self, "classes", "name two or more labels for a scikit-learn learner", self.classes, hint)
        if self.classes is None:
            return Labels()
        must = "be None or a sequence of distinct labels"
        if isinstance(self.classes, str | Set | Mapping):  # a set's order is not repeatable
            raise invalid(self, "classes", must, self.classes)
        try:
            labels = Labels(self.classes)
        except TypeError as error:  # not iterable, or a label that cannot be one
            raise invalid(self, "classes", must, self.classes, str(error)) from None
        if len(labels) == 0 or len(set(labels.known)) < len(labels):
            raise invalid(self, "classes", must, self.classes)
        return labels

    def _learner(self) -> Any:
        if self.learner is not None:
            return self.learner
        from river import tree

        return tree.HoeffdingTreeClassifier()

    # -- inside --------------------------------------------------------------------------------------------------

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Put the class in front of what is wrong with its input."""
        try:
            yield
        except InvalidInputError as error:
            raise InvalidInputError(f"{type(self).__name__}: {error}") from None

    def _read_rows(self, X: Any) -> list[Row]:
        with self._naming():
            return tables.read_rows(X)

    def _read(self, X: Any, y: Any, w: Any) -> tuple[list[Row], list[Label], FloatArray]:
        rows = self._read_rows(X)
        with self._naming():
            return rows, tables.read_labels(y, len(rows)), tables.read_weights(w, len(rows))

    def _learn(
        self,
        rows: list[Row],
        labels: list[Label],
        weights: FloatArray,
        *,
        see: Callable[[State, PooledVotes], object] | None = None,
    ) -> None:
        """Check a block whole, then learn it."""
        state = self._ready()
        if state.broken:
            raise BrokenModelError(
                f"{type(self).__name__}: {state.broken}, so rows from there on may be partly learned; "
                "call reset(), or reload the model from before."
            )
        with self._naming():
            plan = state.plan(rows, labels, weights)
        if rows:
            self._state = state
            state.learn(rows, labels, weights, plan, see)

    def _ask(self, rows: list[Row], answer: Callable[[Cascade, PooledVotes], Any]) -> tuple[list[Label], Any]:
        """The labels known, and ``answer`` to the learners' votes on these rows."""
        if self._state is None and not len(self._checked_labels()):
            return [], np.zeros((len(rows), 0))
        state = self._ready()
        with self._naming():
            state.check(rows)
        return state.labels.known, answer(state.cascade, state.poll(rows))

    def _ask_one(self, x: Any, answer: Callable[[Cascade, PooledVotes], Any]) -> tuple[list[Label], Any]:
        with self._naming():
            row = tables.read_row(x)
        known, answers = self._ask([row], answer)
        return known, answers[0]

    def _draw(self, cascade: Cascade, pooled: PooledVotes) -> list[int]:
        draw = uniform(np.uint64(cascade.seed), PREDICT, self.n_rows_, 0)
        return [draw_label(distribution, draw) for distribution in cascade.label_distribution(pooled)]
