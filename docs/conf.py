"""The documentation site: `make docs` builds it into build/site."""

from __future__ import annotations

import inspect
from importlib import metadata
from typing import Any

project = "ocoboost"
author = "The ocoboost developers"
release = metadata.version("ocoboost")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_copybutton"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # shell transcripts

autodoc_typehints = "none"  # parameters are described in the docstrings
autodoc_member_order = "bysource"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

linkcheck_ignore = [r"https?://"]  # the rest are links and anchors within the site

project_copyright = "2026, the ocoboost developers"
html_theme = "furo"
html_title = "ocoboost"
html_show_sphinx = False
html_show_search_summary = False  # would be fetched, which browsers refuse to pages that lie on a disk


def _link_here(app: Any, name: str, source: list[str]) -> None:
    """Pages link to files of the repository, as on its web page; the site has a page of its own for this one."""
    source[0] = source[0].replace("](../CONTRIBUTING.md", "](contributing.md")


def _signature(app: Any, what: str, name: str, thing: Any, *rest: Any) -> tuple[str, None] | None:
    """A class has the parameters of its ``__init__``; Sphinx would show those of ``__new__``."""
    if what != "class":
        return None
    parameters = list(inspect.signature(thing.__init__).parameters.values())[1:]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain)), None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _link_here)
    app.connect("autodoc-process-signature", _signature)
