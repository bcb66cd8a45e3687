"""The page at `/`: one file without anything from elsewhere, and headers that let it load nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources

from ocoboost.report import palette


@cache
def page() -> str:
    """The page, in the colours of the reports."""
    template = resources.files("ocoboost.serve").joinpath("page.html").read_text(encoding="utf-8")
    for name, colours in (("light", palette.LIGHT), ("dark", palette.DARK)):
        rules = " ".join(f"--{key}: {colour};" for key, colour in colours.items())
        template = template.replace(f"/* {name} */", rules)
    return template


@cache
def page_headers() -> dict[str, str]:
    """What the browser may do with the page: run its own script, use its own style, and ask this service."""
    style, script = (_hashed(tag) for tag in ("style", "script"))
    policy = (
        f"default-src 'none'; style-src {style}; script-src {script}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


def _hashed(tag: str) -> str:
    """The source of the one element of this kind, as a policy names it."""
    (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page(), flags=re.DOTALL)
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
