"""Forged trees: whatever a kernel follows is checked until nothing leads out of an array or round in a circle."""

from __future__ import annotations

import numpy as np
import pytest

import ocoboost
from forging import File, entry, mutated, parameters, refusal, replace, saved_as, sealed, state
from model_files import long_stream
from ocoboost.errors import InvalidInputError, ModelFileError


def test_more_than_the_limit_on_memory_is_refused(tmp_path, hoeffding):
    file = File(hoeffding)
    replace(parameters(file.header), "max_size", 1e-6)
    place = entry(state(file.header, "learned", "ensemble", "trees"), "moments")["array"]
    file.arrays[place] = np.random.default_rng(0).normal(size=(5_000_000,))
    assert "more than its max_size=1e-06 allows" in refusal(sealed(file.header, file.arrays), tmp_path)


def test_trees_of_very_different_sizes_may_not_swell(tmp_path):
    """Side by side in arrays, one tree of many nodes among many of one would take the square of what they use."""
    model = ocoboost.MondrianTrees(n_learners=20_000, seed=1)
    model.learn_many([{"a": 1.0}], [0])
    ocoboost.save(model, tmp_path / "wide.oco")
    file = File((tmp_path / "wide.oco").read_bytes())
    names = dict(state(file.header, "learned", "ensemble", "trees")["dict"])
    n = 40_001  # a chain
    branches = np.zeros(n // 2, dtype=file.arrays[names["branches"]["array"]].dtype)
    branches["left"], branches["right"] = 2 * np.arange(n // 2) + 1, 2 * np.arange(n // 2) + 2
    feature = np.where(np.arange(n) % 2, -1, 0)
    feature[-1] = -1
    longer = {"feature": feature, "branches": branches, "branch_weights": np.zeros((n // 2, 1))}
    longer |= {"leaf_weights": np.zeros((n // 2 + 1, 1)), "left_times": np.zeros(n // 2)}
    longer |= {"low_corner": np.zeros(n // 2 + 1), "right_times": np.zeros(n // 2)}
    longer["leaves"] = np.zeros(n // 2 + 1, dtype=file.arrays[names["leaves"]["array"]].dtype)
    for name, first in longer.items():  # in the place of the first tree's one leaf
        place = names[name]["array"]
        rest = file.arrays[place][1:]
        file.arrays[place] = np.concatenate([first.astype(rest.dtype), rest])
    file.arrays[names["n_nodes"]["array"]][0] = n
    assert "in memory" in refusal(sealed(file.header, file.arrays), tmp_path)


def forge_array(content, name, change, *keys):
    """The file with a change to one of the trees' arrays."""
    file = File(content)
    place = entry(state(file.header, "learned", "ensemble", "trees", *keys), name)["array"]
    changed = change(file.arrays[place])
    file.arrays[place] = file.arrays[place] if changed is None else changed
    return sealed(file.header, file.arrays)


def put(field, where, value):
    def change(nodes):
        nodes[field][where] = value

    return change


TREES = {
    "hoeffding": {
        "a kind": ("nodes", put("kind", 0, 4), "kind"),
        "a child before its parent": ("nodes", put("first_child", 0, 0), "first_child"),
        "a child outside": ("nodes", put("first_child", 0, 10**6), "first_child"),
        "a sibling that leads back": ("nodes", put("sibling", 2, 1), "sibling"),
        "no second child": ("nodes", put("sibling", 1, -1), "sibling"),
        "a parent": ("nodes", put("parent", 1, 5), "parent"),
        "a feature outside": ("nodes", put("feature", 0, 99), "feature"),
        "a slot twice": ("nodes", lambda n: n["slot"].__setitem__(n["slot"] > 0, 0), "slot"),
        "a slot outside": ("nodes", lambda n: n["slot"].__setitem__(n["slot"] == 0, 10**6), "slot"),
        "a branch with a slot": ("nodes", put("slot", 0, 0), "moments"),
        "a depth": ("nodes", put("depth", 1, 7), "depth"),
        "a threshold": ("nodes", put("threshold", 0, np.nan), "threshold"),
        "more nodes than there are": ("n_nodes", lambda n: n.__setitem__(0, 10**9), "n_nodes"),
        "no nodes": ("n_nodes", lambda n: n.__setitem__(0, 0), "n_nodes"),
        "a negative weight": ("class_weight", lambda w: w.__setitem__(0, -1.0), "class_weight"),
        "a class seen twice": ("class_seen", lambda s: s.__setitem__(0, 2), "class_seen"),
        "one slot less": ("moments", lambda m: m[1:], "moments"),
        "one category more": ("tables", lambda t: np.concatenate([t, t], axis=3), "tables"),
        "numbers that are whole": ("moments", lambda m: m.view(np.int64), "moments"),
        "one learner less": ("visible", lambda v: v[1:], "visible"),
    },
    "mondrian": {
        "a feature outside": ("feature", lambda f: f.__setitem__(0, 10**6), "feature"),
        "a circle": ("branches", lambda b: b["left"].__setitem__(0, b["right"][0]), "left and right"),
        "a child outside": ("branches", put("left", 0, 10**6), "left and right"),
        "one branch less": ("branches", lambda b: b[1:], "branches"),
        "a share": ("branches", put("share", 0, 2.0), "share"),
        "no time": ("left_times", lambda t: t.__setitem__(0, np.nan), "time"),
        "a negative weight": ("branch_weights", lambda w: w.__setitem__(0, w[0] ^ -(2**63)), "class_weight"),
        "a corner outside": ("low_corner", lambda c: c.__setitem__(0, 10**6), "low_corner"),
        "a corner before the first": ("low_corner", lambda c: c.__setitem__(0, -1), "low_corner"),
        "infinite corners": ("corners", lambda c: c.__setitem__(0, np.inf), "corners"),
        "a leaf that is none": ("wide", lambda w: w.__setitem__(-1, 10**6), "wide"),
        "no units": ("scale", lambda s: s.__setitem__(0, 0.0), "scale"),
        "rows before the first": ("n_taught", lambda n: n.__setitem__(0, -1), "n_taught"),
        "a column less": ("corners", lambda c: c[:, 1:], "corners"),
    },
}


@pytest.mark.parametrize(("name", "change"), [(name, change) for name in TREES for change in TREES[name]])
def test_forged_trees_are_refused(name, change, request, tmp_path):
    array, forge, message = TREES[name][change]
    content = forge_array(request.getfixturevalue(name), array, forge)
    assert f"invalid tree state: {message}" in refusal(content, tmp_path)


def test_nodes_that_circle_apart_from_the_root_are_refused(mondrian, tmp_path):
    """Every node is the child of exactly one, and yet two of them are each other's."""

    file = File(mondrian)
    trees = state(file.header, "learned", "ensemble", "trees")
    feature, branches = (file.arrays[entry(trees, name)["array"]] for name in ("feature", "branches"))
    number = {int(node): place for place, node in enumerate(np.flatnonzero(feature[:20] != -1))}  # of the first tree
    links = [(a, side, int(branches[side][number[a]])) for a in number for side in ("left", "right")]
    inner = [link for link in links if link[2] in number]
    above, side, a = next(link for link in inner if any(other[0] == link[2] for other in inner))
    b = next(other[2] for other in inner if other[0] == a)
    # b's left child instead of a, and a below b
    branches[side][number[above]], branches["left"][number[b]] = branches["left"][number[b]], a
    assert "left and right" in refusal(sealed(file.header, file.arrays), tmp_path)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("mixture", "ages", "olm")]


@pytest.mark.parametrize("name", [*SLOW, "hoeffding", "mondrian"])
def test_mutated_files_are_refused_or_harmless(name, tmp_path, tmp_path_factory):
    """As `benchmarks/fuzz_models.py` does many times over: refused in one line, or the model predicts and learns."""
    file = File(saved_as(name, tmp_path_factory, 60))
    path, outcomes = tmp_path / "model.oco", {"refused": 0, "learned": 0, "rows refused": 0}
    rows = list(long_stream(10))
    for case in range(150):
        path.write_bytes(mutated(file, np.random.default_rng(case)))
        try:
            model = ocoboost.load(path)
        except ModelFileError as error:
            outcomes["refused"] += "\n" not in str(error)
            continue
        with np.errstate(all="ignore"):
            try:
                known = model.classes_
                model.predict_proba_many([x for x, _, _ in rows])
                model.learn_many([x for x, _, _ in rows], [known[y % len(known)] for _, y, _ in rows])
            except InvalidInputError:  # of columns that are called text or numbers, and never were
                outcomes["rows refused"] += 1
                continue
        outcomes["learned"] += 1
    assert sum(outcomes.values()) == 150
    assert min(outcomes["refused"], outcomes["learned"]) > 10
