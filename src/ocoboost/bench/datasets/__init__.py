"""The seven datasets of the paper, and how to stream them.

A dataset is a list of (x, y) pairs, x a dict. Their file order is systematic, so shuffle before streaming.
"""

from __future__ import annotations

from ocoboost.bench.datasets.catalogue import PAPER, Dataset
from ocoboost.bench.datasets.files import DatasetDamagedError, DatasetMissingError, checksum, load, load_raw, status
from ocoboost.bench.datasets.rules import balance, cars
from ocoboost.bench.datasets.streams import Stream, imputed, ranked, shuffled

__all__ = [
    "PAPER",
    "Dataset",
    "DatasetDamagedError",
    "DatasetMissingError",
    "Stream",
    "balance",
    "cars",
    "checksum",
    "imputed",
    "load",
    "load_raw",
    "ranked",
    "shuffled",
    "status",
]
