"""The partitions of Dask arrays and data frames: chunks of whole rows, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client

from ocoboost.batch.distributed import gather

_AHEAD = 2  # partitions that are computed before they are asked for


def is_dask(thing: Any) -> bool:
    return dask.is_dask_collection(thing)  # type: ignore[no-any-return]


def parts_of(thing: Any) -> list[Any]:
    """Chunks of rows, not yet computed."""
    if not hasattr(thing, "rechunk"):
        return list(thing.to_delayed())
    whole_rows = thing.rechunk({1: -1}) if thing.ndim > 1 else thing
    return list(whole_rows.to_delayed().ravel())


def lengths_of(client: Client, thing: Any) -> list[int]:
    """The number of rows of every chunk."""
    if hasattr(thing, "chunks") and not np.isnan(thing.chunks[0]).any():
        return list(thing.chunks[0])
    return gather(client, client.compute([dask.delayed(len)(part) for part in parts_of(thing)]))


def parts_like(client: Client, X: Any, other: Any, lengths: list[int] | None = None) -> list[Any]:
    """Chunks of labels or weights, cut as the rows of ``X`` are."""
    lengths = lengths_of(client, X) if lengths is None else lengths
    knows_length = not is_dask(other) or (hasattr(other, "chunks") and not np.isnan(other.chunks[0]).any())
    if knows_length:
        other = other if is_dask(other) else np.asarray(other)
        if len(other) != sum(lengths):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {[sum(lengths), len(other)]}"
            )
        cut = (tuple(lengths), *((-1,) * (other.ndim - 1)))
        return parts_of(other.rechunk(cut) if is_dask(other) else da.from_array(other, chunks=cut))
    parts = parts_of(other)
    if len(parts) != len(lengths):
        raise ValueError(f"X has {len(lengths)} partitions and y or sample_weight {len(parts)}; partition them alike")
    return parts


def tables(client: Client, X: Any, y: Any, w: Any) -> Iterator[tuple[Any, ...]]:
    """The rows, labels and weights of every partition in turn; a few are computed ahead."""
    n_rows = lengths_of(client, X)
    told = [parts_like(client, X, other, n_rows) for other in (y, w) if other is not None]
    computing: deque[Any] = deque()
    for table in zip(parts_of(X), *told, strict=True):
        computing.append(client.compute(list(table)))
        if len(computing) > _AHEAD:
            yield tuple(gather(client, computing.popleft()))
    while computing:
        yield tuple(gather(client, computing.popleft()))
