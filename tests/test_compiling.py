"""Kernels compile and say the same if Numba does not let them go without counting references."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config
from numba.core import compiler

import ocoboost
from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, compiling
from ocoboost.oco.domains import Simplex, UnitInterval
from ocoboost.oco.players import PLAYERS, Game
from ocoboost.oco.projections import project_onto_simplex, project_row
from ocoboost.parts import OPT_LEVEL, PART_OPTIONS, _lighter, _quick, signatures_of

ASKED = "import os; os.environ['OCOBOOST_COUNT_REFERENCES'] = '1'"
# A Numba that does not know the switch: it refuses a kernel that is compiled with it.
REFUSED = "from numba.core import cpu; del cpu._options_mixin._nrt"
RUN = "import json, sys, test_compiling as here; print(json.dumps(getattr(here, sys.argv[1])()))"

needs_compiler = pytest.mark.skipif(not compiling.IS_COMPILED, reason="nothing is compiled")


def small_kernels():
    """Every player's moves on both domains, and projections; the last word says whether references were counted."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(50, 4))
    project_onto_simplex(points, points)
    plays = {}
    for name, player in PLAYERS.items():
        for domain in (Simplex(4), UnitInterval()):
            game = Game(domain, 20, 3.0, 3.0)
            play = np.tile(domain.centre(), (3, 1))
            memory = player.begin(domain, play)
            for turn in range(20):
                gradients = rng.uniform(-1.0, 1.0, size=play.shape)
                player.step(game, play, memory, gradients, player.optimal_step(game, domain.centre()), turn)
            plays[f"{name} {domain}"] = play.tolist()
    return points.tolist(), plays, "_nrt" not in project_row.targetoptions


def fused_run():
    """Labels, distributions and tree weights of boosted Hoeffding trees, which split."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3]).tolist()
    learner = HoeffdingTrees(grace_period=10, delta=0.5, tau=0.5)
    model = OnlineAgnosticBoostClassifier(learner, n_learners=4, gamma=0.3, seed=3)
    labels = model.predict_learn_many(X, y)
    trees = model.state_.engine.cascades[0].ensemble.trees
    assert trees.n_nodes.min() > 1
    return (
        labels,
        model.predict_proba_many(X).tolist(),
        trees.class_weight.tolist(),
        "_nrt" not in project_row.targetoptions,
    )


def elsewhere(first, what, tmp_path):
    """The same in a process that begins with ``first``, with kernels of its own."""
    paths = [str(Path(ocoboost.__file__).parents[1]), str(Path(__file__).parent)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", f"{first}\n{RUN}", what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def here(what):
    """The normal path, as JSON would have it."""
    return json.loads(json.dumps(globals()[what]()))


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("first", [ASKED, REFUSED], ids=["asked for", "refused"])
def test_kernels_that_count_references_say_the_same(first, tmp_path):
    *expected, counted_here = here("small_kernels")
    *found, counted = elsewhere(first, "small_kernels", tmp_path)
    assert (counted_here, counted) == (False, True)
    assert found == expected


@needs_compiler
@pytest.mark.slow  # all kernels of the trees are compiled anew
@pytest.mark.parametrize("first", [ASKED, REFUSED], ids=["asked for", "refused"])
def test_a_fused_run_that_counts_references_says_the_same(first, tmp_path):
    *expected, counted_here = here("fused_run")
    *found, counted = elsewhere(first, "fused_run", tmp_path)
    assert (counted_here, counted) == (False, True)
    np.testing.assert_equal(found, expected)


@compiling.kernel
def _half(number):
    return number // 2


@compiling.kernel
def _halve_from_a_constant(n_times):
    number = 0
    for _ in range(n_times):
        number = _half(number)
    return number


# From the cache on disk it would come without what it calls.
_halve_from_a_constant = compiling.uncached(_halve_from_a_constant)


@needs_compiler
def test_a_constant_is_no_other_signature():
    assert _halve_from_a_constant(3) == 0
    assert len(signatures_of(_half)) == 1


@needs_compiler
def test_what_kernels_call_becomes_machine_code_only_there():
    """Numba's own way would compile it by itself first, with a wrapper for Python."""
    assert PART_OPTIONS
    assert _halve_from_a_constant(3) == 0
    assert not _half.signatures
    (result,) = _half.part.overloads.values()
    (function,) = [name for name in map(str, result.library.get_defined_functions()) if "_half" in name]
    assert "cpython" not in function
    assert result.library.get_pointer_to_function(result.fndesc.llvm_func_name) == 0
    assert _half(7) == 3
    assert len(_half.signatures) == 1


COUNT_SIGNATURES = """
import re, sys
from numba.core.dispatcher import Dispatcher
from ocoboost import OnlineBoostClassifier

rows = [{"a": float(i % 7), "b": float(-i), "t": "uvw"[i % 3]} for i in range(60)]
rows = [{name: value for name, value in row.items() if i % 11 or name != "b"} for i, row in enumerate(rows)]
labels = ["xyz"[i % 3] for i in range(60)]
model = OnlineBoostClassifier(budget=5, seed=1)
for x, y in zip(rows[:10], labels):
    model.predict_one(x)
    model.learn_one(x, y)
model.predict_learn_many(rows[10:], labels[10:])
model.predict_proba_many(rows)
modules = [module for name, module in sys.modules.items() if name.startswith("ocoboost")]
kernels = {id(k): k for module in modules for k in vars(module).values() if isinstance(k, Dispatcher)}
n_signatures = 0
for compiled in kernels.values():
    for form in [compiled, compiled.part] if hasattr(compiled, "part") else [compiled]:
        seen = [re.sub(r"(\\dd, )[CFA]", r"\\1*", str(signature)) for signature in form.signatures]
        n_signatures += len(seen)
        if len(seen) != len(set(seen)) or "Literal" in str(seen):
            print(compiled.py_func.__qualname__, *form.signatures, sep=chr(10))
assert n_signatures > 50, n_signatures
"""


@pytest.mark.slow  # compiles the default model from nothing
@needs_compiler
def test_no_kernel_is_compiled_twice_for_layouts_or_constants(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COUNT_SIGNATURES]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == ""


ROWS_ALONE = """
from ocoboost import OnlineBoostClassifier
from ocoboost.cascade import kernel, seat
from ocoboost.online.mixture import neighbours, single

model = OnlineBoostClassifier(budget=5, seed=1)
for i in range(20):
    x = {"a": float(i % 7), "t": "uvw"[i % 3]} if i % 5 else {"a": float(i), f"new {i}": 1.0}
    model.predict_one(x)
    model.learn_one(x, "xyz"[i % 3])
for used in (seat.learn_seats, seat.poll_seats, single.play_single):
    assert used.signatures, used
for unused in (kernel.learn_block, kernel.poll_block, neighbours.ask_rows):
    assert not unused.signatures, unused
"""


@pytest.mark.slow  # compiles the default model from nothing
@needs_compiler
def test_rows_by_themselves_compile_no_kernels_of_blocks(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", ROWS_ALONE], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


@needs_compiler
def test_quick_flags_are_equal_when_numbas_are():
    flags = compiler.Flags
    quick = _quick(flags)

    def made(kind, **options):
        made = kind()
        for name, value in options.items():
            setattr(made, name, value)
        return made

    cases: list[tuple[dict[str, bool], dict[str, bool]]] = [({}, {}), ({}, {"nrt": False}), ({"nrt": True}, {})]
    for one, other in [*cases, ({"nrt": True}, {"nrt": True}), ({"nrt": True}, {"debuginfo": True})]:
        expected = made(flags, **one) == made(flags, **other)
        assert (made(quick, **one) == made(quick, **other)) == expected
        assert (made(quick, **one) == made(flags, **other)) == expected
        assert hash(made(quick, **one)) == hash(made(flags, **one))
        assert made(quick, **one).get_mangle_string() == made(flags, **one).get_mangle_string()


@needs_compiler
def test_less_optimisation_ends_with_the_kernel(monkeypatch):
    before = config.OPT
    with _lighter():
        assert min(before, OPT_LEVEL) == config.OPT
    assert before == config.OPT
    monkeypatch.setenv("NUMBA_OPT", "2")  # whoever sets it is heard
    with _lighter():
        assert before == config.OPT


def test_a_kernel_is_as_new_as_all_that_kernels_are_made_of(tmp_path):
    package = tmp_path / "pack"
    (package / "deep").mkdir(parents=True)
    files = {
        "compiling.py": "",
        "kernels.py": "from pack.compiling import kernel\nfrom pack.deep import (\n    sizes,\n)\n@own_kernel\n",
        "deep/sizes.py": "from pack.constants import ONE\n",
        "constants.py": "ONE = 1\n",
        "page.py": "from pack.constants import ONE\n",
    }
    for name, text in files.items():
        (package / name).write_text(text)
    found = [path.relative_to(package).as_posix() for path in compiling.kernel_sources(package)]
    assert found == ["compiling.py", "constants.py", "deep/sizes.py", "kernels.py"]


@needs_compiler
def test_kernels_of_other_sources_are_compiled_anew(tmp_path):
    kept = compiling._Index(str(tmp_path), "kernel", "these sources")
    kept.save("signature", "machine code")
    assert kept.load("signature") == "machine code"
    assert compiling._Index(str(tmp_path), "kernel", "other sources").load("signature") is None
    assert isinstance(_half._cache._cache_file, compiling._Index)
    (tmp_path / "kernel.nbi").write_bytes(b"")
    assert kept.load("signature") is None
