"""What comes through a real port, whatever parses it."""

from __future__ import annotations

import json
import socket
from importlib.util import find_spec
from urllib.parse import urlsplit

import pytest

from ocoboost.serve import listening as listening_module
from services import begin, listening

NEEDS_HTTPTOOLS = pytest.mark.skipif(not find_spec("httptools"), reason="no httptools")
PARSERS = ["h11", pytest.param("httptools", marks=NEEDS_HTTPTOOLS)]
HEAD = b"POST /predict HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
MOST = 2**22  # bytes that nobody should read


@pytest.fixture(params=PARSERS)
def connect(request, tmp_path, monkeypatch):
    if request.param == "h11":
        monkeypatch.setattr(listening_module, "find_spec", lambda name: None)
    with listening(begin(tmp_path / "service")) as address:
        place = urlsplit(address)
        yield lambda: socket.create_connection((place.hostname, place.port), timeout=20)


def answer_of(connection):
    """The status and the JSON of an answer."""
    data = b""
    while b"\r\n\r\n" not in data or not data.rstrip().endswith(b"}"):
        data += connection.recv(4096)
    head, body = data.split(b"\r\n\r\n", 1)
    return int(head.split()[1]), json.loads(body)


def n_taken(connection, piece):
    """How many bytes of an endless request a service takes before it ends the connection."""
    n = 0
    try:
        while n < MOST:
            connection.sendall(piece)
            n += len(piece)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass
    except OSError:
        pass
    return n


@pytest.mark.parametrize(
    ("beginning", "piece"),
    [
        (b"GET /", b"x" * 4096),
        (b"GET / HTTP/1.1\r\n", b"name: value\r\n" * 512),
        (b"GET / HTTP/1.1\r\nname: ", b"x" * 4096),
        (CHUNKED + b"0\r\n", b"name: value\r\n" * 512),
        (CHUNKED + b"0\r\nname: ", b"x" * 4096),
    ],
    ids=["path", "headers", "header", "trailers", "trailer"],
)
def test_nothing_endless_is_read(connect, beginning, piece):
    with connect() as connection:
        connection.sendall(beginning)
        assert n_taken(connection, piece) < MOST


def test_small_pieces_and_many_requests_on_one_connection(connect):
    body = json.dumps({"id": "a", "features": {"v": 1}}).encode()
    with connect() as connection:
        for _ in range(3):
            connection.sendall(CHUNKED)
            for place in range(len(body)):
                connection.sendall(b"1\r\n" + body[place : place + 1] + b"\r\n")
            connection.sendall(b"0\r\n\r\n")
            status, answer = answer_of(connection)
            assert (status, answer["id"], answer["kept"]) == (200, "a", True)


def test_long_bodies_are_no_headers(connect):
    rows = [{"features": {"v": float(number), "text": "x" * 100}} for number in range(1000)]
    body = json.dumps({"rows": rows}).encode()
    assert len(body) > 2**17
    with connect() as connection:
        connection.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(body))
        connection.sendall(body)
        status, answer = answer_of(connection)
    assert (status, len(answer["predictions"])) == (200, 1000)
