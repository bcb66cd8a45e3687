"""The classifier that needs no tuning: many members on the same stream, and whoever is right decides.

Those that live as long as the stream are cascades of Algorithm 1 that start their games at the label and pool
distributions. The others, and what is made of all their answers, are in ``mixture``; how many there are of each, in
``members.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import AGNOSTIC, SMALLEST_GAMMA, Regime
from ocoboost.cascade.relabelling import Relabelling
from ocoboost.data.costs import read_class_weight, read_costs
from ocoboost.data.labels import Labels
from ocoboost.data.parameters import Count, Range, invalid
from ocoboost.learners.alone import plain_cells
from ocoboost.learners.trees import DEFAULT_SIZE, MAX_SIZE, NativeTrees
from ocoboost.online.accounting import Accountable
from ocoboost.online.booster import GAMMA, LearnerBooster
from ocoboost.online.insight import Insightful
from ocoboost.online.issuing import Issuing
from ocoboost.online.members import Choice, Choices, choose
from ocoboost.online.mixture import standing
from ocoboost.online.mixture.ages import AGES, N_SLOTS, Ages, slots_for
from ocoboost.online.mixture.blend import n_bytes_of
from ocoboost.online.mixture.class_weights import ClassWeights
from ocoboost.online.mixture.drift import Drift, drift_of
from ocoboost.online.mixture.engine import Member, Mixture
from ocoboost.online.mixture.keyed import Keyed
from ocoboost.online.mixture.neighbours import WINDOWS, Neighbours
from ocoboost.online.mixture.sets import PredictionSets
from ocoboost.online.mixture.suspects import N_SUSPECTS, Suspects
from ocoboost.online.saying import check_coverages
from ocoboost.randomness import member_seed
from ocoboost.stream.state import SHARE_OF_LEARNERS, SHARE_OF_LEDGER, State, left_for_members
from ocoboost.stream.told import n_threads
from ocoboost.theory.classes import Searchable
from ocoboost.theory.meters import Account

AUTO = "auto"
MOST_SUSPECTS = 100_000
FIRST_SLOT = 1000  # numbers the seeds of the members of every age, after any number of others


class OnlineBoostClassifier(Issuing, LearnerBooster, Accountable, Insightful):
    """Boosting on a stream with nothing to tune: many members side by side, mixed by how well they do.

    The members are boosters of Algorithm 1 (Raman & Tewari, 2022) with several learners and gammas, one learner that is
    not boosted, forests of every age, the nearest of the latest rows, and the last label. The mixture is expected to
    make few more mistakes than any of them, on the whole stream and on any interval (`ocoboost.online.mixture.bounds`).

    Parameters
    ----------
    learner
        "auto" for boosters of both kinds of native trees, or one weak learner over several gammas: `HoeffdingTrees`,
        `MondrianTrees`, any River classifier, or a scikit-learn classifier with `partial_fit` (which needs `classes`).
        The latter two are cloned.
    gammas
        The advantages to try with every learner, each in (0, 1]; None for those that were found to do well.
    budget
        The number of weak learners in all, shared out among the boosters.
    max_size
        Memory for all that the model holds, in MiB; None for no limit. A Mondrian tree gets six times the share of a
        Hoeffding tree, which grows more slowly. A tree that has used its share up grows no more, and goes on learning
        in the nodes it has. River's and scikit-learn's learners are not limited.
    n_suspects
        How many rows `suspects_` keeps, at most; fewer where memory is short, none with 0.
    class_weight
        None, "balanced", or {label: weight}. Rows with a label weigh more or less than others; "balanced" lets all
        labels weigh the same, whatever their shares so far. Probabilities are then those of the reweighted stream, so
        with `costs` too, divide those of a true label by its weight.
    costs
        What mistakes cost, as {true label: {predicted label: cost}} or as a matrix in the order of `classes`; what is
        not told costs 1, and a right label 0. `predict_one` then is the label with the least expected cost under the
        probabilities, which stay as they are.
    coverages
        The levels of the prediction sets: of the rows, about this share has its label in the set.
    ledger_size
        How many predictions with a key are kept while they wait for their labels. They take at most a 32nd of
        `max_size`.
    classes
        All labels, if known. If None the label set grows: a row's game is over the labels seen up to and including it.
    n_jobs
        Threads for native trees; -1 for all cores. River and scikit-learn learners hold the GIL and run on one
        thread. The results do not depend on it.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import OnlineBoostClassifier

    >>> model = OnlineBoostClassifier(seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.ImageSegments().take(500), model, metrics.Accuracy())
    >>> accuracy.get() > 0.85
    True
    >>> max(model.member_weights_, key=model.member_weights_.get)
    'MondrianTrees(smoothing=3.0), gamma=0.7'

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        **{name: LearnerBooster.ranges[name] for name in ("n_jobs", "seed")},
        "budget": Count(1),
        "max_size": MAX_SIZE,
        "n_suspects": Count(0, below=MOST_SUSPECTS + 1),
        "ledger_size": Count(1, below=2**31),
    }

    def __init__(
        self,
        learner: Any = AUTO,
        *,
        gammas: Sequence[float] | None = None,
        budget: int = 270,
        max_size: float | None = DEFAULT_SIZE,
        n_suspects: int = N_SUSPECTS,
        class_weight: str | Mapping[Any, float] | None = None,
        costs: Mapping[Any, Mapping[Any, float]] | Sequence[Sequence[float]] | None = None,
        coverages: Sequence[float] = (0.8, 0.9, 0.95),
        ledger_size: int = 10_000,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.learner = learner
        self.gammas = gammas
        self.budget = budget
        self.max_size = max_size
        self.n_suspects = n_suspects
        self.class_weight = class_weight
        self.costs = costs
        self.coverages = coverages
        self.ledger_size = ledger_size
        self.classes = classes
        self.n_jobs = n_jobs
        self.seed = seed

    @property
    def member_weights_(self) -> dict[str, float]:
        """How much each member of the mixture counts at present, by name."""
        return standing.member_weights(self._mixture())

    @property
    def member_groups_(self) -> dict[str, str]:
        """What each member of the mixture is: long-lived, of an age, neighbours, or the last label."""
        return standing.member_groups(self._mixture())

    @property
    def drift_(self) -> Drift:
        """Whether the stream is changing, and where it did, as far as the members of every age can tell.

        With a `learner` of one's own, or a `budget` below 30, there are none, and no change is ever noticed.
        """
        return drift_of(self._mixture().watch)

    @property
    def voters_(self) -> dict[str, float]:
        """How much each voter is trusted before anything is known, by name: blends of the members, then these."""
        return standing.voters(self._mixture())

    def account(self, hypotheses: Searchable | None = None, *, most_rows: int | None = None) -> Account:
        if self.class_weight is not None:
            raise invalid(self, "class_weight", "be None for an account", self.class_weight, "it is of rows as given")
        return super().account(hypotheses, most_rows=most_rows)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import tree

        yield {"budget": 25}
        yield {"learner": tree.HoeffdingTreeClassifier(grace_period=50), "gammas": (0.5,), "budget": 3}

    def _named_learner(self) -> Any:
        return None if isinstance(self.learner, str) and self.learner == AUTO else self.learner

    def _checked_labels(self) -> Labels:
        if self.learner is None:
            raise invalid(self, "learner", "be a weak learner", None, '"auto" leaves the choice to the mixture')
        labels = super()._checked_labels()
        if self.gammas is not None:
            must = "be None or a sequence of numbers in (0, 1]"
            try:
                gammas = list(self.gammas)
            except TypeError:
                raise invalid(self, "gammas", must, self.gammas) from None
            if not gammas or not all(gamma in GAMMA for gamma in gammas):
                raise invalid(self, "gammas", must, self.gammas, GAMMA.hint)
        check_coverages(self)
        read_costs(self)
        read_class_weight(self)
        return labels

    def _begin(self) -> State:
        labels, seed = self._checked_labels(), self._root_seed()
        gammas = None if self.gammas is None else [float(gamma) for gamma in self.gammas]
        max_size = None if self.max_size is None else float(self.max_size)
        choices = self._choices(gammas, max_size)
        n_jobs = n_threads(self.n_jobs)
        n_tasks = len(choices.long_lived) + sum(map(len, choices.young))
        spreads = n_tasks >= 3 * n_jobs  # members over threads; else the learners of one member after another
        members = [
            self._member(choice, member_seed(seed, number), labels, 1 if spreads else n_jobs)
            for number, choice in enumerate(choices.long_lived)
        ]
        ages = [self._ages(young, seed, FIRST_SLOT + kind * N_SLOTS) for kind, young in enumerate(choices.young)]
        mixture = Mixture(
            members,
            ages,
            self._neighbours(choices),
            n_jobs if spreads else 1,
            self._suspects(choices, bool(ages)),
            prediction_sets=PredictionSets([float(level) for level in self.coverages], len(labels)),
            keyed=Keyed(int(self.ledger_size), None if max_size is None else SHARE_OF_LEDGER * max_size * 2**20),
            class_weights=self._class_weights(members, labels),
        )
        state = State(mixture, labels, seed, costs=read_costs(self), ledger_share=SHARE_OF_LEDGER)
        return state.limited(max_size)

    def _class_weights(self, members: Sequence[Member], labels: Labels) -> ClassWeights:
        for member in members:
            if self.class_weight is not None and not member.cascade.ensemble.takes_weights:
                hint = f"{member.cascade.ensemble.name} takes no weights"
                raise invalid(self, "class_weight", "be None for such a learner", self.class_weight, hint)
        return ClassWeights(labels, read_class_weight(self))

    def _choices(self, gammas: list[float] | None, max_size: float | None) -> Choices:
        """The members; what the mixture's own weights take is not theirs."""
        choices = choose(self._named_learner(), gammas, int(self.budget), None)
        if max_size is None:
            return choices
        n_long, n_ages = len(choices.long_lived) + 1, len(AGES) * len(choices.young)
        n_windows = 0 if self._named_learner() is not None else len(WINDOWS)
        own_bytes = n_bytes_of(n_long, n_long + n_ages + n_windows + 1, n_ages, len(AGES) if n_ages else 0)
        own_bytes += PredictionSets([float(level) for level in self.coverages]).n_bytes
        left = left_for_members(max_size * 2**20, own_bytes) / 2**20
        return choose(self._named_learner(), gammas, int(self.budget), left)

    def _neighbours(self, choices: Choices) -> Neighbours | None:
        if self._named_learner() is not None:
            return None
        size = choices.neighbours_size
        return Neighbours(None if size is None else SHARE_OF_LEARNERS * size * 2**20)

    def _suspects(self, choices: Choices, is_judged: bool) -> Suspects:
        size = choices.suspects_size
        max_bytes = None if size is None else SHARE_OF_LEARNERS * size * 2**20
        return Suspects(int(self.n_suspects), max_bytes, is_judged=is_judged)

    def _ages(self, choices: Sequence[Choice], seed: int, first_seed: int) -> Ages:
        def make(number: int, seed: int) -> Cascade:
            choice = choices[number]
            trees = choice.learner.clone({"max_size": choice.max_size})
            return Cascade(plain_cells(choice.n_learners, seed), trees.make_ensemble(choice.n_learners, seed))

        seeds = [member_seed(seed, first_seed + number) for number in range(len(choices))]
        return Ages(slots_for(make, seeds), type(choices[0].learner).__name__)

    def _member(self, choice: Choice, seed: int, labels: Labels, n_jobs: int) -> Member:
        is_limited = isinstance(choice.learner, NativeTrees)
        learner = choice.learner.clone({"max_size": choice.max_size}) if is_limited else choice.learner
        ensemble = self._ensemble(learner, choice.n_learners, seed, labels)
        cells = Relabelling(
            regime=Regime(AGNOSTIC),
            gamma=max(choice.gamma, SMALLEST_GAMMA),
            n_learners=choice.n_learners,
            relabel="fractional" if ensemble.takes_weights else "random",
            votes="label",
            pool="distribution",
            start="label",
            player="gradient",
            step_size=None,
            seed=seed,
        )
        return Member(choice.name, Cascade(cells, ensemble, n_jobs), choice.is_boosted)
