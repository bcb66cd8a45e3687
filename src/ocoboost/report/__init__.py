"""Reports: one HTML file with its figures inside, which needs no network.

A page is data: a title, a summary and sections, whose parts are paragraphs, tables and figures. ``write`` renders it.
"""

from __future__ import annotations

from ocoboost.report.page import Figure, Page, Part, Section, Table, markdown, markdown_table, provenance, render, write

__all__ = ["Figure", "Page", "Part", "Section", "Table", "markdown", "markdown_table", "provenance", "render", "write"]
