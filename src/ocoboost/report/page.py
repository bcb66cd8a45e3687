"""What a page is, and how it becomes HTML or Markdown.

>>> table = Table(("model", "accuracy"), [("stump", "78.3"), ("boosted", "95.1")], caption="Segment")
>>> page = Page("A race", "Two models.", [Section("Accuracy", ["Higher is better.", table])], {"seed": "1"})
>>> html = render(page)
>>> "<h1>A race</h1>" in html, "http" in html
(True, False)
"""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ocoboost.report import palette
from ocoboost.spelling import escaped
from ocoboost.writing import replacing

if TYPE_CHECKING:
    from ocoboost.report.figures import Twice

PACKAGES = ("ocoboost", "numpy", "numba", "river", "scikit-learn")


@dataclass(frozen=True)
class Table:
    """Rows of text under column names. The first column names the row; the others are set like numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    strong: frozenset[tuple[int, int]] = frozenset()  # (row, column) of the cells that are set in bold
    text: frozenset[int] = frozenset()  # columns besides the first that are no numbers


@dataclass(frozen=True)
class Figure:
    """One or more panels under one caption: SVG of ``report.figures``, by the alternative text of each.

    A panel that was drawn twice spans the page.
    """

    panels: Mapping[str, str | Twice]
    caption: str = ""
    wide: bool = False  # a panel takes the full width


Part: TypeAlias = str | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading and its content; text is a paragraph."""

    title: str
    parts: Sequence[Part]

    @property
    def anchor(self) -> str:
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


@dataclass(frozen=True)
class Page:
    """A whole report. ``facts`` tells how it was made; see ``provenance``."""

    title: str
    summary: str
    sections: Sequence[Section]
    facts: Mapping[str, str] = field(default_factory=dict)


def provenance(command: Sequence[str], **facts: object) -> dict[str, str]:
    """The exact command, then ``facts`` such as seeds, then the versions and the machine."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    given = {name.replace("_", " "): str(value) for name, value in facts.items()}
    return {"command": shlex.join(command), **given, "versions": versions, "machine": machine}


def render(page: Page) -> str:
    """The page as one HTML file."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ocoboost.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if hasattr(value, "__html__") or not isinstance(value, str) else escaped(value),
    )
    environment.filters["spoken"] = _spoken
    environment.tests["text"] = lambda part: isinstance(part, str)
    environment.tests["twice"] = lambda panel: not isinstance(panel, str)
    environment.tests["table"] = lambda part: isinstance(part, Table)
    return environment.get_template("page.html.j2").render(page=page, light=palette.LIGHT, dark=palette.DARK)


def _spoken(svg: str, alt: str) -> Any:
    """An SVG with its alternative text."""
    import markupsafe

    label = f'<svg role="img" aria-label="{markupsafe.escape(escaped(alt))}" '
    return markupsafe.Markup(svg.replace("<svg ", label, 1))


def write(page: Page, path: Path) -> None:
    """Render the page into a file, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    html = render(page).encode()
    with replacing(path) as file:
        file.write(html)


def markdown(sections: Sequence[Section], figures: Path, link: str) -> str:
    """Sections as Markdown; panels become files in the folder ``figures``, which the text links as ``link``."""
    figures.mkdir(parents=True, exist_ok=True)
    lines = []
    for section in sections:
        lines += [f"## {section.title}", ""]
        n_panels = 0
        for part in section.parts:
            if isinstance(part, Figure):
                for alt, panel in part.panels.items():
                    svg = panel if isinstance(panel, str) else panel.wide
                    n_panels += 1
                    name = f"{section.anchor}-{n_panels}.svg"
                    (figures / name).write_text(palette.standalone(svg), encoding="utf-8")
                    lines.append(f"![{alt}]({link}/{name})")
                lines += ["", part.caption, ""]
            elif isinstance(part, Table):
                lines += [*markdown_table(part), "", *([part.caption, ""] if part.caption else [])]
            else:
                lines += [part, ""]
    return "\n".join(lines)


def markdown_table(table: Table, text: Collection[int] = (0,)) -> list[str]:
    """The lines of a table, without its caption; ``text`` are the columns that are no numbers.

    >>> print("\\n".join(markdown_table(Table(("model", "accuracy"), [("stump", "78.3")], strong=frozenset({(0, 1)})))))
    | model | accuracy |
    |---|---:|
    | stump | **78.3** |
    """
    rule = "|" + "".join("---|" if column in text else "---:|" for column in range(len(table.columns)))
    lines = ["| " + " | ".join(table.columns) + " |", rule]
    for i, row in enumerate(table.rows):
        cells = [f"**{cell}**" if (i, j) in table.strong else cell for j, cell in enumerate(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
