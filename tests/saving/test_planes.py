"""Arrays as compressed bytes: every bit back, in bounded steps, and nothing but what was declared."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.saving.planes import STEP, deflated, inflate

RECORD = np.dtype([("a", "<f8"), ("b", "<i8"), ("c", "<f8")])


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 7, 2047, 2048, 5000, STEP, STEP + 1]),
    kind=st.sampled_from([np.dtype("<f8"), np.dtype("<i8"), RECORD]),
    noise=st.sampled_from([0, 1, 2, 8]),
)
def test_every_bit_comes_back(seed, n, kind, noise):
    """Planes of noise are stored, others are coded, and both kinds may alternate."""
    rng = np.random.default_rng(seed)
    content = np.zeros((n, kind.itemsize), dtype=np.uint8)
    places = rng.permutation(kind.itemsize)[: noise * kind.itemsize // 8]
    content[:, places] = rng.integers(0, 256, (n, len(places)))
    array = content.reshape(-1).view(kind)
    data = deflated(array)
    back = np.empty(array.shape, dtype=kind)
    inflate(io.BytesIO(data), len(data), back)
    assert back.tobytes() == array.tobytes()
    assert len(data) <= array.nbytes + array.nbytes // 100 + 1000


@pytest.mark.parametrize("n", [99, 101, 0])
def test_other_sizes_than_declared_are_noticed(n):
    data = deflated(np.random.default_rng(0).normal(size=100))
    with pytest.raises(ValueError, match="do not have the declared size"):
        inflate(io.BytesIO(data), len(data), np.empty(n))
    with pytest.raises(ValueError, match=r"do not have the declared size|damaged"):
        inflate(io.BytesIO(data + b"more"), len(data) + 4, np.empty(100))
    with pytest.raises(ValueError, match="truncated while being read"):
        inflate(io.BytesIO(data[:-10]), len(data), np.empty(100))
