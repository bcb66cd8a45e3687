"""Requests: what is read, and what is refused with which words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.serve import reading
from ocoboost.serve.limits import Limits
from ocoboost.serve.reading import Asked, Known, Question, RequestError, Told

LIMITS = Limits(features=3, text=20, id_text=10, rows=2)
KNOWN = Known({"size": NUMBER, "colour": TEXT, "age": None}, frozenset({"yes", "no", 1}))
ANY = Known()


def question(content, known=ANY):
    return reading.question(reading.parsed(json.dumps(content).encode()), LIMITS, known)


def told(content, known=ANY):
    return reading.told(reading.parsed(json.dumps(content).encode()), LIMITS, known)


def test_rows_are_read_with_their_columns_in_order():
    row = {"size": 1, "colour": "red", "age": None}
    assert question({"id": "a", "features": row}) == Question([Asked("a", row)], True, None, False)
    assert list(question({"features": row}).rows[0].features) == ["age", "colour", "size"]
    batch = {"rows": [{"features": {}}, {"id": "b", "features": {"on": True}}], "keep": False, "set": 0.9}
    assert question(batch) == Question([Asked(None, {}), Asked("b", {"on": True})], False, 0.9, True)


def test_labels_are_read_with_an_id_or_a_row():
    assert told({"id": "a", "label": "yes"}) == ([Told("a", "yes", None)], False)
    assert told({"features": {"size": 2.5}, "label": 3}) == ([Told(None, 3, {"size": 2.5})], False)
    assert told({"rows": [{"id": "a", "label": True}]}) == ([Told("a", True, None)], True)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"features": {"a": NaN}}', "NaN is not a JSON number"),
        (b'{"features": {"a": -Infinity}}', "-Infinity is not a JSON number"),
        (b"\xff{}", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"features": {"a": ' + b"9" * 5000 + b"}}", "not JSON"),
    ],
)
def test_what_is_not_json_is_refused(body, words):
    with pytest.raises(RequestError, match=words) as refused:
        reading.parsed(body)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "the body must be an object, got a list"),
        ({}, "features must be an object"),
        ({"features": {"a": 1}, "model": "x"}, "the body has 'model', but takes only"),
        ({"features": {"a": [1]}}, r"features\['a'\] must be a number .* got a list"),
        ({"features": {"a": {"b": 1}}}, "got an object"),
        ({"features": {"a": 2**60}}, "whole one up to"),
        ({"features": {"a": "x" * 21}}, "has 21 characters"),
        ({"features": {"": 1}}, "a column of features must be text"),
        ({"features": {"a": "\ud800"}}, "surrogate"),
        ({"features": {"a": "x\0"}}, "NUL"),
        ({"features": dict.fromkeys("abcd", 1)}, "has 4 columns"),
        ({"features": {}, "id": ""}, "id must be text"),
        ({"features": {}, "id": 7}, "id must be text"),
        ({"features": {}, "id": "x" * 11}, "has 11 characters"),
        ({"features": {}, "keep": 1}, "keep must be true or false"),
        ({"features": {}, "set": 1.5}, "set must be a probability"),
        ({"features": {}, "set": True}, "set must be a probability"),
        ({"rows": []}, "rows must be a list"),
        ({"rows": [{"features": {}}], "id": "a"}, "id stands beside rows"),
        ({"rows": [{"features": {}, "keep": True}]}, r"rows\[0\] has 'keep'"),
        ({"rows": [{"features": {}}] * 3}, "at most 2"),
        ({"rows": [{"features": {}, "id": "a"}] * 2}, "the id 'a' twice"),
        ({"features": {"size": "large"}}, "must be a number, as in earlier rows, got 'large'"),
        ({"features": {"colour": 3}}, "must be text, as in earlier rows, got 3"),
    ],
)
def test_what_cannot_be_predicted_is_refused(content, words):
    with pytest.raises(RequestError, match=words) as refused:
        question(content, KNOWN)
    assert refused.value.status in (413, 422)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"label": "yes"}, "id is missing"),
        ({"id": "a"}, "label must be text"),
        ({"id": "a", "label": None}, "label must be text"),
        ({"id": "a", "label": 1.5}, "label must be text"),
        ({"id": "a", "label": 2**60}, "up to 2"),
        ({"id": "a", "label": ["yes"]}, "got a list"),
        ({"id": "a", "label": "maybe"}, "one of the classes"),
        ({"rows": [{"id": "a", "label": "yes"}, {"id": "a", "label": "no"}]}, "twice"),
    ],
)
def test_what_cannot_be_learned_is_refused(content, words):
    with pytest.raises(RequestError, match=words) as refused:
        told(content, KNOWN)
    assert refused.value.status == 422


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["id", "features", "label", "rows", "keep", "set", "right", "model"])


@given(st.dictionaries(KEYS, VALUES) | VALUES)
def test_any_json_is_read_or_refused(content):
    body = json.dumps(content).encode()
    for read in (
        lambda parsed: reading.question(parsed, LIMITS, KNOWN),
        lambda parsed: reading.told(parsed, LIMITS, KNOWN),
        lambda parsed: reading.feedback(parsed, LIMITS),
        lambda parsed: reading.name_of(parsed, "model", LIMITS),
    ):
        assert refusal(read, body) in (None, 400, 413, 422)


def refusal(read, body):
    """The status with which a body is refused; None if it is read."""
    try:
        read(reading.parsed(body))
    except RequestError as error:
        return error.status
    return None
