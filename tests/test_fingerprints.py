"""Nothing is computed differently from when the fingerprints were taken (see ``fingerprints``)."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import pytest

from fingerprints.table import every_case, read

CASES = every_case()
KEPT = read()
TOLERANCE = 1e-9


def differences(found, kept):
    """One line for every part that is not as it was."""
    for kind in ("exact", "floats"):
        for part in sorted(found[kind].keys() | kept[kind].keys()):
            if part not in found[kind] or part not in kept[kind]:
                yield f"{part} is {'new' if part in found[kind] else 'gone'}"
                continue
            now, before = found[kind][part], kept[kind][part]
            is_same = now == before if kind == "exact" else are_close(now, before)
            if not is_same:
                yield f"{part} {where(now, before, kind)}"


def are_close(now, before):
    return len(now) == len(before) and np.allclose(now, before, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def where(now, before, kind):
    """The first place at which two parts differ; of what is short, or stands for more, all."""
    if not isinstance(now, str | list) or not isinstance(before, str | list) or max(len(now), len(before)) <= 16:
        return f"is {now!r}, was {before!r}"
    missing = "nothing"
    for place, (one, other) in enumerate(zip_longest(now, before, fillvalue=missing)):
        is_same = one == other if kind == "exact" or missing in (one, other) else are_close([one], [other])
        if not is_same:
            return f"at {place} is {one!r}, was {other!r}"
    return "differs"  # in type only


def test_every_case_has_a_fingerprint():
    assert sorted(CASES) == sorted(KEPT), "run python tests/fingerprints/__main__.py, and look at the difference"


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_computed_differently(name):
    found = list(differences(CASES[name](), KEPT[name]))
    assert not found, f"{name}: " + "; ".join(found)
