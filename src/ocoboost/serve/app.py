"""The protocol over HTTP: who asks, how much, what for; then the service does it.

Every answer is JSON but the page, its events and the metrics. A request that cannot be done changes nothing, and gets
``{"error": ...}`` with the fix. Neither tokens nor rows are ever logged.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ocoboost.errors import InvalidInputError
from ocoboost.serve import openapi, reading
from ocoboost.serve.entries import ACCEPTED, CONTRADICTION, DUPLICATE, UNKNOWN, Outcome
from ocoboost.serve.measuring import exposition
from ocoboost.serve.page import page, page_headers
from ocoboost.serve.reading import RequestError
from ocoboost.serve.service import Service
from ocoboost.serve.tokens import ADMIN, LEARN, PREDICT, Rates, Tokens, may

logger = logging.getLogger("ocoboost.serve")

Handler: TypeAlias = Callable[["Front", Request], Awaitable[Response]]
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
STATUSES = {ACCEPTED: 200, DUPLICATE: 200, CONTRADICTION: 409, UNKNOWN: 404}


class JSON(Response):
    """An answer in JSON."""

    media_type = "application/json"
    charset = ""

    def render(self, content: Any) -> bytes:
        return _ENCODER.encode(content).encode()


class Front:
    """A service, and who may ask it for what."""

    def __init__(self, service: Service, tokens: Tokens, hosts: frozenset[str] | None) -> None:
        self.service, self.tokens = service, tokens
        self.hosts = hosts  # names under which it may be asked for; None for any
        self.rates = Rates(service.limits.rate, service.limits.rows)

    # -- checks --------------------------------------------------------------------------------------------------------

    def admit(self, request: Request, role: str | None) -> object:
        """The client, if it may ask for this."""
        host = request.headers.get("host", "").rpartition("@")[2]
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if self.hosts is not None and name.lower() not in self.hosts:
            raise RequestError(421, "this service is asked for under another name; --host says which it answers to.")
        raw = next((value for key, value in request.scope["headers"] if key == b"authorization"), None)
        found = self.tokens.roles(raw)
        if found is None:
            raise RequestError(401, "a token is needed: Authorization: Bearer TOKEN.")
        client, roles = found
        if not may(roles, role):
            raise RequestError(403, f"this token does not have the role {role}.")
        return client if self.tokens else getattr(request.client, "host", "")

    async def body(self, request: Request) -> Any:
        """The JSON of a request, if it is not too long and comes in time."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RequestError(415, "send JSON, with Content-Type: application/json.")
        limits = self.service.limits
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > limits.body_bytes:
            raise RequestError(413, f"the body is longer than {limits.body_bytes} bytes; send fewer rows at once.")
        parts, n_bytes = [], 0
        try:
            async with asyncio.timeout(limits.body_seconds):
                async for part in request.stream():
                    n_bytes += len(part)
                    if n_bytes > limits.body_bytes:
                        raise RequestError(413, f"the body is longer than {limits.body_bytes} bytes; send fewer rows.")
                    parts.append(part)
        except TimeoutError:
            raise RequestError(408, f"the body took longer than {limits.body_seconds:g} seconds.") from None
        return reading.parsed(b"".join(parts))

    def slow_down(self, client: object, n_rows: int) -> None:
        """Raise if a client sends more than it may."""
        seconds = self.rates.wait(client, n_rows)
        if seconds > 0:
            raise RequestError(
                429, f"more than {self.service.limits.rate:g} rows a second; wait {seconds:.1f} seconds."
            )

    # -- requests ------------------------------------------------------------------------------------------------------

    async def predict(self, request: Request) -> Response:
        began = time.perf_counter()
        client = self.admit(request, PREDICT)
        question = reading.question(await self.body(request), self.service.limits, self.service.keeper.known)
        self.slow_down(client, len(question.rows))
        answers = await self.service.predict(question)
        self.service.measures.answered("predict", len(answers), time.perf_counter() - began)
        return JSON({"predictions": answers} if question.is_batch else answers[0], headers=HEADERS)

    async def learn(self, request: Request) -> Response:
        began = time.perf_counter()
        client = self.admit(request, LEARN)
        labels, is_batch = reading.told(await self.body(request), self.service.limits, self.service.keeper.known)
        self.slow_down(client, len(labels))
        return self._outcomes(await self.service.learn(labels), is_batch, began)

    async def feedback(self, request: Request) -> Response:
        began = time.perf_counter()
        client = self.admit(request, LEARN)
        judged, is_batch = reading.feedback(await self.body(request), self.service.limits)
        self.slow_down(client, len(judged))
        return self._outcomes(await self.service.feedback(judged), is_batch, began)

    def _outcomes(self, outcomes: list[Outcome], is_batch: bool, began: float) -> Response:
        self.service.measures.answered("learn", len(outcomes), time.perf_counter() - began)
        if is_batch:
            return JSON({"results": [_outcome(one) for one in outcomes]}, headers=HEADERS)
        return JSON(_outcome(outcomes[0]), STATUSES[outcomes[0].status], headers=HEADERS)

    async def promote(self, request: Request) -> Response:
        self.admit(request, ADMIN)
        name = reading.name_of(await self.body(request), "model", self.service.limits)
        await self.service.promote(name)
        return JSON({"champion": name}, headers=HEADERS)

    async def model(self, request: Request) -> Response:
        self.admit(request, None)
        return JSON(self.service.status(), headers=HEADERS)

    async def suspects(self, request: Request) -> Response:
        self.admit(request, LEARN)
        return JSON({"suspects": self.service.keeper.status["suspects"]}, headers=HEADERS)

    async def metrics(self, request: Request) -> Response:
        self.admit(request, None)
        status = self.service.status()
        text = exposition(status, status["counters"], self.service.measures)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8", headers=HEADERS)

    async def health(self, request: Request) -> Response:
        is_well, said = self.service.health()
        return JSON(said, 200 if is_well else 503, headers=HEADERS)

    async def events(self, request: Request) -> Response:
        self.admit(request, None)
        events = self.service.events()
        first = await anext(events)  # raises if too many are open

        async def stream() -> AsyncIterator[str]:
            try:
                yield f"data: {json.dumps(first)}\n\n"
                async for event in events:
                    yield f"data: {json.dumps(event)}\n\n"
            finally:
                await events.aclose()  # type: ignore[attr-defined]

        return StreamingResponse(stream(), media_type="text/event-stream", headers=HEADERS)

    async def schema(self, request: Request) -> Response:
        return JSON(openapi.SCHEMA, headers=HEADERS)

    async def index(self, request: Request) -> Response:
        return Response(page(), media_type="text/html; charset=utf-8", headers={**HEADERS, **page_headers()})


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/predict", Front.predict),
    ("POST", "/learn", Front.learn),
    ("POST", "/feedback", Front.feedback),
    ("POST", "/promote", Front.promote),
    ("GET", "/model", Front.model),
    ("GET", "/suspects", Front.suspects),
    ("GET", "/metrics", Front.metrics),
    ("GET", "/health", Front.health),
    ("GET", "/events", Front.events),
    ("GET", "/openapi.json", Front.schema),
    ("GET", "/", Front.index),
)


def make_app(service: Service, tokens: Tokens | None = None, hosts: frozenset[str] | None = None) -> ASGIApp:
    """The service as an ASGI application, which starts it, if that was not done before, and stops it.

    Requests for what there is take a short way: the layers of the framework cost more than a prediction's JSON. It has
    the rest: the start and the end, HEAD, and what there is not.
    """
    front = Front(service, tokens or Tokens(), hosts)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if not service.is_started:
            await service.start()
        try:
            yield
        finally:
            await service.stop()

    endpoints = {(method, path): _endpoint(front, path, handler) for method, path, handler in ROUTES}
    routes = [Route(path, endpoint, methods=[method]) for (method, path), endpoint in endpoints.items()]
    rest = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused})

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if endpoint is None:
            await rest(scope, receive, send)
        else:
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

    return app


def _endpoint(front: Front, path: str, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler whose errors become answers."""
    statuses = front.service.measures.statuses

    async def answer(request: Request) -> Response:
        try:
            response = await handler(front, request)
        except RequestError as error:
            response = _error(error.status, str(error))
        except InvalidInputError as error:
            response = _error(422, str(error))
        except ClientDisconnect:
            response = _error(400, "the client has gone.")
        except Exception as error:  # a mistake of ours: say so, and keep what it was for whoever runs the service
            logger.error("%s failed: %s", path, type(error).__name__, exc_info=error)
            response = _error(500, "a mistake of the service; its log has more.")
        statuses[path, response.status_code] += 1
        return response

    return answer


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {name: value for name, value in outcome._asdict().items() if value not in (None, "")}


def _error(status: int, message: str) -> Response:
    more = {"WWW-Authenticate": "Bearer"} if status == 401 else {"Retry-After": "1"} if status in (429, 503) else {}
    return JSON({"error": message}, status, headers={**HEADERS, **more})


async def _refused(request: Request, error: Exception) -> Response:
    """Paths and methods that there are not."""
    assert isinstance(error, HTTPException)
    known = ", ".join(f"{method} {path}" for method, path, _ in ROUTES)
    response = _error(error.status_code, f"{error.detail}; there is {known}.")
    response.headers.update(dict(error.headers or {}))
    return response
