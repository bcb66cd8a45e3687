"""What all online boosters share: weak learners, labels, and how a state is made of them.

A booster is a subclass that says what its cells are (``make_cells``); the rest follows: River's protocol, the block
law, threads, saving, the scikit-learn wrapper. See CONTRIBUTING.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.cells import Cells
from ocoboost.cascade.contract import WeakEnsemble
from ocoboost.data.labels import Labels
from ocoboost.data.parameters import Between, Range, check_parameters, invalid
from ocoboost.errors import InvalidParameterError
from ocoboost.learners import foreign
from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
from ocoboost.learners.trees import NativeTrees
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State
from ocoboost.stream.told import labels_known, n_threads

GAMMA = Between(0.0, 1.0, closed="right", hint="smaller means weaker learners")


class LearnerBooster(StreamClassifier):
    """Base of everything that boosts: the weak learner and the labels."""

    ranges: ClassVar[Mapping[str, Range]] = StreamClassifier.shared_ranges
    learner: Any
    classes: Sequence[Any] | None

    @property
    def _multiclass(self) -> bool:
        return not foreign.is_binary_river(self.learner)

    def _more_tags(self) -> set[str]:
        return set(getattr(self.learner, "_tags", ()))

    def _named_learner(self) -> Any:
        """The learner that was given; None if the booster chooses it."""
        return self.learner

    def _ensemble(self, learner: Any, n_learners: int, seed: int, labels: Labels) -> WeakEnsemble:
        """Fresh learners."""
        try:
            if hasattr(learner, "make_ensemble"):
                ensemble: WeakEnsemble = learner.make_ensemble(n_learners, seed)
            else:
                ensemble = foreign.make_ensemble(learner, n_learners, seed, len(labels))
        except InvalidParameterError:
            raise
        except Exception as error:
            hint = f"cloning it raised {type(error).__name__}: {error}"
            raise invalid(self, "learner", "be a classifier that can be cloned", self.learner, hint) from error
        if ensemble.max_classes is not None and len(labels) > ensemble.max_classes:
            must = f"hold at most {ensemble.max_classes} labels"
            raise invalid(self, "classes", must, self.classes, f"{ensemble.name} cannot learn more")
        return ensemble

    def _checked_labels(self) -> Labels:
        """Check every parameter; returns the labels known from the start."""
        check_parameters(self, self.ranges)
        learner = self._named_learner()
        if learner is not None and not foreign.is_river_like(learner):
            if not foreign.is_sklearn_like(learner):
                must = "be a classifier that can learn online: River's learn_one, or scikit-learn's partial_fit"
                isclass = isinstance(learner, type)
                hint = "pass an instance, not a class" if isclass else "try HoeffdingTrees()"
                raise invalid(self, "learner", must, learner, hint)
            if self.classes is None or len(self.classes) < 2:
                hint = f"{type(learner).__name__} must know all labels before its first partial_fit"
                raise invalid(self, "classes", "name two or more labels for a scikit-learn learner", self.classes, hint)
        return labels_known(self)


class OnlineBooster(LearnerBooster):
    """Base of the boosters that are one cascade."""

    n_learners: int
    n_jobs: int

    @abstractmethod
    def make_cells(self, *, n_learners: int, seed: int, takes_weights: bool) -> Cells[Any, Any]:
        """What the booster does in a cell of its cascade; ``takes_weights`` tells whether the learners do."""

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import tree

        yield {"n_learners": 5}
        yield {"learner": tree.HoeffdingTreeClassifier(grace_period=50), "n_learners": 3}

    def _begin(self) -> State:
        labels, seed, n_learners = self._checked_labels(), self._root_seed(), int(self.n_learners)
        learner = HoeffdingTrees() if self.learner is None else self.learner
        ensemble = self._ensemble(learner, n_learners, seed, labels)
        cells = self.make_cells(n_learners=n_learners, seed=seed, takes_weights=ensemble.takes_weights)
        state = State(Cascade(cells, ensemble, n_threads(self.n_jobs)), labels, seed)
        return state.limited(learner.max_size) if isinstance(learner, NativeTrees) else state
