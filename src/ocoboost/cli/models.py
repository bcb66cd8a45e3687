"""A fresh model for the command line, from the registry: whatever is registered can be run."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ocoboost import registry
from ocoboost.cli.mistakes import one_of

if TYPE_CHECKING:
    from ocoboost.stream.protocol import StreamClassifier

DEFAULT = "boost"
DEFAULT_BUDGET = 200  # weak learners of a booster
LEAST_MEMORY = 32.0  # MiB, for all learners


def names() -> list[str]:
    """What --model may be: models on streams that need no arguments."""
    return [model.key for model in registry.models(registry.BOOSTER, registry.LEARNER) if _needs_nothing(model)]


def make_model(key: str, budget: int | None, max_memory: float | None, seed: int, jobs: int) -> StreamClassifier:
    """A fresh model within its memory; trees that have used their share up grow no more.

    ``budget`` None is 200 weak learners for a booster, and a learner's own default for one that runs by itself.
    """
    from ocoboost.learners.hoeffding.classifier import HoeffdingTrees

    one_of(key, tuple(names()), "--model")
    model = registry.find(key)
    assert model is not None
    known = inspect.signature(model.load()).parameters
    if budget is None and model.protocol == registry.BOOSTER:
        budget = DEFAULT_BUDGET
    n_learners = int(known["n_learners"].default) if budget is None and "n_learners" in known else budget or 1
    memory = default_memory(key, n_learners) if max_memory is None else max_memory
    options: dict[str, Any] = {"seed": seed, "n_jobs": jobs, "budget": n_learners, "n_learners": n_learners}
    if "max_size" in known:
        options["max_size"] = memory
    elif "learner" in known:
        options["learner"] = HoeffdingTrees(max_size=memory)
    made: StreamClassifier = model.load()(**{name: value for name, value in options.items() if name in known})
    return made


def default_memory(key: str, n_learners: int) -> float:
    """MiB with which the trees get by: after the first rows it grows by little more, whatever learns."""
    from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
    from ocoboost.learners.mondrian.classifier import MondrianTrees
    from ocoboost.online.members import default_pairs

    trees: dict[str, list[Any]] = {DEFAULT: [tree for tree, _ in default_pairs()], "mondrian": [MondrianTrees]}
    appetites: list[float] = [tree.appetite for tree in trees.get(key, [HoeffdingTrees])]
    return max(LEAST_MEMORY, n_learners * sum(appetites) / len(appetites))


def _needs_nothing(model: registry.Model) -> bool:
    parameters = inspect.signature(model.load()).parameters.values()
    return all(parameter.default is not parameter.empty for parameter in parameters)
