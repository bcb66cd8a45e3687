"""The headers of CSV and ARFF files: which columns there are, and where the records begin."""

from __future__ import annotations

import csv
import re

from ocoboost.errors import DataFileError
from ocoboost.files.arff import Arff, Attribute, attribute
from ocoboost.files.columns import Columns
from ocoboost.files.delimited import Delimited
from ocoboost.files.opening import ByteStream
from ocoboost.files.records import RawChunk, Records
from ocoboost.spelling import quoted

DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = ": "  # which are not guessed
_QUOTED_NAME = re.compile(r'(?:^|(?<=[,;\t|]))"[^"]*(?:""[^"]*)*"')


def open_csv(stream: ByteStream, columns: Columns, delimiter: str | None = None) -> tuple[Delimited, Records]:
    """A CSV file, its header read: the first line that is not blank names the columns."""
    records = Records(stream, b'"')
    while True:
        number, text = _take_line(stream.name, records)
        if text is None:
            raise DataFileError(f"{stream.name}: empty file; the first line must name the columns.")
        text = text.removeprefix("\ufeff")
        if text.strip():
            break
    text = text.rstrip("\r\n")
    if "\r" in text:
        raise DataFileError(f"{stream.name}: lines end with carriage returns only; convert them to line feeds.")
    if text.count('"') % 2:
        raise DataFileError(f"{stream.name}, line {number}: unclosed quote in the header.")
    if delimiter is None:
        delimiter = max(DELIMITERS, key=_QUOTED_NAME.sub("", text).count)
    columns.has_decimal_commas = delimiter == ";"  # spreadsheets write it where the comma is taken
    header = _names(text, delimiter)
    columns.hint = _delimiter_hint(text, delimiter, header, columns)
    return Delimited(stream.name, columns, delimiter, header), records


def _delimiter_hint(text: str, delimiter: str, header: list[str], columns: Columns) -> str:
    """What to add if a column is not found: whether another delimiter would find one that is asked for."""
    asked = set(columns.only or ()) if columns.target is None else {columns.target}
    if not asked or not asked.isdisjoint(header):
        return ""
    is_single = len(header) == 1
    for other in DELIMITERS + (_OTHER_DELIMITERS if is_single else ""):
        found = [] if other == delimiter else [name for name in _names(text, other) if name in asked]
        if found:
            option = "tab" if other == "\t" else repr(other)
            return f"with --delimiter {option} there is a column {quoted(found[0])}"
    return "the header is read as one column: if it names more, give --delimiter" if is_single else ""


def _names(text: str, delimiter: str) -> list[str]:
    return next(csv.reader([text], delimiter=delimiter))


def open_arff(stream: ByteStream, columns: Columns) -> tuple[Arff, Records]:
    """An ARFF file, its header read: @attribute lines name the columns and say what they hold."""
    records = Records(stream, None)
    attributes: list[Attribute] = []
    while True:
        number, line = _take_line(stream.name, records)
        if line is None:
            raise DataFileError(f"{stream.name}: no @data line; is this an ARFF file?")
        text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        word = text.replace("\t", " ").partition(" ")[0].lower()
        if word == "@data":
            break
        if word == "@attribute":
            attributes.append(attribute(stream.name, number, text))
        elif text and not text.startswith("%") and word != "@relation":
            raise DataFileError(f"{stream.name}, line {number}: {quoted(text)} does not belong in an ARFF header.")
    return Arff(stream.name, columns, attributes), records


def _take_line(name: str, records: Records) -> tuple[int, str | None]:
    """The number and the text of the next line; no text at the end."""
    number, start = records.line, records.offset
    line = records.take_line()
    return number, RawChunk(line, start, start + len(line), number).decode(name) if line else None
