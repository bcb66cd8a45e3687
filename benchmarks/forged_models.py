"""Model files that someone has changed, with checksums and sizes that fit again.

A file is taken apart into its JSON and its arrays, changed by someone who knows the format, and sealed again: values of
the JSON, numbers in arrays (links, slots, codes, weights), shapes and types, what the header declares, and the
compressed bytes themselves.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ocoboost.saving import container
from ocoboost.saving.planes import deflated, deflated_text, inflate

INTS = [-1, 0, 1, 2, 3, 7, 40, 10**6, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [np.nan, np.inf, -np.inf, -1.0, -0.0, 0.5, 1.0, 2.0, 1e-300, 1e18, 1e308, -1e308, 5e-324]
VALUES: list[Any] = [
    *INTS,
    10**30,
    -1.5,
    1e300,
    True,
    None,
    "",
    "text",
    "numbers",
    "HoeffdingTrees",
    "\x1b[31mred\n",
    "\ud800",
    [],
    [1, 2],
    {"float": "nan"},
    {"float": "-inf"},
    {"array": 0},
    {"array": 3},
    {"array": 10**6},
    {"tuple": [1, "a"]},
    {"dict": []},
    {"dict": [["a", 1], ["a", 2]]},
    {"set": [{"dict": []}]},
    {"bytes": "00ff"},
    {"object": "os.system"},
    {},
]


class File:
    """A model file in its parts."""

    def __init__(self, data: bytes) -> None:
        *_, text_size, _ = container.PREFIX.unpack_from(data)
        first = container.PREFIX.size + text_size
        self.header: Any = json.loads(zlib.decompress(data[container.PREFIX.size : first], -zlib.MAX_WBITS))
        file, self.arrays = io.BytesIO(data[first:]), []
        for declared in self.header["arrays"]:
            kind = declared["dtype"] if isinstance(declared["dtype"], str) else [tuple(f) for f in declared["dtype"]]
            array = np.empty(declared["shape"], dtype=np.dtype(kind))
            inflate(file, declared["stored"], array)
            self.arrays.append(array)
        self.text = json.dumps(self.header)

    def copy(self) -> File:
        """One to change."""
        made = object.__new__(File)
        made.header, made.arrays = json.loads(self.text), [array.copy() for array in self.arrays]
        return made


def sealed(
    header: Any,
    arrays: list[np.ndarray[Any, Any]],
    lie: Callable[[Any, list[bytes]], None] = lambda header, stored: None,
    text_sizes: tuple[int, int] = (0, 0),
) -> bytes:
    """A file; ``lie`` changes what is declared, ``text_sizes`` are added to the sizes of the JSON."""
    stored = [deflated(array) for array in arrays]
    header["arrays"] = [
        {
            "dtype": array.dtype.str if array.dtype.names is None else [list(field) for field in array.dtype.descr],
            "shape": list(array.shape),
            "stored": len(data),
        }
        for array, data in zip(arrays, stored, strict=True)
    ]
    lie(header, stored)
    return packed(json.dumps(header).encode(), stored, text_sizes)


def packed(text: bytes, stored: list[bytes], text_sizes: tuple[int, int] = (0, 0)) -> bytes:
    """The bytes of a file, with a checksum that fits."""
    deflated_header = deflated_text(text)
    body = deflated_header + b"".join(stored)
    size = container.PREFIX.size + len(body) + container.DIGEST_SIZE
    sizes = max(0, len(deflated_header) + text_sizes[0]), max(0, len(text) + text_sizes[1])
    content = container.PREFIX.pack(container.MAGIC, container.FORMAT_VERSION, 0, size, *sizes) + body
    return content + hashlib.sha256(content).digest()


def mutated(file: File, rng: np.random.Generator) -> bytes:
    """A file with one to three changes."""
    changed = file.copy()
    lies: list[Callable[[Any, list[bytes]], None]] = []
    text_sizes = (0, 0)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        how = rng.random()
        if how < 0.3:
            change_json(changed.header, rng)
        elif how < 0.75:
            change_numbers(changed.arrays[pick(rng, changed.arrays)], rng)
        elif how < 0.88:
            change_shape(changed.arrays, rng)
        elif how < 0.94:
            lies.append(lambda header, stored: lie_about(header, stored, rng))
        elif how < 0.98:
            lies.append(lambda header, stored: damage(stored, rng))
        else:
            text_sizes = int(rng.integers(-3, 4)), int(rng.choice([-1, 1, 10**6, 2**40]))
    return sealed(
        changed.header, changed.arrays, lambda header, stored: [lie(header, stored) for lie in lies], text_sizes
    )


def pick(rng: np.random.Generator, items: Any) -> int:
    return int(rng.integers(len(items)))


# -- the JSON ----------------------------------------------------------------------------------------------------------


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container and key in JSON."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def change_json(header: Any, rng: np.random.Generator) -> None:
    """Replace, remove, repeat or exchange values."""
    every = list(places({"content": header["content"]}))
    inside, key = every[pick(rng, every)]
    other, other_key = every[pick(rng, every)]
    how = rng.random()
    if key == "content" or how < 0.6:
        if key == "content":
            inside = header
        value = inside[key]
        if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.5:
            inside[key] = value + int(rng.choice([-1, 1]))
        else:
            inside[key] = copy.deepcopy(VALUES[pick(rng, VALUES)])
    elif how < 0.75:
        del inside[key]
    elif how < 0.9:
        inside[key] = copy.deepcopy(other[other_key])
    elif isinstance(inside, list):
        inside.insert(key, copy.deepcopy(inside[key]))
    else:
        inside["dict"] = inside.pop(key)


# -- the arrays --------------------------------------------------------------------------------------------------------


def change_numbers(array: np.ndarray[Any, Any], rng: np.random.Generator) -> None:
    """Set some numbers of an array, or of one field of its records."""
    if array.size == 0:
        return
    if array.dtype.names is not None:
        array = array[array.dtype.names[pick(rng, array.dtype.names)]]
    flat = array.reshape(-1) if array.flags.c_contiguous else array
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        where = pick(rng, flat)
        if array.dtype.kind == "f":
            flat[where] = flat[pick(rng, flat)] if rng.random() < 0.2 else FLOATS[pick(rng, FLOATS)]
        else:
            near = [int(flat[pick(rng, flat)]), min(int(flat[where]), 2**62) + 1, max(int(flat[where]), -(2**62)) - 1]
            flat[where] = near[pick(rng, near)] if rng.random() < 0.6 else INTS[pick(rng, INTS)]


def change_shape(arrays: list[np.ndarray[Any, Any]], rng: np.random.Generator) -> None:
    """Change the shape or the type of an array, or exchange two."""
    where = pick(rng, arrays)
    array = arrays[where]
    other = pick(rng, arrays)
    axis = pick(rng, range(max(1, array.ndim)))
    changes: list[Callable[[], Any]] = [
        lambda: array[:0],
        lambda: array[:-1],
        lambda: np.concatenate([array, array[-1:]]),
        lambda: array.reshape(-1),
        lambda: array.reshape(1, *array.shape),
        lambda: array.T,
        lambda: array[::-1],
        lambda: np.take(array, [0], axis=axis),
        lambda: np.repeat(array, 2, axis=axis),
        lambda: array.astype(np.int64 if array.dtype.kind == "f" else np.float64),
        lambda: array.view(np.float64) if array.dtype.names is None else array.view(np.int64),
        lambda: np.roll(array, 1, axis=0),
        lambda: arrays[other],
        lambda: np.zeros((0, 2**40)),
    ]
    try:
        with np.errstate(all="ignore"):
            arrays[where] = np.ascontiguousarray(changes[pick(rng, changes)]())
    except (ValueError, TypeError, IndexError):
        arrays[where] = array[:0]


# -- what is declared, and the bytes -----------------------------------------------------------------------------------


def lie_about(header: Any, stored: list[bytes], rng: np.random.Generator) -> None:
    """Declare another shape, type or size than an array has."""
    declared = header["arrays"]
    if not declared:
        return
    array = declared[pick(rng, declared)]
    how = pick(rng, range(6))
    if how == 0:
        array["shape"] = [int(rng.choice([0, 1, 2**20, 2**31, 2**47, 2**50, -1])) for _ in array["shape"]]
    elif how == 1:
        array["stored"] += int(rng.choice([-1, 1, 10**9]))
    elif how == 2:
        array["dtype"] = [*VALUES, "<f8", "<i8", "|O", "<f4"][-1 - pick(rng, range(8))]
    elif how == 3:
        array[["shape", "stored", "dtype"][pick(rng, "abc")]] = VALUES[pick(rng, VALUES)]
    elif how == 4:
        declared.pop()
    else:
        declared.append(copy.deepcopy(array))


def damage(stored: list[bytes], rng: np.random.Generator) -> None:
    """Change the compressed bytes of an array; the sizes stay."""
    if not stored:
        return
    where = pick(rng, stored)
    data = bytearray(stored[where])
    if rng.random() < 0.5:
        data[pick(rng, data)] ^= 1 << int(rng.integers(8))
    else:
        zeros = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        bomb = zeros.compress(bytes(max(0, 1000 * (len(data) - 20)))) + zeros.flush()
        data[: len(bomb)] = bomb[: len(data)]
    stored[where] = bytes(data)
