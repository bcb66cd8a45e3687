"""``ocoboost run --cluster`` and ``--key``: the files and scores of the run on one machine, and of models apart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import ocoboost as command
from laws import learned
from ocoboost import HoeffdingTrees, ModelsByKey


@pytest.fixture
def shops(tmp_path):
    """Rows of five shops, each with a rule of its own."""
    rng = np.random.default_rng(0)
    lines = ["shop,a,b,y"]
    for _ in range(400):
        shop, (a, b) = int(rng.integers(5)), rng.normal(size=2).round(3)
        lines.append(f"s{shop},{a},{b},{'up' if (a if shop % 2 else b) > 0 else 'down'}")
    path = tmp_path / "shops.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def by_key(path, *options):
    return command("run", str(path), "--target", "y", "--key", "shop", "--model", "hoeffding", *options)


def test_every_key_is_scored_and_the_worst_come_first(shops):
    summary = json.loads(by_key(shops, "--json").stdout)
    assert summary["rows"] == 400
    assert summary["keys"] == 5
    accuracies = [worst["accuracy"] for worst in summary["worst"]]
    assert accuracies == sorted(accuracies)
    assert sum(worst["rows"] for worst in summary["worst"]) == 400
    right = sum(worst["rows"] * worst["accuracy"] for worst in summary["worst"])
    assert summary["accuracy"] == pytest.approx(right / 400)
    shown = by_key(shops).output
    assert "400 rows of 5 keys" in shown
    assert summary["worst"][0]["key"] in shown


def test_a_run_by_key_goes_on_where_it_was_saved(shops, tmp_path):
    whole, parts, half = tmp_path / "whole", tmp_path / "parts", tmp_path / "half.csv"
    lines = shops.read_text().splitlines()
    half.write_text("\n".join(lines[:201]) + "\n")
    expected = json.loads(by_key(shops, "--save", str(whole), "--json").stdout)
    by_key(half, "--save", str(parts))
    half.write_text("\n".join(lines[:1] + lines[201:]) + "\n")  # another file, from its first row
    resumed = json.loads(by_key(half, "--resume", str(parts), "--json").stdout)
    for name in ("rows", "keys", "accuracy", "log_loss", "worst"):
        assert resumed[name] == expected[name]
    again = json.loads(by_key(half, "--resume", str(parts), "--json").stdout)  # nothing is left of this file
    assert again["rows"] == 400
    with (
        ModelsByKey(HoeffdingTrees(seed=1), folder=whole) as one,
        ModelsByKey(HoeffdingTrees(seed=1), folder=parts) as other,
    ):
        assert list(one) == list(other) == [f"s{number}" for number in range(5)]
        assert [learned(one.get(key), []) for key in one] == [learned(other.get(key), []) for key in other]


@pytest.mark.parametrize(("bad", "skip"), [("b,x\n", True), ('b,1,"u\n', False)])
def test_models_by_key_are_kept_up_to_a_bad_row(tmp_path, bad, skip):
    rows, options = "k,a,y\n" + "b,1,u\nc,2,v\n" * 600, ("--target", "y", "--key", "k", "--model", "hoeffding")
    (tmp_path / "rows.csv").write_text(rows + bad)
    stopped = command("run", tmp_path / "rows.csv", *options, "--save", tmp_path / "models", "--on-error", "skip")
    assert stopped.exit_code == (0 if skip else 2)
    (tmp_path / "rows.csv").write_text(rows + "b,1,u\n" + bad)
    again = command("run", tmp_path / "rows.csv", *options, "--resume", tmp_path / "models", "--on-error", "stop")
    assert again.exit_code == 2
    with ModelsByKey(HoeffdingTrees(seed=1), folder=tmp_path / "models") as models:
        assert models.n_rows_ >= 1200


def test_what_does_not_go_with_a_key_is_said(shops, tmp_path):
    for option in (["--report", "page.html"], ["--delay", "3"], ["--id", "a"], ["--cluster", "local:2"]):
        result = by_key(shops, *option)
        assert result.exit_code == 2
        assert f"Invalid value for {option[0]}: does not go with --key" in result.output
    by_key(shops, "--save", str(tmp_path / "models"))
    again = by_key(shops, "--save", str(tmp_path / "models"))
    assert again.exit_code != 0
    assert "has models already; --resume goes on with them" in again.output
    assert "has no models by key to go on with" in by_key(shops, "--resume", str(tmp_path / "others")).output


@pytest.mark.parametrize("named", ["local", "local:0", "local:two"])
def test_a_cluster_has_to_be_named_properly(shops, named):
    result = command("run", str(shops), "--target", "y", "--budget", "5", "--cluster", named)
    assert result.exit_code == 2
    assert "is neither local:N" in result.output


@pytest.mark.slow  # clusters of their own
@pytest.mark.filterwarnings("ignore")  # Dask leaves sockets to the garbage collector
def test_a_run_on_a_cluster_writes_the_same_file(shops, tmp_path):
    here, there, half = tmp_path / "here.oco", tmp_path / "there.oco", tmp_path / "half.csv"
    options = ["--target", "y", "--budget", "40"]
    expected = json.loads(command("run", str(shops), *options, "--save", str(here), "--json").stdout)
    on_cluster = [*options, "--cluster", "local:2", "--save", str(there), "--json"]
    found = json.loads(command("run", str(shops), *on_cluster).stdout)
    for name in ("rows_per_second", "saved", "seconds", "memory_bytes"):  # arrays of each part have space of their own
        expected.pop(name), found.pop(name)
    assert found == expected
    assert here.read_bytes() == there.read_bytes()
    half.write_text("\n".join(shops.read_text().splitlines()[:201]) + "\n")
    more = ["--cluster", "local:2", "--json", "--report", str(tmp_path / "page.html")]
    resumed = command("run", str(half), "--resume", str(there), *more)
    assert json.loads(resumed.stdout)["rows"] == 200
    assert command("run", str(half), "--resume", str(here), "--json").exit_code == 0
    assert here.read_bytes() == there.read_bytes()
    assert (tmp_path / "page.html").exists()
