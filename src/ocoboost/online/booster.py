"""What all online boosters share: their parameters, and how a state is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.cascade import Cascade
from ocoboost.encoding import Labels
from ocoboost.errors import InvalidParameterError
from ocoboost.oco.players import PLAYERS
from ocoboost.online.hoeffding import HoeffdingTrees
from ocoboost.online.portfolio import AUTO, Choice
from ocoboost.online.protocol import StreamClassifier, labels_known, n_threads
from ocoboost.online.state import Member, State
from ocoboost.parameters import AnyOf, Between, OneOf, Range, check_parameters, invalid
from ocoboost.randomness import member_seed
from ocoboost.regimes import SMALLEST_GAMMA, Regime
from ocoboost.theory.classes import QuantileStumps, Searchable
from ocoboost.theory.meters import Account
from ocoboost.weak import foreign
from ocoboost.weak.contract import WeakEnsemble

GAMMA = Between(0.0, 1.0, closed="right", hint="smaller means weaker learners")


class LearnerBooster(StreamClassifier):
    """Base of all boosters: the weak learners and the labels."""

    ranges: ClassVar[Mapping[str, Range]]
    chooses: ClassVar[bool] = False  # whether the learner may be "auto"
    learner: Any
    classes: Sequence[Any] | None

    @property
    def _multiclass(self) -> bool:
        return not foreign.is_binary_river(self.learner)

    def _more_tags(self) -> set[str]:
        return set(getattr(self.learner, "_tags", ()))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import tree

        yield {"n_learners": 5}
        yield {"learner": tree.HoeffdingTreeClassifier(grace_period=50), "n_learners": 3}

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
            raise invalid(self, "classes", must, self.classes, f"{ensemble.name} tells no more apart")
        return ensemble

    def _checked_labels(self) -> Labels:
        """The labels known from the start, once every parameter is known to be in its range."""
        check_parameters(self, self.ranges)
        learner = self.learner
        if isinstance(learner, str) and learner == AUTO and self.chooses:
            learner = None
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
    """Base of the boosters that play an online convex optimization game for every row."""

    regime: ClassVar[Regime]
    ranges: ClassVar[Mapping[str, Range]] = {
        **LearnerBooster.shared_ranges,
        "gamma": GAMMA,
        "relabel": OneOf("fractional", "random"),
        "votes": OneOf("label", "distribution"),
        "pool": OneOf("label", "distribution"),
        "start": OneOf("uniform", "label"),
        "player": OneOf(*PLAYERS),
        "step_size": AnyOf(OneOf(None, "optimal"), Between(0.0, 1e100, closed="right")),
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
        super().__init__()
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

    # -- what is known -------------------------------------------------------------------------------------------

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for parameters in super()._unit_test_params():
            yield {**parameters, "gamma": 0.5} if "learner" in parameters else parameters

    @property
    def relabel_(self) -> str:
        """The relabelling in force: "random" where the learner takes no weights, whatever was asked for."""
        cascade = self._ready().members[0].cascade
        assert isinstance(cascade, Cascade)
        return cascade.relabel

    def account(self, hypotheses: Searchable | None = None, *, most_rows: int | None = None) -> Account:
        """Keep what the learners say from the next row on; the account tells where the regret comes from.

        ``hypotheses`` is the class to compare with; None stands for stumps on a grid of 16 quantiles. A vote takes one
        byte of memory (two above 256 labels, eight per label if players see distributions), a row that of its features;
        after ``most_rows`` rows no more is kept.

        >>> from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
        >>> from ocoboost.bench import synthetic
        >>> stream = synthetic.load("axis rule", 500, seed=1)
        >>> model = OnlineAgnosticBoostClassifier(
        ...     HoeffdingTrees(), gamma=0.5, n_learners=10, classes=["00", "01", "02"], seed=1
        ... )
        >>> account = model.account()
        >>> model.learn_many([x for x, _ in stream.rows], [y for _, y in stream.rows])
        >>> report = account.report(stream.best_labels)
        >>> abs(report.regret - report.parts.regret) < 1e-9
        True
        """
        if self._state is None:
            self._state = self._begin()
        record = self._state.start_recording(most_rows)
        return Account(record, self._state.labels, QuantileStumps() if hypotheses is None else hypotheses)

    # -- beginning -----------------------------------------------------------------------------------------------

    def _begin(self) -> State:
        labels = self._checked_labels()
        seed = self._root_seed()
        choices = self._choices()
        seeds = [seed] if len(choices) == 1 else [member_seed(seed, number) for number in range(len(choices))]
        members = [self._member(choice, seed, labels) for choice, seed in zip(choices, seeds, strict=True)]
        return State(members, labels, seed)

    def _choices(self) -> list[Choice]:
        """The members to run side by side."""
        learner = HoeffdingTrees() if self.learner is None else self.learner
        return [Choice(learner, float(self.gamma), int(self.n_learners), self.start, self.votes, self.pool)]

    def _member(self, choice: Choice, seed: int, labels: Labels) -> Member:
        limit = {} if choice.max_size is None else {"max_size": choice.max_size}
        ensemble = self._ensemble(
            choice.learner.clone(limit) if limit else choice.learner, choice.n_learners, seed, labels
        )
        cascade = Cascade(
            regime=self.regime,
            gamma=max(choice.gamma, SMALLEST_GAMMA),
            n_learners=choice.n_learners,
            relabel=self.relabel if ensemble.takes_weights else "random",
            votes=choice.votes,
            pool=choice.pool,
            start=choice.start,
            player=self.player,
            step_size=self.step_size,
            seed=seed,
            n_jobs=n_threads(self.n_jobs),
        )
        return Member(cascade, ensemble)

    def _checked_labels(self) -> Labels:
        labels = super()._checked_labels()
        if self.step_size is not None and not PLAYERS[self.player].has_step_size:
            raise invalid(self, "step_size", "be None", self.step_size, f"player {self.player!r} sets its own steps")
        return labels
