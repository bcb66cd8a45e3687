"""Arrays that grow where they are hold what copies would hold."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.learners import growing
from ocoboost.learners.growing import Room
from ocoboost.learners.mondrian.layout import NODE

N_LEARNERS = 3


def fill(array, used, draw):
    """Write to every part that is used, as kernels do."""
    for learner, n_used in enumerate(used):
        parts = array[learner, :n_used]
        parts.view(np.uint8)[...] = draw.integers(1, 255, parts.view(np.uint8).shape, dtype=np.uint8)


def copied(array, used, size):
    """The slow twin: a new array of zeros, and copies."""
    new = np.zeros((array.shape[0], size, *array.shape[2:]), dtype=array.dtype)
    for learner, n_used in enumerate(used):
        new[learner, :n_used] = array[learner, :n_used]
    return new


@pytest.mark.parametrize(("dtype", "rest"), [(NODE, ()), (np.dtype(float), (5,)), (np.dtype(float), (2, 3))])
@pytest.mark.parametrize("spare", [1, 8])  # with 1, every growth needs another reservation
@given(data=st.data())
def test_grows_as_a_copy_would(dtype, rest, spare, data):
    draw = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "LEAST_BYTES", 1000)
        patch.setattr(growing, "SPARE", spare)
        room, array = Room(), np.zeros((N_LEARNERS, 1, *rest), dtype=dtype)
        for added in data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=6)):
            size = array.shape[1]
            used = np.array(data.draw(st.lists(st.integers(0, size), min_size=N_LEARNERS, max_size=N_LEARNERS)))
            more = data.draw(st.integers(0, 100))
            fill(array, used, draw)
            expected = copied(array, used, size + added)
            array = room.grown(array, used, size + added, size + added + more)
            assert array.shape == expected.shape
            assert array.flags.c_contiguous
            assert array.flags.writeable
            assert array.tobytes() == expected.tobytes()


def test_grows_in_place_once_large(monkeypatch):
    monkeypatch.setattr(growing, "LEAST_BYTES", 1000)
    room, used = Room(), np.array([2, 1])
    first = room.grown(np.ones((2, 2, 4)), used, 50, 100)
    second = room.grown(first, used, 60, 100)
    assert np.shares_memory(first, second) == growing._CAN_RESERVE
    assert not np.shares_memory(second, room.grown(second.copy(), used, 70, 100))  # of another array it knows nothing


def test_grows_without_reserved_memory(monkeypatch):
    monkeypatch.setattr(growing, "LEAST_BYTES", 1000)
    monkeypatch.setattr(growing, "reserve", lambda n_bytes: None)
    array, used = np.ones((2, 2, 4)), np.array([2, 1])
    assert np.array_equal(Room().grown(array, used, 50, 100), copied(array, used, 50))


def test_pickles_hold_no_reserved_memory(monkeypatch):
    monkeypatch.setattr(growing, "LEAST_BYTES", 1000)
    room = Room()
    room.grown(np.ones((2, 2, 4)), np.array([2, 1]), 50, 100)
    assert len(pickle.dumps(room)) < 200


def test_what_is_only_reserved_is_no_array(monkeypatch):
    """River adds up the arrays that it finds in a model."""
    monkeypatch.setattr(growing, "LEAST_BYTES", 1000)
    room = Room()
    array = room.grown(np.ones((2, 2, 4)), np.array([2, 1]), 50, 1000)
    assert all(held is array for held in vars(room).values() if isinstance(held, np.ndarray))
