"""Who may do what: bearer tokens with roles, from a file, and how many rows a client may send in a second.

A line of the file is a role, or several separated by commas, and a token; ``#`` begins a comment:

    predict        4f1c1c7de0a94f0bb2e1c1f1a2b3c4d5
    predict,learn  9a8b7c6d5e4f30211203f4e5d6c7b8a9
    admin          0123456789abcdef0123456789abcdef
"""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ocoboost.errors import DataFileError

PREDICT, LEARN, ADMIN = "predict", "learn", "admin"
ROLES = (PREDICT, LEARN, ADMIN)
SHORTEST = 16
MOST_CLIENTS = 1000  # whose rates are known


class Token(NamedTuple):
    """A token and what it allows."""

    secret: bytes
    roles: frozenset[str]


class Tokens:
    """All tokens; with none, everybody may do everything."""

    def __init__(self, tokens: Sequence[Token] = ()) -> None:
        self._tokens = tuple(tokens)

    @classmethod
    def read(cls, path: str) -> Tokens:
        """The tokens in a file; errors name lines and never repeat what is in them."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise DataFileError(f"{path}: cannot be read ({why}).") from None
        tokens = []
        for number, line in enumerate(lines, start=1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            roles = frozenset(words[0].split(","))
            if len(words) != 2 or not roles <= set(ROLES):
                must = f"must be one of the roles {', '.join(ROLES)} (or several, separated by commas) and a token"
                raise DataFileError(f"{path}, line {number}: {must}.")
            if len(words[1]) < SHORTEST or not words[1].isascii():
                raise DataFileError(f"{path}, line {number}: a token needs at least {SHORTEST} ASCII characters.")
            tokens.append(Token(words[1].encode(), roles))
        if not tokens:
            raise DataFileError(f"{path}: there is no token in it.")
        return cls(tokens)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def roles(self, header: bytes | None) -> tuple[int, frozenset[str]] | None:
        """The place and roles of the token in an ``Authorization`` header; None if it is not known.

        Every token is compared, each in constant time: how long it takes tells nothing about any of them.
        """
        if not self._tokens:
            return 0, frozenset(ROLES)
        scheme, _, given = (header or b"").partition(b" ")
        given = given.strip()
        found = None
        for place, token in enumerate(self._tokens):
            if hmac.compare_digest(token.secret, given) and scheme.lower() == b"bearer":
                found = place, token.roles
        return found


def may(roles: frozenset[str], needed: str | None) -> bool:
    """Whether these roles allow what one role is needed for; None is what any of them allows."""
    return needed is None or needed in roles or ADMIN in roles


class Rates:
    """How many rows each client may still send: ``rate`` a second, and at most one second's worth at once."""

    def __init__(self, rate: float | None, most_at_once: int) -> None:
        self._rate = rate
        self._most = max(rate or 0.0, float(most_at_once))
        self._left: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def wait(self, client: object, n_rows: int) -> float:
        """Take rows from what a client has left; seconds to wait if that is too little, and nothing is taken."""
        if self._rate is None:
            return 0.0
        now = time.monotonic()
        left, at = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        missing = n_rows - left
        self._left[client] = (left if missing > 0 else left - n_rows, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return max(0.0, missing / self._rate)
