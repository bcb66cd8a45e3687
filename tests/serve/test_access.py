"""Who may do what, and how much."""

from __future__ import annotations

import logging

import pytest

from ocoboost.errors import DataFileError
from ocoboost.serve import tokens as tokens_module
from ocoboost.serve.limits import Limits
from ocoboost.serve.tokens import Rates, Tokens
from services import begin, running

TOKENS = {"predict": "p" * 20, "learn": "l" * 20, "admin": "a" * 20, "predict,learn": "b" * 20}
ROW = {"features": {"v": 1}}
REQUESTS = {
    "predict": ("POST", "/predict", ROW),
    "learn": ("POST", "/learn", {**ROW, "label": "x"}),
    "promote": ("POST", "/promote", {"model": "trees"}),
    "feedback": ("POST", "/feedback", {"id": "a", "right": True}),
    "model": ("GET", "/model", None),
    "suspects": ("GET", "/suspects", None),
    "metrics": ("GET", "/metrics", None),
}
ALLOWED = {
    "predict": {"predict", "model", "metrics"},
    "learn": {"learn", "feedback", "suspects", "model", "metrics"},
    "predict,learn": {"predict", "learn", "feedback", "suspects", "model", "metrics"},
    "admin": set(REQUESTS),
}


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("# who may do what\n" + "".join(f"{roles}  {token}  # x\n" for roles, token in TOKENS.items()))
    return Tokens.read(str(path))


def test_roles(tmp_path, tokens, caplog):
    caplog.set_level(logging.DEBUG)
    with running(begin(tmp_path / "service"), tokens=tokens) as client:
        for roles, token in TOKENS.items():
            for name, (method, path, body) in REQUESTS.items():
                answer = client.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
                assert (answer.status_code != 403) == (name in ALLOWED[roles]), (roles, name, answer.text)
                assert answer.status_code not in (401, 500)
        n_labels = client.service.database.last_number
        for header in ("", "Bearer", "Bearer wrong" * 3, f"Basic {TOKENS['admin']}", f"Bearer {TOKENS['admin']}x", "é"):
            for method, path, body in REQUESTS.values():
                answer = client.request(method, path, json=body, headers={"Authorization": header.encode()})
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
                assert "Bearer TOKEN" in answer.json()["error"]
        assert client.service.database.last_number == n_labels
        for path in ("/", "/health", "/openapi.json"):
            assert client.get(path).status_code == 200
    assert not any(token in caplog.text for token in TOKENS.values())


def test_every_token_is_compared_in_constant_time(tokens, monkeypatch):
    compared = []
    compare = tokens_module.hmac.compare_digest
    monkeypatch.setattr(tokens_module.hmac, "compare_digest", lambda *pair: compared.append(pair) or compare(*pair))
    assert tokens.roles(f"Bearer {TOKENS['predict']}".encode()) == (0, frozenset({"predict"}))
    assert len(compared) == len(TOKENS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no token"),
        ("predict", "line 1: must be one of the roles"),
        ("# x\nroot 0123456789abcdef", "line 2: must be one of the roles"),
        ("admin secret-that-is-long enough", "line 1: must be"),
        ("admin short", "at least 16"),
        ("admin ééééééééééééééééé", "at least 16 ASCII"),
    ],
)
def test_a_file_of_tokens_that_cannot_be_used_is_named_and_not_quoted(tmp_path, text, words):
    path = tmp_path / "tokens"
    path.write_text(text)
    with pytest.raises(DataFileError, match=words) as refused:
        Tokens.read(str(path))
    assert "0123456789abcdef" not in str(refused.value)
    with pytest.raises(DataFileError, match="cannot be read"):
        Tokens.read(str(tmp_path / "none"))


def test_limits(tmp_path):
    limits = Limits(body_bytes=2000, rows=10, rate=20.0)
    with running(begin(tmp_path), limits) as client:
        assert (
            client.post("/predict", content=b"x" * 3000, headers={"Content-Type": "application/json"}).status_code
            == 413
        )
        parts = iter([b"x" * 1500, b"x" * 1500])
        assert client.post("/predict", content=parts, headers={"Content-Type": "application/json"}).status_code == 413
        assert client.post("/predict", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
        assert client.post("/predict", json={"rows": [ROW] * 11}).status_code == 413
        assert client.post("/predict", json={"rows": [ROW] * 10}).status_code == 200
        assert client.post("/predict", json={"rows": [ROW] * 10}).status_code == 200
        refused = client.post("/predict", json={"rows": [ROW] * 10})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")


def test_rates_are_kept_by_client(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(tokens_module.time, "monotonic", lambda: clock[0])
    rates = Rates(2.0, 4)
    assert [rates.wait("a", 4), rates.wait("a", 1), rates.wait("b", 4)] == [0.0, 0.5, 0.0]
    clock[0] = 0.5
    assert rates.wait("a", 1) == 0.0
    for number in range(5000):
        rates.wait(number, 1)
    assert len(rates._left) == tokens_module.MOST_CLIENTS
    assert Rates(None, 4).wait("a", 10**9) == 0.0


def test_only_its_own_names_are_answered_to(tmp_path):
    with running(begin(tmp_path), hosts=frozenset({"localhost", "127.0.0.1", "[::1]"})) as client:
        for host, status in (("localhost:8000", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("evil.example", 421)):
            assert client.get("/model", headers={"Host": host}).status_code == status


def test_unknown_paths_and_methods_say_what_there_is(tmp_path):
    with running(begin(tmp_path)) as client:
        for method, path, status in (("GET", "/admin", 404), ("GET", "/predict", 405), ("DELETE", "/model", 405)):
            answer = client.request(method, path)
            assert answer.status_code == status
            assert "POST /predict" in answer.json()["error"]


def test_every_answer_has_headers_that_keep_browsers_out(tmp_path):
    with running(begin(tmp_path)) as client:
        page = client.get("/")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for answer in (page, client.get("/model"), client.post("/predict", json=[])):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in answer.headers
