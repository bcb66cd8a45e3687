"""The protocol as an OpenAPI schema, with an example of every request."""

from __future__ import annotations

from typing import Any

from ocoboost.serve.limits import Limits
from ocoboost.serve.reading import LARGEST

_LIMITS = Limits()
_ID = {"type": "string", "minLength": 1, "maxLength": _LIMITS.id_text}
_LABEL = {
    "description": "text, true, false or a whole number",
    "anyOf": [
        {"type": "string", "maxLength": _LIMITS.text},
        {"type": "boolean"},
        {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST},
    ],
}
_VALUE = {
    "anyOf": [
        {"type": "number", "minimum": -1e308, "maximum": 1e308},
        {"type": "string", "maxLength": _LIMITS.text},
        {"type": "boolean"},
        {"type": "null", "description": "missing"},
    ]
}
_FEATURES = {"type": "object", "additionalProperties": _VALUE, "maxProperties": _LIMITS.features}


def _object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def _rows(row: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": row, "minItems": 1, "maxItems": _LIMITS.rows}


_SHARED = {
    "keep": {"type": "boolean", "default": True, "description": "whether to keep the row for its label"},
    "set": {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "description": "also give the fewest labels that have this probability together",
    },
}
_ASKED = {"id": _ID, "features": _FEATURES}
_TOLD = {"id": _ID, "features": _FEATURES, "label": _LABEL}
_PREDICTION = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "label": {**_LABEL, "anyOf": [*_LABEL["anyOf"], {"type": "null"}]},
        "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
        "model": {"type": "string"},
        "rows": {"type": "integer", "description": "the number in the log up to which the model had learned"},
        "kept": {"type": "boolean"},
        "repeated": {"type": "boolean", "description": "the id was predicted before, and this is what was said then"},
        "set": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["id", "label", "probabilities", "model", "rows", "kept"],
}
_OUTCOME = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "status": {"type": "string", "enum": ["accepted", "duplicate", "contradiction", "unknown"]},
        "number": {"type": "integer", "description": "of the label in the log"},
        "error": {"type": "string", "description": "why it is not learned"},
    },
    "required": ["id", "status"],
}
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
_JSON = "application/json"


def _answers(good: dict[str, Any], *, kind: str = _JSON, **others: dict[str, Any]) -> dict[str, Any]:
    """The answers of a request: what there is if it is done, and the errors that any request may have."""
    refused = {"description": "not done; nothing was changed", "content": {_JSON: {"schema": _ERROR}}}
    found = {"200": {"description": "done", "content": {kind: {"schema": good}}}, "4XX": refused, "503": refused}
    found |= {"507": {"description": "nothing can be written", "content": {_JSON: {"schema": _ERROR}}}}
    return found | {
        status.lstrip("_"): {"description": "not learned", "content": {_JSON: {"schema": schema}}}
        for status, schema in others.items()
    }


def _post(what: str, body: dict[str, Any], example: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    content = {_JSON: {"schema": body, "example": example}}
    return {"post": {"summary": what, "requestBody": {"required": True, "content": content}, "responses": answers}}


def _get(what: str, answers: dict[str, Any], *, is_open: bool = False) -> dict[str, Any]:
    return {"get": {"summary": what, "responses": answers, **({"security": []} if is_open else {})}}


_ONE_OR_MANY = {
    "predict": {
        "oneOf": [
            _object({**_ASKED, **_SHARED}, "features"),
            _object({"rows": _rows(_object(_ASKED, "features")), **_SHARED}, "rows"),
        ]
    },
    "learn": {
        "oneOf": [
            _object(_TOLD, "label", anyOf=[{"required": ["id"]}, {"required": ["features"]}]),
            _object(
                {"rows": _rows(_object(_TOLD, "label", anyOf=[{"required": ["id"]}, {"required": ["features"]}]))},
                "rows",
            ),
        ]
    },
}
_JUDGED = _object({"id": _ID, "right": {"type": "boolean"}}, "id", "right")
_PREDICTIONS = {
    "anyOf": [
        _PREDICTION,
        {"type": "object", "properties": {"predictions": {"type": "array", "items": _PREDICTION}}},
    ]
}
_RESULTS = {"anyOf": [_OUTCOME, {"type": "object", "properties": {"results": {"type": "array", "items": _OUTCOME}}}]}
_ANY: dict[str, Any] = {"type": "object"}
_OUTCOME_OR_ERROR = {"anyOf": [_OUTCOME, _ERROR]}
_TEXT: dict[str, Any] = {"type": "string"}

SCHEMA: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "ocoboost serve",
        "version": "1",
        "description": "Predictions by a model that learns from labels which arrive late, each exactly once.",
    },
    "security": [{"token": []}],
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/predict": _post(
            "Predict a row, or several, and keep them for their labels",
            _ONE_OR_MANY["predict"],
            {"id": "order 66", "features": {"size": 4.5, "colour": "red"}},
            _answers(_PREDICTIONS),
        ),
        "/learn": _post(
            "Give the label of a row that was predicted, or of one that comes with it; the same id counts once",
            _ONE_OR_MANY["learn"],
            {"id": "order 66", "label": "late"},
            _answers(_RESULTS, _404=_OUTCOME_OR_ERROR, _409=_OUTCOME_OR_ERROR),
        ),
        "/feedback": _post(
            "Say whether a prediction was right, if the models learn from that rather than from labels",
            {"oneOf": [_JUDGED, _object({"rows": _rows(_JUDGED)}, "rows")]},
            {"id": "order 66", "right": True},
            _answers(_RESULTS, _404=_OUTCOME_OR_ERROR, _409=_OUTCOME_OR_ERROR),
        ),
        "/promote": _post(
            "Let another model of the service answer",
            _object({"model": _ID}, "model"),
            {"model": "boost"},
            _answers(_ANY),
        ),
        "/model": _get("What the model is, how well it does, and what the log holds", _answers(_ANY)),
        "/suspects": _get("Labels that look wrong", _answers(_ANY)),
        "/metrics": _get("Counters and gauges for Prometheus", _answers(_TEXT, kind="text/plain")),
        "/health": _get("Whether predictions and labels are taken", _answers(_ANY), is_open=True),
        "/openapi.json": _get("This schema", _answers(_ANY), is_open=True),
    },
}
