"""Requests made from the OpenAPI schema, and others by hand: is any answered with 500, or changes what it must not?

    python benchmarks/serve_fuzz.py run --count 10000
    python benchmarks/serve_fuzz.py report

schemathesis makes requests that fit the schema and requests that do not, sent in process. What is answered must fit the
schema too, and what is refused must leave the log and the rows that wait as they were. Other requests are written by
hand: wrong types, NaN, huge and nested values, bytes that are not UTF-8, bad tokens. Half of all go to a service with
tokens, and nothing that is logged may hold one; half go to a model that learns from right and wrong.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import random
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import schemathesis
import serving
import studies
from hypothesis import HealthCheck, Phase, given, seed, settings
from starlette.testclient import TestClient

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBanditBoostClassifier
from ocoboost.bench.jobs import Job, Result
from ocoboost.cli.warmup import use
from ocoboost.serve.app import ROUTES, make_app
from ocoboost.serve.openapi import SCHEMA
from ocoboost.serve.service import Service
from ocoboost.serve.tokens import ROLES, Token, Tokens

CHUNK = 2500
MODELS: dict[str, Callable[[], Any]] = {
    "labels": lambda: HoeffdingTrees(seed=1),
    "feedback": lambda: OnlineBanditBoostClassifier(
        OnlineAgnosticBoostClassifier(n_learners=2), classes=["x", "y"], seed=1
    ),
}
SECRETS = {role: f"{role}-{'0123456789abcdef' * 2}" for role in ROLES}
POSTS = [path for method, path, _ in ROUTES if method == "POST"]
BAD_BODIES: list[bytes] = [
    b"",
    b"\xff\xfe\x00",
    b'{"features": {"a": NaN}}',
    b'{"features": {"a": Infinity}}',
    b'{"features": {"a": 1e999}}',
    b'{"features": {"a": ' + b"9" * 400 + b"}}",
    b'{"features": {"a": ' + b"9" * 9000 + b"}}",
    b'{"features": ' + b'{"a": ' * 5000 + b"1" + b"}" * 5001,
    b"[" * 200_000,
    b'{"features": {"a": "' + b"x" * 5000 + b'"}}',
    b'{"features": {"a": "\\ud800"}}',
    b'{"features": {"\\u0000": 1}}',
    b'{"id": "a\\u0000", "label": "x"}',
    b'{"id": "a", "label": {"x": 1}}',
    b'{"id": ["a"], "label": "x"}',
    b'{"id": "a", "label": 1e400}',
    b'{"rows": ' + b"[" + b",".join([b'{"features": {}}'] * 1001) + b"]}",
    b'{"rows": [1, 2]}',
    b'{"rows": {"a": 1}}',
    b'{"model": "../../etc/passwd"}',
    b'{"model": null}',
    b'{"features": {"__class__": "x", "a": true}, "label": true, "id": "' + b"y" * 200 + b'"}',
    b"x" * (2**20 + 1),
    b"null",
    b"true",
    b'"text"',
]


def validator(part: dict[str, Any]) -> Any:
    """What checks the JSON of a request or an answer."""
    return jsonschema_rs.validator_for(part["content"]["application/json"]["schema"])


REQUESTS = {path: validator(SCHEMA["paths"][path]["post"]["requestBody"]) for path in POSTS}
ANSWERS = {path: validator(SCHEMA["paths"][path]["post"]["responses"]["200"]) for path in POSTS}
BAD_TOKENS = [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic abc", "Bearer " + "x" * 5000, "Bearer \xe9"]


class Target:
    """A service in process, and what it has counted."""

    def __init__(self, client: Any, service: Service, found: Counter[str]) -> None:
        self.client, self.service, self.found = client, service, found

    def kept(self) -> tuple[int, int]:
        """The log and the rows that wait."""
        database = self.service.database
        return database.last_number, database.n_pending

    def send(self, method: str, path: str, content: Any, headers: dict[str, Any]) -> Any:
        """Send a request, and raise if its answer is a mistake of ours."""
        before = self.kept()
        answer = self.client.request(method, path, content=content, headers=headers)
        self.found["requests"] += 1
        self.found[f"answered {answer.status_code // 100}xx"] += 1
        if answer.status_code >= 500:
            raise RuntimeError(f"{method} {path} was answered with {answer.status_code}: {answer.text}")
        if answer.status_code >= 400:
            if "error" not in answer.json():
                raise RuntimeError(f"{method} {path}: no reason in {answer.text}")
            if self.kept() != before:
                raise RuntimeError(f"{method} {path} was refused, and has changed something")
        return answer


def fuzz(job: Job) -> Result:
    """So many requests; returns what was found, and raises at the first mistake."""
    found: Counter[str] = Counter()
    rng = random.Random(job["seed"])
    use(MODELS["labels"]())
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    tokens = Tokens([Token(secret.encode(), frozenset({role})) for role, secret in SECRETS.items()])
    with tempfile.TemporaryDirectory() as place:
        service = Service(serving.begin(Path(place) / "service", {"model": MODELS[job["model"]]()}))
        app = make_app(service, tokens if job["tokens"] else None)
        with TestClient(app, raise_server_exceptions=True) as client:
            target = Target(client, service, found)
            by_hand(target, rng, job["tokens"])
            from_schema(target, job["seed"], job["requests"] - found["requests"], rng, job["tokens"])
            if not service.health()[0]:
                raise RuntimeError(str(service.health()))
    logging.getLogger().removeHandler(handler)
    if any(secret in logged.getvalue() for secret in SECRETS.values()):
        raise RuntimeError("a token was logged")
    found["tokens in a log"] = 0
    return dict(found)


def header(rng: random.Random, *, with_tokens: bool) -> dict[str, Any]:
    """The token of some role, where one is needed."""
    return {"Authorization": f"Bearer {SECRETS[rng.choice(ROLES)]}"} if with_tokens else {}


def by_hand(target: Target, rng: random.Random, with_tokens: bool) -> None:
    for path in POSTS:
        for body in BAD_BODIES:
            token = {"Authorization": f"Bearer {SECRETS['admin']}"} if with_tokens else {}
            target.send("POST", path, body, {"Content-Type": "application/json", **token})
            target.send("POST", path, body, {"Content-Type": rng.choice(("text/plain", "image/png", "")), **token})
    if with_tokens:
        for method, path, _ in ROUTES:
            for bad in BAD_TOKENS:
                if path not in ("/", "/health", "/openapi.json"):
                    token = {} if bad is None else {"Authorization": bad.encode("latin-1")}
                    body = {"Content-Type": "application/json", **token}
                    answer = target.send(method, path, b"{}", body)
                    if answer.status_code != 401:
                        raise RuntimeError(f"{path} with the token {bad!r}: {answer.status_code}")


def from_schema(target: Target, number: int, most: int, rng: random.Random, with_tokens: bool) -> None:
    """Requests of schemathesis, of which some fit the schema and some do not, until there are enough."""
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(SCHEMA)))
    operations = [operation.ok() for operation in schema.get_all_operations()]
    posts = [one for one in operations if one.method.upper() == "POST"]
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
    plan = [(one, mode) for one in posts for mode in modes]
    end = target.found["requests"] + most
    for round_number in range(1000):
        for operation, mode in plan:
            left = end - target.found["requests"]
            if left <= 0:
                return
            size = max(1, min(left, most // len(plan)))

            @seed(number + round_number)
            @settings(
                max_examples=size,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                if target.found["requests"] >= end:
                    return
                body = case.body
                is_bytes = isinstance(body, bytes)
                content = body if is_bytes else json.dumps(body, default=str).encode("utf-8", "surrogatepass")
                token = header(rng, with_tokens=with_tokens)
                answer = target.send(
                    "POST", case.operation.path, content, {"Content-Type": "application/json", **token}
                )
                if answer.status_code == 200:
                    ANSWERS[case.operation.path].validate(answer.json())
                    kind = "fit" if REQUESTS[case.operation.path].is_valid(json.loads(content)) else "do not fit"
                    target.found[f"taken, and {kind} the schema"] += 1

            ask()


def report(options: argparse.Namespace) -> None:
    """The table of the docs."""
    total: Counter[str] = Counter()
    for record in studies.finished("serve_fuzz", options):
        total.update({name: value for name, value in record.items() if name not in ("seed", "tokens", "model")})
    total["answered 5xx"] += 0
    del total["requests"]
    lines = [(name, f"{count:,}") for name, count in sorted(total.items())]
    sent = sum(count for name, count in total.items() if name.startswith("answered"))
    text = studies.table(("", "count"), [("requests", f"{sent:,}"), *lines])
    print(text)
    studies.put(studies.DOCS / "serving.md", text, "fuzz")


def main() -> None:
    made = studies.parser(__doc__)
    made.add_argument("what", choices=("run", "report"))
    made.add_argument("--count", type=int, default=10_000, help="requests")
    options = made.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "run":
        jobs = [
            {"seed": n, "requests": CHUNK, "tokens": bool(n % 2), "model": list(MODELS)[n // 2 % 2]}
            for n in range(options.count // CHUNK)
        ]
        studies.run_missing("serve_fuzz", jobs, fuzz, options)
    report(options)


if __name__ == "__main__":
    main()
