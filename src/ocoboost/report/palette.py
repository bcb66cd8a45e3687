"""The colours of pages and figures, in light and in dark.

Figures are drawn in the light colours; each is then replaced by a CSS variable that falls back on it, so that a page
recolours its figures with the rest of it.
"""

from __future__ import annotations

import re

LIGHT = {
    "paper": "#fdfdfc",
    "card": "#f5f5f2",
    "ink": "#1b1d21",
    "muted": "#63676e",
    "line": "#d9dad6",
    "series-0": "#0b62c4",
    "series-1": "#c8480a",
    "series-2": "#0d7d68",
    "series-3": "#9a3ab8",
    "series-4": "#a87400",
    "series-5": "#c22552",
    "series-6": "#4b7b12",
    "series-7": "#56606e",
    "series-8": "#0a84a5",
    "series-9": "#7a5236",
}
DARK = {
    "paper": "#15171a",
    "card": "#1d2024",
    "ink": "#e9eaec",
    "muted": "#9da3ab",
    "line": "#373b42",
    "series-0": "#6db1ff",
    "series-1": "#ff9a5c",
    "series-2": "#45cdb0",
    "series-3": "#d690f0",
    "series-4": "#eab84c",
    "series-5": "#ff86a6",
    "series-6": "#a4d65e",
    "series-7": "#aeb8c6",
    "series-8": "#62d0ef",
    "series-9": "#d3a583",
}
SERIES = tuple(colour for name, colour in LIGHT.items() if name.startswith("series"))
_NAMES = {colour: name for name, colour in LIGHT.items()}


def with_variables(svg: str) -> str:
    """Every colour of the light palette as the variable of its name."""
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: _variable(found.group()), svg)


def _variable(colour: str) -> str:
    return f"var(--{_NAMES[colour]}, {colour})" if colour in _NAMES else colour


def standalone(svg: str) -> str:
    """A figure as a file of its own, which follows the reader's choice of light or dark."""
    rules = "".join(f"--{name}:{colour};" for name, colour in DARK.items())
    style = f"<style>@media (prefers-color-scheme: dark){{svg{{{rules}}}}}</style>"
    return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(">", ">" + style, 1)
