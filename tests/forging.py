"""Model files taken apart, changed and sealed again, by what `benchmarks/fuzz_models.py` does it with."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ocoboost
from model_files import MODELS, long_stream, taught
from ocoboost.errors import ModelFileError


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_forged = _load("forged_models")
File, sealed, packed, mutated = _forged.File, _forged.sealed, _forged.packed, _forged.mutated


def forged(saved: bytes, change: Callable[[Any], object]) -> bytes:
    """The file with a change to its JSON."""
    file = File(saved)
    change(file.header)
    return sealed(file.header, file.arrays)


def misdeclared(saved: bytes, lie: Callable[[Any], object]) -> bytes:
    """The file with a change to what it declares of its arrays."""
    file = File(saved)
    return sealed(file.header, file.arrays, lambda header, stored: lie(header["arrays"]))


def entry(packed_value: Any, *keys: Any) -> Any:
    """Where a value is in packed dicts and lists."""
    for key in keys:
        pairs = packed_value["dict"] if isinstance(packed_value, dict) else enumerate(packed_value)
        packed_value = next(value for name, value in pairs if name == key)
    return packed_value


def replace(packed_dict: Any, key: Any, value: Any) -> None:
    """Give a key of a packed dict another value."""
    for pair in packed_dict["dict"]:
        if pair[0] == key:
            pair[1] = value


def parameters(header: Any) -> Any:
    return entry(header["content"], "classifier", "parameters")


def state(header: Any, *keys: Any) -> Any:
    return entry(header["content"], "state", *keys)


def saved_as(name: str, tmp_path_factory: Any, n_rows: int = 400) -> bytes:
    """A model file."""
    path = tmp_path_factory.mktemp("saved") / "model.oco"
    ocoboost.save(taught(MODELS[name](seed=3), list(long_stream(n_rows))), path)
    return path.read_bytes()


def refusal(content: bytes, tmp_path: Path) -> str:
    """What `load` says to a file that it refuses."""
    (tmp_path / "model.oco").write_bytes(content)
    with pytest.raises(ModelFileError) as refused:
        ocoboost.load(tmp_path / "model.oco")
    message = str(refused.value)
    assert message.startswith(f"{tmp_path / 'model.oco'}: ")
    assert "\n" not in message
    return message
