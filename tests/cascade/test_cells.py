"""What every kind of cells owes the driver: choices worked out once, state out and in, tiles that share memory."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from boosters import relabelling
from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees, OnlineMBBMClassifier
from ocoboost.cascade.cells import Cells, Kernels, kernels_for
from ocoboost.cascade.kernel import see_rows, teach_rows
from ocoboost.cascade.mbbm import MBBM
from ocoboost.cascade.olm import OLM
from ocoboost.cascade.regimes import AGNOSTIC, PAIRWISE, REALIZABLE, PlainPlaying, Playing
from ocoboost.cascade.relabelling import Relabelling

N_LEARNERS = 4
WEIGHTING = {"n_learners": N_LEARNERS, "deviations": frozenset(), "is_random": False, "seed": 5}
PLAYING = {"gamma": 0.5, "n_learners": N_LEARNERS, "relabel": "random", "seed": 5}
KINDS = {
    "agnostic": lambda: relabelling(AGNOSTIC, **PLAYING),
    "realizable": lambda: relabelling(REALIZABLE, **PLAYING),
    "pairwise": lambda: relabelling(PAIRWISE, **PLAYING),
    "coin": lambda: relabelling(REALIZABLE, **PLAYING, player="coin"),
    "mbbm": lambda: MBBM(**WEIGHTING),
    "olm": lambda: OLM(**WEIGHTING),
}
LABELS, WEIGHTS = np.arange(10) % 3, np.linspace(0.5, 2.0, 10)
every_kind = pytest.mark.parametrize("kind", KINDS)


def arrays_of(rows):
    return {name: array for name, array in rows._asdict().items() if isinstance(array, np.ndarray)}


@every_kind
def test_tiles_share_memory_and_tiles_of_tiles_are_tiles(kind):
    rows = KINDS[kind]().begin(LABELS, WEIGHTS, 3)
    tile = rows.tile(slice(2, 8))
    assert tile.labels.tolist() == LABELS[2:8].tolist()
    assert tile.tile(slice(3, 5)).labels.tolist() == LABELS[5:7].tolist()
    for name, array in arrays_of(tile).items():
        assert array.size == 0 or np.shares_memory(array, getattr(rows, name)), name
    assert rows.tile(slice(0, 64)).labels.tolist() == LABELS.tolist()  # the last tile may be short


@every_kind
def test_rows_begin_with_nothing_pooled_whether_they_have_labels_or_not(kind):
    cells = KINDS[kind]()
    for rows in (cells.begin(LABELS, WEIGHTS, 3), cells.begin_poll(10, 3)):
        pooled = rows.votes if kind == "mbbm" else rows.label_votes
        assert (pooled.shape, pooled.sum()) == ((10, 3), 0.0)


@every_kind
def test_a_pickle_leaves_out_what_can_be_worked_out_again(kind):
    cells = KINDS[kind]()
    fresh = len(pickle.dumps(cells))
    cells.choices(3)
    copy = pickle.loads(pickle.dumps(cells))
    assert len(pickle.dumps(cells)) == fresh
    assert (copy.settings(), copy.choices(3).n_learners) == (cells.settings(), N_LEARNERS)


@every_kind
def test_state_goes_out_and_in(kind):
    cells, other = KINDS[kind](), KINDS[kind]()
    for array in cells.state().values():
        array[:] = np.arange(N_LEARNERS) / 2
    other.restore(cells.state())
    assert {name: array.tolist() for name, array in other.state().items()} == {
        name: [learner / 2 for learner in range(N_LEARNERS)] for name in cells.state()
    }
    assert all(np.shares_memory(array, getattr(other.choices(3), name)) for name, array in other.state().items())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "olm"])
def test_cells_that_learn_nothing_take_no_state(kind):
    with pytest.raises(ValueError, match="invalid state of the booster: alphas"):
        KINDS[kind]().restore({"alphas": np.zeros(N_LEARNERS)})


@pytest.mark.parametrize("name", ["alphas", "mistakes"])
@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(3),
        np.zeros(N_LEARNERS, dtype=np.float32),
        np.full(N_LEARNERS, np.nan),
        np.full(N_LEARNERS, -2.1),
        [0.0] * N_LEARNERS,
    ],
)
def test_a_state_that_cannot_have_been_learned_is_refused(name, wrong):
    cells = KINDS["olm"]()
    with pytest.raises(ValueError, match=f"invalid {name}: "):
        cells.restore({**{key: array.copy() for key, array in cells.state().items()}, name: wrong})


@pytest.mark.slow  # a process that compiles anew
def test_what_is_learned_beside_the_learners_survives_a_pickle():
    X, y = [{"a": float(i % 7)} for i in range(60)], [i % 7 > 3 for i in range(60)]
    for booster in (OnlineMBBMClassifier, AdaBoostOLMClassifier):
        model = booster(HoeffdingTrees(), n_learners=3, seed=1)
        model.learn_many(X[:30], y[:30])
        copy = pickle.loads(pickle.dumps(model))
        for one in (model, copy):
            one.learn_many(X[30:], y[30:])
        states = [one.state_.engine.cascades[0].cells.state() for one in (model, copy)]
        assert {k: v.tolist() for k, v in states[0].items()} == {k: v.tolist() for k, v in states[1].items()}
        assert model.predict_proba_many(X) == copy.predict_proba_many(X)


def nothing(*_):
    pass


def test_settings_must_be_said_or_be_fields():
    class Bare(NamedTuple):
        n_learners: int

    class Silent(Cells):
        kernels = Kernels(Bare, nothing, nothing, nothing)
        configure = begin = answers = nothing

    with pytest.raises(TypeError, match=r"Silent must be a dataclass or define settings\(\)"):
        Silent().settings()

    @dataclass
    class Told(Silent):
        n_learners: int

    assert Told(3).settings() == {"n_learners": 3}


def test_two_kinds_of_cells_cannot_share_the_type_that_kernels_are_found_by():
    with pytest.raises(TypeError, match="Thief: Playing belongs to other cells; use another named tuple"):

        class Thief(Cells):
            kernels = Kernels(Playing, nothing, nothing, nothing)

    assert kernels_for(KINDS["agnostic"]().choices(3)) is Relabelling.kernels


@pytest.mark.parametrize("votes", ["label", "distribution"])
@pytest.mark.parametrize("regime", [AGNOSTIC, REALIZABLE])
def test_plain_choices_have_the_same_results(regime, votes):
    cells = relabelling(regime, **{**PLAYING, "gamma": 0.3, "relabel": "fractional", "votes": votes})
    assert type(cells.fused(3)) is PlainPlaying
    draw, spare = np.random.default_rng(0), np.empty(3)
    games = [cells.begin(LABELS, WEIGHTS, 3) for _ in range(2)]
    for learner in range(N_LEARNERS):
        said, taught = draw.dirichlet(np.ones(3), len(LABELS)), np.empty((2, len(LABELS), 3))
        for choices, rows, out in zip((cells.choices(3), cells.fused(3)), games, taught, strict=True):
            teach_rows(choices, rows, (), 0, learner, out)
            see_rows(choices, rows, (), 0, learner, said.copy(), spare)
        assert taught[0].tobytes() == taught[1].tobytes()
        for one, other in zip(games[0][:6], games[1][:6], strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("regime", "told"),
    [(AGNOSTIC, {}), (AGNOSTIC, {"relabel": "fractional", "player": "coin"}), (PAIRWISE, {"relabel": "fractional"})],
)
def test_other_choices_are_not_plain(regime, told):
    assert type(relabelling(regime, **{**PLAYING, **told}).fused(3)) is Playing
