"""The comparison: which models it knows."""

from __future__ import annotations

from ocoboost import registry
from ocoboost.bench import compare, peers


def test_every_registered_booster_can_be_compared_under_its_key():
    for model in registry.models(registry.BOOSTER):
        assert type(compare.MODELS[compare.NAMES[model.key]](7)) is model.load()


def test_every_model_has_one_name_and_takes_the_shuffles_seed():
    assert sorted(compare.NAMES.values()) == sorted(compare.MODELS)
    for title, make in compare.MODELS.items():
        if title not in peers.RIVER:
            assert make(7).seed == 7
            make(7).check_parameters()


def test_boosters_of_the_paper_have_its_stumps():
    stumps = {title: compare.MODELS[compare.NAMES[title]](1).learner for title in ("agnostic", "realizable", "mbbm")}
    assert {(tree.max_depth, tree.split_criterion) for tree in stumps.values()} == {(1, "gini")}
