"""Online agnostic boosting (Algorithm 1), with or without a choice of learner and gamma.

Each row's player moves on the simplex of labels: it starts at the true label (or at the uniform distribution), sees
the learners' votes one by one, and learner i is taught the distribution it then plays. The more learners are wrong,
the more of it lies on the true label. Prediction projects the scaled votes onto the simplex.

Left to choose, several such boosters run side by side and are mixed (see ``mixture``).

Cost per row: a vote and a lesson of every learner, and on average O(n_learners * n_classes) for the players.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.encoding import Labels
from ocoboost.online.booster import GAMMA, OnlineBooster
from ocoboost.online.hoeffding import HoeffdingTrees
from ocoboost.online.portfolio import AUTO, GAMMAS, Choice, default_members, unboosted
from ocoboost.online.trees import MAX_SIZE, NativeTrees
from ocoboost.parameters import AnyOf, Count, OneOf, Range, invalid
from ocoboost.regimes import AGNOSTIC, Regime


class OnlineAgnosticBoostClassifier(OnlineBooster):
    """Boosting on a stream whose labels nobody promises to be clean (Raman & Tewari, 2022, Algorithm 1).

    The paper's own booster is `OnlineAgnosticBoostClassifier(HoeffdingTrees(max_depth=1, split_criterion="gini"),
    gamma=0.5, n_learners=100, start="uniform", pool="label")`, with `sample_one` for its predictions.

    Parameters
    ----------
    learner
        The weak learner: `HoeffdingTrees`, `MondrianTrees`, any River classifier, or a scikit-learn classifier with
        `partial_fit` (which needs `classes`). The latter two are cloned. "auto" runs boosters of both kinds of
        native trees side by side and mixes their predictions by how well they did.
    gamma
        The advantage of the weak learners, in (0, 1]: how much better than guessing one of them is expected to be.
        Small values teach later learners what earlier ones missed. At 1 a player moves only when a learner is wrong:
        with `start="label"` learners are then taught plain labels, with the uniform start nearly uniform ones at first.
        "auto" runs boosters with several values side by side and mixes them.
    n_learners
        The number of weak learners of each booster, N. None shares out the `budget`.
    budget
        The number of weak learners in all, if `n_learners` is None.
    max_size
        Memory for all native trees together, in MiB; None for no limit, or for that of the given learner. A Mondrian
        tree gets six times the share of a Hoeffding tree, which grows more slowly. A tree that has used its share up
        grows no more, and goes on learning in the nodes it has.
    relabel
        "fractional" teaches a learner all labels of a row, weighted; "random" teaches one drawn label, as the theorems
        assume. Learners that take no weights are always relabelled at random (see `relabel_`).
    votes
        What the players see of a learner: its "label" or its "distribution".
    pool
        What is summed for the prediction: labels (the paper's) or distributions.
    start
        Where each row's game starts: "uniform" (the paper's) or "label", which spares the first learners noise.
    player
        "gradient" (the paper's), "lazy", "exponentiated", "scale-free" or "coin".
    step_size
        None for the paper's gamma / sqrt(N) ("exponentiated": the bound-optimal one), "optimal" for the one that
        minimises the regret bound, or a positive number.
    classes
        All labels, if known. Then this is Algorithm 1 exactly. If None the label set grows: a row's game is over the
        labels seen up to and including that row.
    n_jobs
        Threads for native trees; -1 for all cores. River and scikit-learn learners hold Python's lock and run on one
        thread. The results do not depend on it.
    seed
        Makes everything repeatable, to the bit.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier

    >>> model = OnlineAgnosticBoostClassifier(seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.ImageSegments().take(500), model, metrics.Accuracy())
    >>> accuracy.get() > 0.85
    True
    >>> max(model.member_weights_, key=model.member_weights_.get)
    'MondrianTrees(smoothing=3.0), gamma=0.7'

    >>> stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    >>> model = OnlineAgnosticBoostClassifier(stump, gamma=0.5, n_learners=20, seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    regime = Regime(AGNOSTIC)
    chooses = True
    ranges: ClassVar[Mapping[str, Range]] = {
        **OnlineBooster.ranges,
        "gamma": AnyOf(GAMMA, OneOf(AUTO), hint=GAMMA.hint),
        "n_learners": AnyOf(Count(1), OneOf(None), hint="None shares out the budget"),
        "budget": Count(1),
        "max_size": MAX_SIZE,
    }

    def __init__(
        self,
        learner: Any = AUTO,
        *,
        gamma: float | str = AUTO,
        n_learners: int | None = None,
        budget: int = 200,
        max_size: float | None = None,
        relabel: str = "fractional",
        votes: str = "label",
        pool: str = "distribution",
        start: str = "label",
        player: str = "gradient",
        step_size: float | str | None = None,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            learner,
            n_learners=n_learners,  # type: ignore[arg-type]
            gamma=gamma,  # type: ignore[arg-type]
            relabel=relabel,
            votes=votes,
            pool=pool,
            start=start,
            player=player,
            step_size=step_size,
            classes=classes,
            n_jobs=n_jobs,
            seed=seed,
        )
        self.budget = budget
        self.max_size = max_size

    @property
    def member_weights_(self) -> dict[str, float]:
        """How much each booster of the mixture counts at present, by name; a single booster has weight 1."""
        state = self._ready()
        names = [choice.name for choice in self._choices()]
        return dict(zip(names, state.member_weights(), strict=True))

    def _choices(self) -> list[Choice]:
        gamma = None if isinstance(self.gamma, str) else float(self.gamma)
        learner = HoeffdingTrees() if self.learner is None or isinstance(self.learner, str) else self.learner
        if isinstance(self.learner, str):
            pairs = default_members(gamma)
        else:
            pairs = [(learner, value) for value in (GAMMAS if gamma is None else (gamma,))]
        n_learners = max(1, int(self.budget) // len(pairs)) if self.n_learners is None else int(self.n_learners)
        choices = [Choice(tree, value, n_learners, self.start, self.votes, self.pool) for tree, value in pairs]
        if len(choices) > 1:
            choices.append(unboosted(choices[0]._replace(learner=learner)))
        if self.max_size is None:
            return choices
        appetites = [choice.n_learners * choice.learner.appetite for choice in choices]
        return [
            choice._replace(max_size=float(self.max_size) * appetite / sum(appetites))
            for choice, appetite in zip(choices, appetites, strict=True)
        ]

    def _checked_labels(self) -> Labels:
        labels = super()._checked_labels()
        if self.max_size is not None and not isinstance(self.learner, str | NativeTrees | None):
            raise invalid(self, "max_size", "be None", self.max_size, "only native trees can be limited")
        return labels
