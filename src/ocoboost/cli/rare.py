"""Rare classes and costs in `ocoboost run` and `compare`: their options, and what mistakes have cost."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ocoboost.cli.mistakes import say

if TYPE_CHECKING:
    from ocoboost.run.runner import Run
    from ocoboost.stream.protocol import StreamClassifier

ClassWeight = Annotated[
    str | None,
    typer.Option(help='"balanced", or weights as JSON: {"label": weight}.', show_default=False),
]
Costs = Annotated[
    str | None,
    typer.Option(
        help='Costs of mistakes as JSON: {"true label": {"predicted label": cost}}; others cost 1.', show_default=False
    ),
]

EXAMPLES = {
    "--class-weight": 'give balanced, or weights such as {"fraud": 30}',
    "--costs": 'give costs such as {"fraud": {"fine": 100}}',
}


def reweighted(model: StreamClassifier, class_weight: str | None, costs: str | None) -> StreamClassifier:
    """The model with class weights and costs, if it is the mixture."""
    from ocoboost.online.boost import OnlineBoostClassifier

    told: dict[str, Any] = {}
    if class_weight is not None:
        is_word = class_weight == "balanced"
        told["class_weight"] = class_weight if is_word else _labelled(_parsed(class_weight, "--class-weight"))
    if costs is not None:
        told["costs"] = read_costs(costs)
    if not told:
        return model
    if not isinstance(model, OnlineBoostClassifier):
        option = "--class-weight" if class_weight is not None else "--costs"
        raise typer.BadParameter(f"{type(model).__name__} has none; use --model boost", param_hint=option)
    return model.clone(told)


def read_costs(text: str) -> dict[Any, dict[Any, Any]]:
    """Costs by true and predicted label."""
    rows = _parsed(text, "--costs")
    if not all(isinstance(row, dict) for row in rows.values()):
        raise typer.BadParameter("give an object of objects", param_hint="--costs")
    return _labelled({label: _labelled(row) for label, row in rows.items()})


def costs_of_a_job(text: str | None) -> list[list[Any]] | None:
    """The same as a job can have it: a list of true label, predicted label and cost; raises for what is no cost."""
    if text is None:
        return None
    from ocoboost.data.costs import read_costs as checked
    from ocoboost.online.boost import OnlineBoostClassifier

    costs = checked(OnlineBoostClassifier(costs=read_costs(text)))
    assert costs is not None
    return [[true, predicted, cost] for (true, predicted), cost in costs.told.items()]


def _parsed(text: str, option: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"{text!r} is not JSON ({error}); {EXAMPLES[option]}", param_hint=option) from None
    if not isinstance(parsed, dict) or not parsed:
        raise typer.BadParameter(f"{text!r} has no labels; {EXAMPLES[option]}", param_hint=option)
    return parsed


def _labelled(told: dict[str, Any]) -> dict[Any, Any]:
    """Labels as a file may have them: names in JSON are always text, labels may be numbers or true and false."""
    return {label: value for name, value in told.items() for label in (name, *_other_types(name))}


def _other_types(name: str) -> list[Any]:
    """What a label that is written like this may be, besides text; 1 and 1.0 are the same label."""
    if name.lower() in ("true", "false"):
        return [name.lower() == "true"]
    try:
        number = float(name)
    except ValueError:
        return []
    return [int(name) if name.lstrip("-").isdecimal() else number] if math.isfinite(number) else []


def warn_of_unknown(this: Run, class_weight: str | None, costs: str | None, *, has_ended: bool) -> None:
    """Say at the end which labels were given a weight or a cost, and were those of no row: they may be misspelt."""
    if not has_ended:
        return
    known = set(this.model.classes_)
    for option, told in (("--class-weight", class_weight), ("--costs", costs)):
        if told is None or told == "balanced":
            continue
        rows = _parsed(told, option)
        inner = [row for row in rows.values() if isinstance(row, dict)]
        names = dict.fromkeys([*rows, *(name for row in inner for name in row)])
        unknown = [repr(name) for name in names if known.isdisjoint([name, *_other_types(name)])]
        if unknown:
            say(f"ocoboost: warning: no row has {' or '.join(unknown)}, given in {option}, as its label.")


def cost_of(this: Run) -> dict[str, Any]:
    """The mean cost of the rows that had a prediction; None if nobody said what mistakes cost."""
    state = this.model.state_
    if state is None or state.costs is None:
        return {"cost": None}
    counts = this.scores.counts[:, :-1]
    matrix = state.costs.matrix(state.labels.known)[: len(counts), : len(counts)]
    return {"cost": float((counts * matrix).sum() / max(1, counts.sum()))}
