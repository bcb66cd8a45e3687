"""The schema says what the service does: requests made from it are taken, and no request is a mistake of ours."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ocoboost.serve.app import ROUTES
from ocoboost.serve.openapi import SCHEMA
from services import begin, running

BYTES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(str.encode),
    st.sampled_from(
        [b"{}", b"[]", b"null", b'{"features": {}}', b'{"id": "\\ud800", "label": "x"}', b"\xef\xbb\xbf{}"]
    ),
    st.dictionaries(
        st.sampled_from(["id", "features", "label", "rows", "keep", "set", "model", "right"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.dictionaries(st.text(max_size=3), st.floats() | st.text(max_size=3), max_size=3),
    ).map(lambda content: json.dumps(content).encode()),
)


def test_every_path_is_in_the_schema():
    paths = {path for _, path, _ in ROUTES} - {"/", "/events"}
    assert paths == set(SCHEMA["paths"])


def test_examples_are_taken(tmp_path):
    with running(begin(tmp_path)) as client:
        assert client.get("/openapi.json").json() == SCHEMA
        for path in ("/predict", "/learn"):
            content = SCHEMA["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            assert client.post(path, json=content["example"]).status_code == 200


def test_no_request_is_answered_with_500(tmp_path):
    with running(begin(tmp_path)) as client:

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from([path for _, path, _ in ROUTES if path != "/events"]), st.booleans(), BYTES)
        def ask(path, is_post, body):
            headers = {"Content-Type": "application/json"}
            answer = client.request("POST" if is_post else "GET", path, content=body, headers=headers)
            assert answer.status_code < 500, answer.text
            if path != "/" and answer.status_code >= 400:
                assert set(answer.json()) >= {"error"}

        ask()
        assert client.service.health()[0]
