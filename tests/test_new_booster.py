"""A booster of another package, in one file (`majority_booster.py`), gets all that those of this package have."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import checks
from sklearn.base import clone
from typer.testing import CliRunner

import majority_booster
import naive
import ocoboost.sklearn
from laws import block_by_block, learned, row_by_row
from majority_booster import MajorityBoostClassifier
from ocoboost import HoeffdingTrees, MondrianTrees, registry
from ocoboost.cli import app
from ocoboost.cli.models import names
from ocoboost.data import tables
from ocoboost.data.schema import Block
from ocoboost.errors import ModelFileError
from ocoboost.randomness import derive_seed
from strategies import cuts, streams
from toy_learners import Bins, Weightless

MAJORITY = registry._registered.pop()  # other tests are to see the package's own models only
N_ROWS, SEED = 300, 7
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N_ROWS, 3)).round(3)
Y = np.array(["down", "level", "up"])[np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])].tolist()
WEIGHTS = RNG.choice([0.0, 1.0, 2.0], size=N_ROWS)
SPLITTING = HoeffdingTrees(grace_period=10, delta=0.5, tau=0.5, feature_share=0.7)
NATIVE = [SPLITTING, MondrianTrees()]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """As in a process that has imported the file."""
    monkeypatch.setattr(registry, "_registered", [MAJORITY])


def majority(learner, **options):
    return MajorityBoostClassifier(learner, **{"n_learners": 3, "seed": SEED, **options})


# -- the booster itself ------------------------------------------------------------------------------------------------


def counted(votes):
    """Each label's share of the votes, by hand; ``votes`` holds one distribution per learner."""
    shares = np.zeros(len(votes[0]))
    for vote in votes:
        shares[int(np.argmax(vote))] += 1.0 / len(votes)
    return shares


@pytest.mark.parametrize("learner", NATIVE, ids=type)
def test_native_trees_are_counted(learner):
    model = majority(learner, classes=["down", "level", "up"])
    answered = list(model.prequential(X, Y, w=WEIGHTS))
    ours = np.concatenate([block.distributions for block in answered])
    schema = model.state_.schema
    ensemble = learner.make_ensemble(3, SEED)
    rows = tables.read_rows(X)
    for number in range(N_ROWS):
        block = ensemble.prepare(Block(rows[number : number + 1], schema), learning=True)
        votes = np.empty((3, 1, 3))
        lesson = WEIGHTS[number] * np.eye(3)[[["down", "level", "up"].index(Y[number])]]
        for tree_number in range(3):
            ensemble.vote_and_learn(tree_number, block, lesson, votes[tree_number])
        np.testing.assert_allclose(ours[number], counted(votes[:, 0]), atol=1e-12)
    assert len({tuple(row) for row in ours.tolist()}) > 4  # the learners do not always agree


def test_foreign_learners_are_counted():
    model = majority(Bins(), classes=["down", "level", "up"])
    learners = [Bins(derive_seed(SEED, number)) for number in range(3)]
    for x, y, w in zip(X.tolist(), Y, WEIGHTS.tolist(), strict=True):
        row = dict(enumerate(x))
        expected = counted([naive.vote_shares(learner, row, 3) for learner in learners])
        np.testing.assert_allclose(list(model.predict_proba_one(row).values()), expected, atol=1e-12)
        model.learn_one(row, y, w=w)
        for learner in learners:
            if w > 0.0:
                learner.learn_one(row, ["down", "level", "up"].index(y), w=w)


# -- the block law -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [*NATIVE, Bins(), Weightless()], ids=type)
@settings(max_examples=10)
@given(data=st.data())
def test_any_cut_of_the_stream_gives_the_same_bits(learner, data):
    stream = data.draw(streams(max_rows=25))
    if isinstance(learner, Weightless):
        stream = [(x, y, 1.0) for x, y, _ in stream]
    if isinstance(learner, MondrianTrees):  # numbers only
        stream = [({name: v for name, v in x.items() if name != "c"}, y, w) for x, y, w in stream]
    one, many = majority(learner), majority(learner, n_jobs=2)
    assert row_by_row(one, stream) == block_by_block(many, stream, data.draw(cuts(len(stream))))
    assert learned(one, [{}, {"a": 0.5}]) == learned(many, [{}, {"a": 0.5}])


@pytest.mark.parametrize("learner", NATIVE, ids=type)
def test_any_number_of_threads_gives_the_same_bits(learner):
    models = [majority(learner, n_learners=5, n_jobs=n_jobs) for n_jobs in (1, 2, 4)]
    predictions = [model.predict_learn_many(X, Y) for model in models]
    assert all(prediction == predictions[0] for prediction in predictions)
    assert all(learned(model, []) == learned(models[0], []) for model in models)
    assert models[0].state_.engine.cascades[0].ensemble.trees.n_nodes.max() > 3


# -- what the package adds ---------------------------------------------------------------------------------------------


def test_rivers_checks_pass():
    for check in checks.yield_checks(majority(None)):
        check(majority(None))


@pytest.mark.parametrize("learner", NATIVE, ids=type)
def test_a_saved_model_resumes_bit_identically(learner, tmp_path):
    model = majority(learner)
    model.learn_many(X[:150], Y[:150])
    ocoboost.save(model, tmp_path / "model.oco")
    loaded = ocoboost.load(tmp_path / "model.oco")
    assert type(loaded) is MajorityBoostClassifier
    assert loaded.predict_learn_many(X[150:], Y[150:]) == model.predict_learn_many(X[150:], Y[150:])
    assert learned(loaded, []) == learned(model, [])


def test_the_scikit_learn_wrapper_takes_it():
    wrapped = ocoboost.sklearn.OnlineBoostClassifier(majority(SPLITTING), shuffle=False)
    assert clone(wrapped).set_params(booster__n_learners=2).get_params()["booster__n_learners"] == 2
    wrapped.fit(X, Y)
    model = majority(SPLITTING, classes=["down", "level", "up"])
    model.learn_many(X, Y)
    assert wrapped.classes_.tolist() == ["down", "level", "up"]
    np.testing.assert_array_equal(wrapped.predict_proba(X), model.predict_proba_many(X))
    assert wrapped.score(X, Y) > 0.6


def test_the_command_line_runs_it(tmp_path):
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "y"], *([*x, y] for x, y in zip(X.tolist(), Y, strict=True))])
    arguments = ["run", tmp_path / "rows.csv", "--target", "y", "--model", "majority", "--budget", "3"]
    arguments += ["--seed", "5", "--save", tmp_path / "model.oco", "--json"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    saved = ocoboost.load(tmp_path / "model.oco")
    assert (type(saved), saved.n_learners, saved.seed) == (MajorityBoostClassifier, 3, 5)
    twin = saved.clone()
    predictions = twin.predict_learn_many([dict(zip("abc", x, strict=True)) for x in X.tolist()], Y)
    assert learned(saved, []) == learned(twin, [])
    accuracy = np.mean([p == y for p, y in zip(predictions, Y, strict=True)])
    assert json.loads(result.stdout)["accuracy"] == pytest.approx(accuracy)


def test_the_booster_of_the_contributors_guide_is_this_one(tmp_path, monkeypatch):
    """Its code is run as it stands there; learners that are not compiled keep it quick."""
    guide = Path(__file__).parents[1] / "CONTRIBUTING.md"
    (code,) = [block for block in guide.read_text().split("```python\n") if block.startswith("# majority.py\n")]
    (tmp_path / "majority.py").write_text(code.split("```")[0])
    monkeypatch.syspath_prepend(tmp_path)
    theirs = importlib.import_module("majority").MajorityBoostClassifier(Bins(), n_learners=3, seed=SEED)
    monkeypatch.delitem(sys.modules, "majority")
    ours = majority(Bins())
    assert theirs.predict_learn_many(X, Y, w=WEIGHTS) == ours.predict_learn_many(X, Y, w=WEIGHTS)
    assert theirs.predict_proba_many(X).tolist() == ours.predict_proba_many(X).tolist()


# -- registering -------------------------------------------------------------------------------------------------------

DISCOVER = """
import sys
import ocoboost
from ocoboost import registry
from ocoboost.cli.models import names

found = registry.find("majority")
assert found == registry.find("MajorityBoostClassifier"), found
assert "majority_booster" not in sys.modules  # found without being imported
assert "majority" in names()
model = ocoboost.load(sys.argv[1])
print(type(model).__module__, type(model).__name__, model.n_rows_)
"""


def discover(tmp_path, *, with_entry_point):
    """Load a saved model in a process where only an installed distribution, if anything, tells of the booster."""
    site = tmp_path / "site"
    (site / "majority-1.0.dist-info").mkdir(parents=True)
    (site / "majority-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: majority\nVersion: 1.0\n")
    if with_entry_point:
        shutil.copy(majority_booster.__file__, site)
        entry_points = "[ocoboost.models]\nmajority = majority_booster:MajorityBoostClassifier\n"
        (site / "majority-1.0.dist-info" / "entry_points.txt").write_text(entry_points)
    model = majority(SPLITTING)
    model.learn_many(X[:40], Y[:40])
    ocoboost.save(model, tmp_path / "model.oco")
    code = f"import sys; sys.path[:0] = {[str(site), str(Path(ocoboost.__file__).parents[1])]}\n"
    code += DISCOVER if with_entry_point else "import ocoboost; ocoboost.load(sys.argv[1])"
    command = [sys.executable, "-I", "-c", code, str(tmp_path / "model.oco")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_entry_point_is_enough(tmp_path):
    result = discover(tmp_path, with_entry_point=True)
    assert result.stdout == "majority_booster MajorityBoostClassifier 40\n", result.stderr


def test_a_model_file_of_an_unknown_booster_is_refused_by_name(tmp_path):
    result = discover(tmp_path, with_entry_point=False)
    assert result.returncode != 0
    expected = (
        "model.oco: holds a model of the class 'MajorityBoostClassifier', which is not registered here; install or"
    )
    assert expected in result.stderr
    assert "The registered models are OnlineBoostClassifier, OnlineAgnosticBoostClassifier" in result.stderr


def test_what_is_not_registered_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_registered", [])
    with pytest.raises(ModelFileError, match=r"^MajorityBoostClassifier cannot be put in a model file"):
        ocoboost.save(majority(SPLITTING), tmp_path / "model.oco")
    assert list(tmp_path.iterdir()) == []


def test_names_and_keys_are_given_once():
    registry.register(MajorityBoostClassifier, "majority")  # once more is no harm
    assert [model.key for model in registry.models()].count("majority") == 1
    with pytest.raises(ValueError, match="OnlineBoostClassifier is already registered as 'boost'"):
        registry.register(MajorityBoostClassifier, "boost")
    with pytest.raises(ValueError, match="MajorityBoostClassifier is already registered as 'majority'"):
        registry.register(MajorityBoostClassifier, "plurality")


@pytest.mark.parametrize("value", ["package.majority:Majority", "package.majority : Majority [extra]"])
def test_an_entry_point_names_a_module_and_a_class(monkeypatch, value):
    point = EntryPoint("majority", value, registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert registry.models()[-1] == registry.Model("majority", "Majority", "package.majority", registry.BOOSTER)


BROKEN = {
    "missing": registry.Model("broken", "Booster", "a_module_that_is_not_there", registry.BOOSTER),
    "no class": registry.Model("broken", "NoSuchBooster", "majority_booster", registry.BOOSTER),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_plug_in_that_cannot_be_imported_is_skipped_with_a_warning(monkeypatch, capsys, broken):
    before = names()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(registry, "_registered", [broken, MAJORITY])
    assert names() == before
    assert "majority" in before
    warning = capsys.readouterr().err
    assert warning.startswith("ocoboost: warning: model 'broken' is skipped: ")
    assert warning.count("\n") == 1
    result = CliRunner().invoke(app, ["run", "--model", "help"])
    assert result.exit_code == 0
    assert "majority" in result.stdout


def test_a_plug_in_that_cannot_be_imported_is_refused_in_one_line_if_chosen(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_registered", [BROKEN["missing"]])
    (tmp_path / "rows.csv").write_text("a,y\n1,up\n")
    result = CliRunner().invoke(app, ["run", str(tmp_path / "rows.csv"), "--target", "y", "--model", "broken"])
    assert result.exit_code == 2
    assert "--model: 'broken' cannot be loaded: ModuleNotFoundError: No module named" in result.stderr
    assert result.stderr.count("\n") == 1
