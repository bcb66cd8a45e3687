"""HTTP by ``httptools``, which takes half of the time of a parser in Python, and here takes no endless headers.

uvicorn's protocol collects headers without a bound, before anybody can be asked for a token.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_BYTES = 2**16  # that are no body, one after another, in a request; what h11 takes, too


class BoundedProtocol(HttpToolsProtocol):
    """A connection that is closed when it sends headers without end."""

    _n_bytes = 0  # since anything of a body came, or a request ended

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        self._n_bytes += len(data)
        super().data_received(data)
        if self._n_bytes > MOST_BYTES and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def on_body(self, body: bytes) -> None:
        """A part of a body: how long it may be is for the application to say."""
        self._n_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The end of a request."""
        self._n_bytes = 0
        super().on_message_complete()
