"""A service behind a port."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from importlib.util import find_spec

import uvicorn

from ocoboost.serve.app import make_app
from ocoboost.serve.service import Service
from ocoboost.serve.tokens import Tokens

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
CONNECTIONS = 1000


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parser() -> type[asyncio.Protocol] | str:
    """What reads HTTP: ``httptools`` where there is a wheel of it, and else what uvicorn has."""
    if find_spec("httptools") is None:
        return "h11"
    from ocoboost.serve.parsing import BoundedProtocol

    return BoundedProtocol


def make_server(service: Service, tokens: Tokens, host: str, port: int) -> uvicorn.Server:
    """A server for a service, which it starts and stops.

    On a loopback address only its own names are answered to: a page from elsewhere, whose name was made to point here,
    gets nothing.
    """
    config = uvicorn.Config(
        make_app(service, tokens, LOOPBACK if is_loopback(host) else None),
        host=host,
        port=port,
        http=parser(),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # clients are told apart by their tokens
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    service.is_ending = lambda: server.should_exit  # pages that are open keep their connection, unless they are told
    return server


async def listen(service: Service, tokens: Tokens, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until a signal comes; everything that was acknowledged is on disk then, and the models are saved."""
    await service.start()
    name = f"[{host}]" if ":" in host else host
    behind = service.database.last_number - min(one.position for one in service.keeper.models.values())
    replays = f", and replays {behind:,} rows of its log" if behind else ""
    say(f"ocoboost: {service.keeper.champion} answers at http://{name}:{port}{replays}; Ctrl-C stops it")
    await make_server(service, tokens, host, port).serve()
