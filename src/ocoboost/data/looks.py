"""What the texts of a column look like: dates, numbers or identifiers, told from the first few hundred of them.

Text is read as categories, and none of the three makes good ones. A column is judged after 10, 100 and 300 texts and
then let go, so the memory that this takes is bounded: 25 kB for a column, until then.
"""

from __future__ import annotations

import re
from enum import Enum

FEW, SOME, MANY = 10, 100, 300  # texts after which a column is judged
NEARLY_ALL = 0.9  # of these are dates, or there is no need to count on
DISTINCT = 0.97  # of many: 300 rows of 1,000 categories in random order bring 259, of 10,000 they bring 296
LONGEST = 60  # example, in characters
FEWEST_NUMBERS = 10  # different ones: a handful may well be categories

_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"\d{4}"
_NAME = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d{1,2}:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?: ?[ap]m)?(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d))?"
_DATE = "|".join(
    [
        rf"{_YEAR}([-/.]){_MONTH}\1{_DAY}",  # 2020-12-31
        rf"{_DAY}([-/.]){_MONTH}\2(?:{_YEAR}|\d\d)",  # 31.12.2020
        rf"{_MONTH}([-/.]){_DAY}\3(?:{_YEAR}|\d\d)",  # 12/31/2020
        rf"{_DAY}[ -]{_NAME}[ ,-]*{_YEAR}",  # 31 December 2020
        rf"{_NAME} {_DAY},? {_YEAR}",  # Dec 31, 2020
    ]
)
_WHEN = re.compile(rf"(?:(?:{_DATE})(?:[ T,]+{_TIME})?|{_TIME})", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:\d+(\.\d*)?|(\.\d+))(?:e[+-]?\d+)?", re.IGNORECASE)
# As people write them and float() does not: 1,234.5 and 1.234,5 and 0,25, with a sign of money or per cent.
_MONEY = "[$€£¥₹]?"
_GROUPED = r"\d{1,3}(?:[,.'\u00a0\u202f]\d{3})+(?:[.,]\d+)?"
_WRITTEN = re.compile(rf"[+-]?{_MONEY} ?[+-]?(?:{_GROUPED}|\d+(?:[.,]\d+)?) ?{_MONEY}%?")


class Look(Enum):
    """What a column of text may turn out to be."""

    DATES = "dates or times"
    NUMBERS = "numbers"
    IDENTIFIERS = "identifiers"


class Texts:
    """The first texts of one column, as a few counters and the hashes of the different ones."""

    __slots__ = ("_hashes", "_n_dates", "_n_fractions", "_n_numbers", "example", "is_judged", "n", "n_different")

    def __init__(self) -> None:
        self.n = self.n_different = 0
        self.example = ""
        self.is_judged = False  # then there is nothing more to see
        self._n_dates = self._n_numbers = self._n_fractions = 0
        self._hashes: set[int] = set()

    def see(self, text: str) -> Look | None:
        """Count a text; says what the column looks like once that is clear."""
        self.n += 1
        self._hashes.add(hash(text))
        if self.n <= SOME:
            if _WHEN.fullmatch(text.strip()):
                self._n_dates += 1
            elif number := _NUMBER.fullmatch(text.strip()):
                self._n_numbers += 1
                self._n_fractions += any(number.groups())
            elif _WRITTEN.fullmatch(text.strip()):
                self._n_numbers += 1
                self._n_fractions += 1  # or a sign that codes do not have
        if self.n not in (FEW, SOME, MANY):
            return None
        self.example = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        return self._judge()

    def _judge(self) -> Look | None:
        self.n_different = len(self._hashes)
        look = None
        if self.n <= SOME and self._n_dates >= NEARLY_ALL * self.n:
            look = Look.DATES
        elif self.n == SOME and self._n_numbers == self.n and self._are_measured():
            look = Look.NUMBERS
        elif self.n_different == self.n == SOME or (self.n == MANY and self.n_different >= DISTINCT * MANY):
            look = Look.IDENTIFIERS
        if look is not None or self.n == MANY or (self.n == SOME and self.n_different < NEARLY_ALL * SOME):
            self.is_judged = True
            self._hashes = set()
        return look

    def _are_measured(self) -> bool:
        """Whether numbers mean what they say: whole ones that come again may be codes, and so may a handful."""
        return self.n_different > FEWEST_NUMBERS and (self._n_fractions > 0 or self.n_different == self.n)
