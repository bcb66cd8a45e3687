"""What goes through and is probably a mistake is said once, with the fix; what is usual stays silent."""

from __future__ import annotations

import copy
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from river import datasets

from laws import learned
from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
from ocoboost.data import hazards
from ocoboost.data.looks import MANY, SOME, Look, Texts
from ocoboost.errors import HazardWarning, InvalidInputError
from ocoboost.sklearn import OnlineBoostClassifier as Wrapper
from toy_learners import Bins


def booster(**options):
    return OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1, **options)


def hazards_of(model, rows, labels):
    """What is said while rows are learned one by one."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x, y in zip(rows, labels, strict=True):
            model.learn_one(x, y)
    assert {warning.category for warning in said} <= {HazardWarning}
    return [str(warning.message) for warning in said]


def alternating(n_rows):
    return ["x", "y"] * (n_rows // 2)


# -- a target that looks continuous ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.random.default_rng(1).normal(size=60).tolist(),
        [row / 7 + 0.01 for row in range(60)],
        [Fraction(row, 7) for row in range(60)],
        list(range(300)),
        np.random.default_rng(1).integers(10**6, size=60).tolist(),
        (1e6 * np.random.default_rng(1).random(60)).round().tolist(),  # floats without fractions
    ],
    ids=["floats", "rising", "fractions", "row numbers", "prices", "whole floats"],
)
def test_a_target_that_looks_continuous(labels):
    said = hazards_of(booster(), [{"a": 1.0}] * len(labels), labels)
    assert len(said) == 1
    assert "OnlineAgnosticBoostClassifier: y: " in said[0]
    assert "look like a continuous target, and each becomes a class; cut them into a few ranges" in said[0]
    with pytest.warns(HazardWarning, match="continuous target"):
        booster().learn_many([{"a": 1.0}] * len(labels), labels)


@pytest.mark.parametrize(
    "labels",
    [
        [f"{row}.5" for row in range(300)],  # text says that they are classes
        [row % 20 + 0.5 for row in range(300)],
        np.random.default_rng(1).integers(1000, size=400).tolist(),
        [True, False] * 150,
        [(row, "a") for row in range(300)],
        list(range(29)),
    ],
    ids=["text", "few", "a thousand classes", "booleans", "tuples", "few rows"],
)
def test_labels_that_may_well_be_classes(labels):
    assert hazards_of(HoeffdingTrees(max_depth=0), [{"a": 1.0}] * len(labels), labels) == []


def test_classes_that_were_named_are_classes():
    labels = [row + 0.5 for row in range(40)]
    assert hazards_of(booster(classes=labels), [{"a": 1.0}] * 40, labels) == []


def test_the_wrapper_refuses_a_continuous_target():
    with pytest.raises(ValueError, match="continuous"):
        Wrapper(booster()).fit(np.zeros((30, 2)), np.random.default_rng(1).normal(size=30))


# -- text that looks like something else -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "2020-12-31",
        "2020-12-31T23:59:59.5Z",
        "2020-12-31 23:59:59+01:00",
        "2020/1/1",
        "12/31/2020",
        "31.12.2020",
        "31.12.20 10:30",
        "31 Dec 2020",
        "31-December-2020",
        "Dec 31, 2020",
        "10:30:00",
        "9:05",
        "9:05 PM",
        " 2020-12-31 ",
    ],
)
def test_dates_and_times(text):
    said = hazards_of(booster(), [{"when": text}] * 30, alternating(30))
    assert len(said) == 1
    assert f"X: column 'when' holds text that looks like dates or times, such as {text!r}" in said[0]
    assert "make numbers of it first: days since a fixed date, weekday, hour" in said[0]


@pytest.mark.parametrize("text", ["red", "10.0.0.1", "1:1 ratio", "99:99", "2020-13-01", "3-4", "2020", "may", ""])
def test_text_that_is_no_date(text):
    assert hazards_of(booster(), [{"c": text}] * 30, alternating(30)) == []


def test_nearly_all_dates_are_dates():
    rows = [{"when": "?" if row % 10 == 3 else "2020-01-01"} for row in range(100)]
    assert len(hazards_of(booster(), rows, alternating(100))) == 1
    rows = [{"when": "?" if row % 5 == 3 else "2020-01-01"} for row in range(100)]
    assert hazards_of(booster(), rows, alternating(100)) == []


def test_numbers_as_text():
    rows = [{"size": f"{row}.25", "code": str(row % 30)} for row in range(200)]
    said = hazards_of(booster(), rows, alternating(200))
    assert len(said) == 1
    assert "X: column 'size' holds numbers as text, such as '99.25'" in said[0]
    assert "convert it with float() first" in said[0]


@pytest.mark.parametrize(
    "write",
    [
        lambda row: f"0,{row}",
        lambda row: f"{row:,}.5",
        lambda row: f"1.{row:03},5",
        lambda row: f"${row}",
        lambda row: f"-{row} €",
        lambda row: f" {row}% ",
        lambda row: str(1000 + row),  # whole, but each comes once
    ],
    ids=["decimal comma", "English", "German", "dollars", "euros", "per cent", "whole"],
)
def test_numbers_as_people_write_them(write):
    said = hazards_of(booster(), [{"size": write(row)} for row in range(SOME)], alternating(SOME))
    assert len(said) == 1
    assert f"X: column 'size' holds numbers as text, such as {write(SOME - 1)!r}" in said[0]
    assert "a decimal point and no other signs" in said[0]


@pytest.mark.parametrize("text", ["10.0.0.{}", "{}-{}", "no. {}", "{} kg", "0x{}", "1.2.{}", "{}"])
def test_text_that_is_no_number(text):
    rows = [{"c": text.format(row % 20, row % 20)} for row in range(SOME)]
    assert hazards_of(booster(), rows, alternating(SOME)) == []


def test_identifiers():
    rows = [{"user": f"u{row}", "colour": "red" if row % 3 else "blue"} for row in range(SOME)]
    assert hazards_of(booster(), rows[:-1], alternating(SOME)[:-1]) == []
    said = hazards_of(booster(), rows, alternating(SOME))
    assert len(said) == 1
    assert (
        "X: column 'user' holds a different text in nearly every row (100 in the first 100), such as 'u99'" in said[0]
    )
    assert "leave the column out" in said[0]


def test_long_texts_are_cut_short():
    said = hazards_of(booster(), [{"url": f"{row}{'x' * 10**5}"} for row in range(SOME)], alternating(SOME))
    assert len(said) == 1
    assert len(said[0]) < 400


def test_many_categories_are_no_identifiers():
    # Of 1,000 in random order 300 rows bring 259 different ones, of 100,000 they bring 299.
    cities = np.random.default_rng(1).integers(1000, size=MANY)
    assert looks_of(f"city {city}" for city in cities) == []
    users = np.random.default_rng(1).integers(100_000, size=MANY)
    assert looks_of(f"user {user}" for user in users) == [Look.IDENTIFIERS]
    with_repeats = [f"user {row if row % 50 else 0}" for row in range(MANY)]  # 98 of 100
    assert looks_of(with_repeats) == [Look.IDENTIFIERS]


def looks_of(column):
    texts = Texts()
    looks = [texts.see(text) for text in column if not texts.is_judged]
    return [look for look in looks if look is not None]


def test_what_is_kept_of_texts_is_bounded():
    rows = [{f"c{column}": f"{row} {column}" for column in range(150)} for row in range(60)]
    model = booster()
    model.learn_many(rows, alternating(60))
    watch = model._watch
    assert len(watch._texts) == hazards.MOST_COLUMNS
    few, many = Texts(), Texts()
    for number in range(5 * MANY):
        for texts, n_different in ((few, 5), (many, 95)):
            if not texts.is_judged:
                texts.see(f"c{number % n_different}")
    assert (few.n, few._hashes) == (SOME, set())  # a handful of categories is let go early
    assert (many.n, many._hashes) == (MANY, set())
    model.state_.n_rows = hazards.ROWS
    before = [texts.n for texts in watch._texts.values()]
    model.learn_one(rows[0], "x")
    assert [texts.n for texts in watch._texts.values()] == before


def test_one_warning_for_all_columns_of_a_kind():
    rows = [{"from": "2020-01-01", "to": "2020-01-02", "later": None if row < 20 else "10:00"} for row in range(60)]
    assert len(hazards_of(booster(), rows, alternating(60))) == 1


# -- labels and weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [("caf\u00e9", "cafe\u0301"), ("yes", "yes "), ("New York", "New  York"), ("a b", "a\u00a0b")],
    ids=["Unicode", "end", "between", "no-break"],
)
def test_labels_that_differ_only_in_spelling(one, other):
    for labels in ([one, other, one, other], [other, one]):
        said = hazards_of(booster(), [{"a": 1.0}] * len(labels), labels)
        assert len(said) == 1
        assert f"y: the labels {labels[0]!a} and {labels[1]!a} differ only in spaces or in how" in said[0]
    assert hazards_of(booster(classes=[one, other]), [{"a": 1.0}] * 2, [one, other]) == []
    model = booster()
    model.learn_one({"a": 1.0}, one)
    with pytest.warns(HazardWarning, match="differ only in spaces"):
        pickle.loads(pickle.dumps(model)).learn_one({"a": 1.0}, other)


def test_labels_that_differ():
    labels = ["a", "A", "ä", "a b", "ab", "1", 1, 2, True, b"a", ("a",), "²"]
    assert hazards_of(booster(), [{"a": 1.0}] * len(labels), labels) == []


@pytest.mark.parametrize("weights", [[1.0] * 5 + [1e300], [1e300] + [1.0] * 5, [1e-9, 1.0], [1.0, 2.0, 1e308]])
def test_a_row_that_outweighs_all_others(weights):
    X, y = [{"a": 1.0}] * len(weights), ["x"] * len(weights)
    with pytest.warns(HazardWarning, match=r"w: a row has the weight 1e\+30|w: a row has the weight 1, ") as said:
        booster().learn_many(X, y, w=weights)
    assert len(said) == 1
    model = booster()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x, label, weight in zip(X, y, weights, strict=True):
            model.learn_one(x, label, w=weight)
    assert ["next to nothing; clip the weights" in str(warning.message) for warning in said] == [True]


@pytest.mark.parametrize(
    "weights", [[1e300] * 4, [0.0, 0.0, 1.0], [0.0, 0.0], [1.0, 1e5], np.random.default_rng(1).exponential(size=2000)]
)
def test_weights_that_may_well_be_meant(weights):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HazardWarning)
        booster().learn_many([{"a": 1.0}] * len(weights), ["x"] * len(weights), w=weights)


# -- columns -----------------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0)})


@pytest.mark.parametrize(
    "use",
    [
        lambda model, X: model.learn_many(X, ["x"] * len(X)),
        lambda model, X: model.predict_many(X),
        lambda model, X: model.predict_proba_many(X),
        lambda model, X: model.answer_many(X),
    ],
    ids=["learn", "predict", "predict_proba", "answer"],
)
@pytest.mark.parametrize(
    "table",
    [np.zeros((1, 2)), FRAME[:3].rename(columns=str.upper), [{"A": 1.0}], [{"A": "red", "B": 1.0}]],
    ids=["array", "frame", "dict", "text"],
)
def test_a_table_of_unknown_columns(use, table):
    model = booster()
    model.learn_many(FRAME, alternating(20))
    with pytest.warns(
        HazardWarning, match=r"X: none of its columns \(.*\) is among those that were learned \('a', 'b'\)"
    ):
        use(model, table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        use(model, table)  # once is enough


def test_unknown_columns_are_listed_with_what_becomes_of_them():
    model = HoeffdingTrees()
    model.learn_many(np.zeros((20, 8)), alternating(20))
    message = (
        r"columns \('a', 'b'\) is among those that were learned \(0, 1, 2, 3, 4, 3 more\); they count as missing. Give"
    )
    with pytest.warns(HazardWarning, match=message):
        model.predict_many(FRAME)
    other = HoeffdingTrees()
    other.learn_many(np.zeros((20, 8)), alternating(20))
    with pytest.warns(HazardWarning, match=r"they become new columns\. Give the columns the names"):
        other.learn_many(FRAME, alternating(20))


def test_columns_that_change_within_a_block():
    rows = [{"a": 1.0, "b": "red"}] * 15 + [{"A": 1.0, "B": "red"}] * 15
    for first in (0, 5):
        model = booster()
        assert hazards_of(model, rows[:first], alternating(30)[:first]) == []
        with pytest.warns(HazardWarning, match=r"\('A', 'B'\) is among those that were learned \('a', 'b'\); they bec"):
            model.learn_many(rows[first:], alternating(30)[first:])
    with warnings.catch_warnings():
        warnings.simplefilter("error", HazardWarning)
        booster().learn_many(rows[10:], alternating(20))  # five rows are not much to go by
        booster().learn_many([{"a": 1.0}, *rows], ["x", *alternating(30)])  # columns come and go


def test_after_loading_ten_unknown_rows_are_needed():
    model = booster()
    model.learn_many(FRAME, alternating(20))
    model = pickle.loads(pickle.dumps(model))
    for _ in range(9):
        model.predict_one({"A": 1.0})
    with pytest.warns(HazardWarning, match="none of its columns"):
        model.predict_one({"A": 1.0})


def test_columns_that_come_and_go_stay_silent():
    words = [{f"w{word}": 1 for word in np.random.default_rng(row).integers(500, size=4)} for row in range(200)]
    model = booster()
    assert hazards_of(model, words, alternating(200)) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_one({"new": 1})
        model.predict_one({})
        model.predict_many(words)
        model.predict_one({"new": 1, "w1": 1, "w2": 1})
    model = booster()
    model.learn_many(FRAME, alternating(20))
    assert hazards_of(model, [{"b": 1.0, "c": 2.0}, {"c": 2.0}, {}, {"d": 1.0, "a": 0.0}], alternating(4)) == []


def test_a_column_that_held_numbers_takes_no_text_and_the_other_way_round():
    model = booster()
    model.learn_many([{"a": 1.0, "c": "red"}] * 4, alternating(4))
    for x, held in [({"a": "red"}, "numbers"), ({"c": 1.0}, "text")]:
        for use in (lambda x: model.learn_one(x, "x"), model.predict_one, lambda x: model.predict_many([x])):
            with pytest.raises(InvalidInputError, match=f"but the column held {held} before; convert the whole column"):
                use(x)
    assert model.n_rows_ == 4


# -- what warnings must not do ----------------------------------------------------------------------------------------


def test_warnings_point_to_the_line_of_the_caller():
    model = booster()
    model.learn_many(FRAME, alternating(20))
    with pytest.warns(HazardWarning) as said:
        model.predict_many(np.zeros((1, 2)))
    assert said[0].filename == __file__


def test_as_errors_they_refuse_the_call_and_change_nothing():
    model = booster()
    model.learn_many(FRAME, alternating(20))
    before = learned(model, [{"a": 1.0}])
    with warnings.catch_warnings():
        warnings.simplefilter("error", HazardWarning)
        for _ in range(2):  # not only the first time
            with pytest.raises(HazardWarning):
                model.learn_many(np.zeros((2, 2)), ["x", "y"])
            with pytest.raises(HazardWarning):
                model.predict_many(np.zeros((2, 2)))
    assert learned(model, [{"a": 1.0}]) == before


def test_as_errors_they_refuse_no_call_that_is_right():
    rows, labels = [{"a": row % 7, "id": f"u{row}"} for row in range(SOME)], alternating(SOME)
    model = booster()
    with warnings.catch_warnings():
        warnings.simplefilter("error", HazardWarning)
        for _ in range(2):
            with pytest.raises(HazardWarning, match="identifiers"):
                model.learn_many(rows, labels)
        model.learn_many([{"a": x["a"]} for x in rows], labels)
        for _ in range(2):
            with pytest.raises(HazardWarning, match="none of its columns"):
                model.learn_one({"b": 1.0}, "x")
            with pytest.raises(HazardWarning, match="clip the weights"):
                model.learn_one({"a": 1.0}, "x", w=1e300)
        model.learn_one({"a": 1.0}, "x", w=2.0)
    assert model.n_rows_ == SOME + 1


def test_watching_changes_no_bit_and_is_not_copied():
    rows = [{"when": f"2020-01-{row % 28 + 1}", "id": f"u{row}", "n": row} for row in range(150)]
    one, other = booster(), booster()
    with pytest.warns(HazardWarning):
        one.learn_many(rows, alternating(150))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, y in zip(rows, alternating(150), strict=True):
            other.learn_one(x, y)
            other.predict_one({"A": 1})
    probes = rows[:3]
    assert learned(one, probes) == learned(other, probes)
    assert pickle.dumps(one) == pickle.dumps(copy.deepcopy(one))
    assert pickle.loads(pickle.dumps(one))._watch._said == set()
    assert one.clone(include_attributes=True).n_rows_ == 150


@pytest.mark.parametrize(
    "rows", [datasets.Phishing(), datasets.ImageSegments().take(300)], ids=["Phishing", "Segments"]
)
def test_ordinary_streams_are_silent(rows):
    rows = list(rows)[:300]
    assert hazards_of(booster(), [x for x, _ in rows], [y for _, y in rows]) == []
