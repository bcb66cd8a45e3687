"""The model that ``--model`` names: any registered one on streams that can be made without arguments."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import typer

from ocoboost import registry

if TYPE_CHECKING:
    from ocoboost.stream.protocol import StreamClassifier

DEFAULT = "boost"
N_LEARNERS = 200  # of a booster that is no mixture


def names() -> list[str]:
    """The keys that ``--model`` takes; a plug-in that cannot be imported is skipped with a warning."""
    found = []
    for model in registry.models(registry.BOOSTER, registry.LEARNER):
        try:
            needed = _needs(model.load())
        except Exception as error:  # whatever another package raises on import
            typer.echo(f"ocoboost: warning: model {model.key!r} is skipped: {_why(error)}", err=True)
        else:
            found += [] if needed else [model.key]
    return found


def list_models(key: str) -> str:
    """Print the models and exit if ``--model help`` is given."""
    if key == "help":
        for name in names():
            typer.echo(f"{name:<16}{registry.find(name).name}")  # type: ignore[union-attr]
        raise typer.Exit
    return key


def make_model(key: str, budget: int | None, max_memory: float | None, seed: int, jobs: int) -> StreamClassifier:
    """A new model.

    ``budget`` None means the default of the mixture and of a learner that runs on its own, and 200 weak learners for
    any other booster.
    """
    from ocoboost.learners.hoeffding.classifier import HoeffdingTrees

    model = registry.find(key)
    if model is None or key != model.key or model.protocol not in (registry.BOOSTER, registry.LEARNER):
        raise typer.BadParameter(f"{key!r} is not one of {', '.join(names())}", param_hint="--model")
    try:
        kind = model.load()
    except Exception as error:  # whatever another package raises on import
        raise typer.BadParameter(f"{key!r} cannot be loaded: {_why(error)}", param_hint="--model") from error
    if needed := _needs(kind):
        why = f"{model.name} needs {' and '.join(needed)}; make one in Python, or choose from {', '.join(names())}"
        raise typer.BadParameter(why, param_hint="--model")
    known = inspect.signature(kind).parameters
    counted = next((name for name in ("budget", "n_learners") if name in known), None)
    if budget is not None and counted is None:
        raise typer.BadParameter(f"{model.name} has no number of learners to set", param_hint="--budget")
    if max_memory is not None and not known.keys() & {"max_size", "learner"}:
        raise typer.BadParameter(f"the memory of {model.name} cannot be limited", param_hint="--max-memory")
    is_plain = model.protocol == registry.BOOSTER and counted != "budget"
    default = N_LEARNERS if is_plain else 1 if counted is None else known[counted].default
    n_learners = default if budget is None else budget
    options: dict[str, Any] = {"seed": seed, "n_jobs": jobs, "budget": n_learners, "n_learners": n_learners}
    if max_memory is not None:
        options |= {"max_size": max_memory} if "max_size" in known else {"learner": HoeffdingTrees(max_size=max_memory)}
    made: StreamClassifier = kind(**{name: value for name, value in options.items() if name in known})
    return made


def _needs(kind: Any) -> list[str]:
    """The parameters of a class that have no default."""
    return [
        name for name, parameter in inspect.signature(kind).parameters.items() if parameter.default is parameter.empty
    ]


def _why(error: Exception) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
