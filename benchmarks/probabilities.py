"""Probabilities and prediction sets of `OnlineBoostClassifier` beside River's AMF and ARF and CapyMOA's ARF.

    python benchmarks/stream_files.py WHEELS FOLDER
    python benchmarks/probabilities.py run --data-dir FOLDER --models boost,river-amf,river-arf
    python benchmarks/probabilities.py run --data-dir FOLDER --models capymoa-arf
    python benchmarks/probabilities.py time
    python benchmarks/probabilities.py report

Every row is answered before it is learned. Three kinds of streams: the seven datasets of the paper, shuffled, with
clean labels and with 20 % of them flipped; the first 10,000 reported rows of six files, in their order; and 10,000
rows of generated streams whose changes are known. FOLDER also holds ``mice.csv.gz``. Rows whose label was never seen
before count for nobody. Every finished run is kept in ``benchmarks/results/probabilities.jsonl``; ``report`` writes the
tables of ``docs/probabilities.md``.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import studies

from ocoboost import OnlineBoostClassifier
from ocoboost.arrays import FloatArray, IntArray
from ocoboost.bench import contestants, datasets, drifting, encoding, noise, paper, peers, stream_files
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.bench.measures import calibration_error
from ocoboost.compiling import kernel
from ocoboost.online.mixture import bayes, blend, reshaping, sureness
from ocoboost.online.mixture.agreeing import agree
from ocoboost.online.mixture.noting import note_rows
from ocoboost.online.mixture.sets import PredictionSets
from ocoboost.online.mixture.suspects import N_SUSPECTS, Suspects

N_ROWS = 10_000
SEED = 1
FILES = ("elec-rest", "weather-rest", "moving_squares-rest", "rainfall-rest", "covtype", "employment")
CHANGING = tuple(
    f"{name}-101"
    for name in ("sea-abrupt", "agrawal-abrupt", "led-abrupt", "sine-abrupt", "mixed-abrupt", "clouds-rotated")
)
DEVELOPMENT = (
    *(name.replace("-101", "-1") for name in CHANGING),
    *("elec-first", "moving_squares-first", "weather-first", "clouds-steady-1", "hyperplane-1", "rbf-1", "squares-1"),
)
OURS, AMF, ARF, CAPYMOA = "boost", "river-amf", "river-arf", "capymoa-arf"
MODELS = (OURS, AMF, ARF, CAPYMOA)
LEVELS = (0.8, 0.9, 0.95)
WINDOW = 1000  # rows whose scores calibrate split conformal sets
AFTER = 2000  # rows after a change


class Said(NamedTuple):
    """What a model said to every row before it was learned."""

    probabilities: FloatArray  # (rows, classes)
    thresholds: FloatArray | None = None  # (rows, levels) of its own sets: labels at or above them are in


class Rows(NamedTuple):
    """A stream, with labels as numbers in the order of their first rows."""

    X: list[Any]
    labels: IntArray
    changes: tuple[int, ...]


def load(job: Job, data_dir: Path | None) -> Rows:
    name = job["stream"]
    if name in paper.DATASETS:
        stream, changes = datasets.shuffled(datasets.load(name, data_dir), SEED), ()
        stream = datasets.ranked(stream) if job["model"] in (AMF, CAPYMOA) else stream
    else:
        known = {**drifting.CATALOGUE, **({} if data_dir is None else stream_files.find(data_dir))}
        stream, changes = known[name].load(job["rows"])
    X, labels = [x for x, _ in stream], noise.flip([y for _, y in stream], job["noise"], seed=SEED)
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    if job["model"] in (AMF, CAPYMOA):
        encoder = encoding.Encoder(X[: contestants.FIRST_ROWS])
        X = [encoder.encode(x) for x in X]
    elif job["model"] == ARF:
        X = [encoding.present(x) for x in X]
    return Rows(X, np.array([places[label] for label in labels]), changes)


def ask_ours(rows: Rows) -> Said:
    model = OnlineBoostClassifier(coverages=LEVELS, seed=SEED)
    n_classes = int(rows.labels.max()) + 1
    probabilities, thresholds = [], []
    for answered in model.prequential(rows.X, rows.labels.tolist()):
        padded = np.zeros((len(answered), n_classes))
        padded[:, : len(answered.classes)] = answered.probabilities
        probabilities.append(padded)
        thresholds.append(answered.thresholds)
    return Said(np.concatenate(probabilities), np.concatenate(thresholds))


def ask_river(title: str, rows: Rows) -> Said:
    model = peers.river(title, SEED)
    out = np.zeros((len(rows.X), int(rows.labels.max()) + 1))
    for row, (x, label) in enumerate(zip(rows.X, rows.labels.tolist(), strict=True)):
        for known, probability in model.predict_proba_one(x).items():
            out[row, known] = probability
        model.learn_one(x, label)
    return Said(out)


def ask_capymoa(rows: Rows) -> Said:
    from capymoa.classifier import AdaptiveRandomForestClassifier
    from capymoa.stream import NumpyStream

    stream = NumpyStream(np.array([list(x.values()) for x in rows.X], dtype=float), rows.labels)
    model = AdaptiveRandomForestClassifier(stream.schema, random_seed=SEED)
    out = np.zeros((len(rows.X), int(rows.labels.max()) + 1))
    for row in range(len(rows.X)):
        instance = stream.next_instance()
        said = model.predict_proba(instance)
        if said is not None:
            out[row, : len(said)] = said
        model.train(instance)
    return Said(out)


def work(job: Job, data_dir: Path | None) -> Result:
    rows = load(job, data_dir)
    model = job["model"]
    said = ask_ours(rows) if model == OURS else ask_capymoa(rows) if model == CAPYMOA else None
    if said is None:
        said = ask_river(contestants.NAMES_AND_TITLES[model], rows)
    total = said.probabilities.sum(axis=1, keepdims=True)
    uniform = np.full_like(said.probabilities, 1.0 / said.probabilities.shape[1])
    said = said._replace(probabilities=np.where(total > 0.0, said.probabilities / np.maximum(total, 1e-300), uniform))
    counted = ~is_first(rows.labels)
    given = said.probabilities[np.arange(len(rows.labels)), rows.labels]
    modes = said.probabilities.argmax(axis=1)
    confidence = said.probabilities.max(axis=1)
    return {
        "n_counted": int(counted.sum()),
        "accuracy": round(100.0 * float(np.mean((modes == rows.labels)[counted])), 3),
        "log_loss": round(float(np.mean(-np.log(np.maximum(given[counted], 1e-15)))), 5),
        "log_loss_clipped": round(float(np.mean(-np.log(np.maximum(given[counted], 1e-3)))), 5),
        "calibration": round(calibration_error(confidence[counted], (modes == rows.labels)[counted]), 5),
        "split": [sets_of(said.probabilities, split_thresholds(given, level), rows) for level in LEVELS],
        "own": [
            sets_of(said.probabilities, said.thresholds[:, number], rows)
            for number in range(len(LEVELS))
            if said.thresholds is not None
        ],
    }


def is_first(labels: IntArray) -> Any:
    """Whether a row brings its label."""
    _, first = np.unique(labels, return_index=True)
    return np.isin(np.arange(len(labels)), first)


def split_thresholds(given: FloatArray, level: float) -> FloatArray:
    """Split conformal prediction with the latest rows as calibration set: a label is in from this probability on."""
    out = np.zeros(len(given))
    for row in range(1, len(given)):
        latest = given[max(0, row - WINDOW) : row]
        place = int(np.floor((1.0 - level) * (len(latest) + 1))) - 1  # that many of them may be missed
        out[row] = np.partition(latest, place)[place] if place >= 0 else 0.0
    return out


def sets_of(probabilities: FloatArray, thresholds: FloatArray, rows: Rows) -> Result:
    """Coverage, in percent, and mean size of the sets, with and without empty ones; on all rows and after changes."""
    _, first = np.unique(rows.labels, return_index=True)
    is_known = np.arange(len(rows.labels))[:, None] > first
    inside = (probabilities >= thresholds[:, None]) & is_known
    filled = inside.copy()
    filled[np.arange(len(filled)), probabilities.argmax(axis=1)] = True
    counted = ~is_first(rows.labels)
    after = np.zeros(len(rows.labels), dtype=bool)
    for begin, end in itertools.pairwise((*rows.changes, len(rows.labels))):
        after[begin : min(begin + AFTER, end)] = True
    every = np.arange(len(rows.labels))
    out: Result = {}
    for name, sets in {"empty": inside, "filled": filled}.items():
        for part, chosen in {"": counted, "_after": counted & after}.items():
            if chosen.any():
                out[f"{name}{part}_coverage"] = round(100.0 * float(sets[every, rows.labels][chosen].mean()), 3)
                out[f"{name}{part}_size"] = round(float(sets[chosen].sum(axis=1).mean()), 4)
    return out


def plan(models: Sequence[str], streams: Sequence[str]) -> Iterator[Job]:
    for stream in streams:
        for share in (0.0, 0.2) if stream in paper.DATASETS else (0.0,):
            for model in models:
                yield {"stream": stream, "rows": N_ROWS, "noise": share, "model": model}


# -- time --------------------------------------------------------------------------------------------------------------


N_REPEATS = 100  # of the rows, for what takes less than a microsecond
BARE: dict[str, Any] = {"n_suspects": 0, "coverages": ()}  # a default that keeps no suspects and makes no sets


@kernel
def _weigh(
    blends: FloatArray, labels: IntArray, weights: blend.Weights, scratch: blend.Scratch, out: FloatArray
) -> None:
    """All that is done to a row for its probabilities."""
    for row in range(labels.size):
        bayes.temper(blends, scratch.tempered)
        raw = scratch.blends[0]
        for j in range(out.size):
            raw[j] = 0.0
            for expert in range(weights.bayes.size):
                raw[j] += weights.bayes[expert] * scratch.tempered[expert, j]
        reshaping.reshape(raw, blends[0], weights.reshaping, scratch.sharpened, out)
        sureness.reckon(out, weights.sureness, scratch.doubts, scratch.likeliest)
        agree(out, labels[row])
        bayes.update(scratch.tempered, labels[row], 1.0, weights.bayes)
        reshaping.update(scratch.sharpened, blends[0, labels[row]], labels[row], 1.0, weights.reshaping)
        sureness.update(scratch.doubts, scratch.likeliest, labels[row], 1.0, weights.sureness)


def cost(n_rounds: int = 5, n_rows: int = 1000) -> Result:
    """Processor time of a row, in microseconds: of each part alone, and of all; the least of the rounds.

    Then the time of the default over that of a model without suspects and sets, in turns: median and quartiles.
    """
    rows = load({"stream": "segment", "model": OURS, "noise": 0.2, "rows": n_rows}, None)
    X, y = rows.X[:n_rows], rows.labels[:n_rows]
    matrix = np.array([list(x.values()) for x in X])
    said: FloatArray = np.random.default_rng(1).dirichlet(np.ones(7), size=n_rows)
    sets, weights = PredictionSets(LEVELS, 7), np.ones(n_rows)
    suspects = Suspects(N_SUSPECTS, None, is_judged=True)
    blends = np.random.default_rng(2).dirichlet(np.ones(7), size=bayes.N_BLENDS)
    plan = blend.plan_for([1.0, 1.0, 1.0], 2, 0, 0)
    mixed, scratch = blend.first_weights(plan, mean=1), blend.make_scratch(plan, 7)
    notes = suspects._made_for(matrix.shape[1], 7)

    def learn(by_row: bool, options: dict[str, Any]) -> float:
        model = OnlineBoostClassifier(seed=SEED, classes=list(range(7)), **options)
        began = time.process_time()
        if by_row:
            for x, label in zip(X, y.tolist(), strict=True):
                model.predict_one(x)
                model.learn_one(x, label)
        else:
            model.learn_many(X, y.tolist())
        return time.process_time() - began

    parts: dict[str, Callable[[], object]] = {
        "probabilities": lambda: _weigh(blends, y, mixed, scratch, np.zeros(7)),
        "prediction sets": lambda: sets.follow(said, y, weights, {}),
        "suspects": lambda: note_rows(0, matrix, y, weights, said, notes),
    }
    out: Result = {}
    for name, part in parts.items():
        part()  # compiles
        seconds = []
        for _ in range(n_rounds):
            began = time.process_time()
            for _ in range(N_REPEATS):
                part()
            seconds.append(time.process_time() - began)
        out[name] = round(1e6 * min(seconds) / n_rows / N_REPEATS, 3)
    for by_row, name in ((False, "in a block"), (True, "row by row")):
        learn(by_row, {}), learn(by_row, BARE)
        turns = [(learn(by_row, {}), learn(by_row, BARE)) for _ in range(n_rounds)]
        out[name] = round(1e6 * min(full for full, _ in turns) / n_rows, 3)
        ratios = [full / bare for full, bare in turns]
        out[f"{name}, ratio"] = [round(ratio, 4) for ratio in np.quantile(ratios, (0.25, 0.5, 0.75))]
    return out


# -- report ------------------------------------------------------------------------------------------------------------

Cells = dict[tuple[str, float, str], dict[str, Any]]  # by stream, noise and model
TITLES = {OURS: "boost", AMF: "River AMF", ARF: "River ARF", CAPYMOA: "CapyMOA ARF"}


def losses(cells: Cells, streams: Sequence[str], share: float) -> str:
    """Log loss, clipped at 1e-15 and at 1e-3, and calibration error; the least log loss is bold."""
    rows, strong = [], []
    for stream in streams:
        found = {model: cells.get((stream, share, model)) for model in MODELS}
        best = min((run["log_loss_clipped"] for run in found.values() if run is not None), default=0.0)
        row = [stream]
        for model in MODELS:
            run = found[model]
            if run is None:
                row.append("")
                continue
            if run["log_loss_clipped"] == best:
                strong.append((len(rows), len(row)))
            row.append(f"{run['log_loss']:.3f} / {run['log_loss_clipped']:.3f}, {run['calibration']:.3f}")
        rows.append(row)
    return studies.table(["stream", *(TITLES[model] for model in MODELS)], rows, text=range(5), strong=strong)


def coverages(cells: Cells, streams: Sequence[str]) -> str:
    """Of 90 % sets: ours, empty ones allowed and not, and split conformal ones over ARF, not empty."""
    level, rows = LEVELS.index(0.9), []
    for stream in streams:
        run = cells.get((stream, 0.0, OURS))
        if run is None:
            continue
        own, split = run["own"][level], (cells.get((stream, 0.0, ARF)) or {}).get("split")
        other = split[level] if split else {}
        row = [stream]
        for sets, kind in ((own, "empty"), (own, "filled"), (other, "filled")):
            for part in ("", "_after"):
                coverage = sets.get(f"{kind}{part}_coverage")
                row.append("" if coverage is None else f"{coverage:.1f}")
        row += [f"{sets['filled_size']:.2f}" if sets else "" for sets in (own, other)]
        rows.append(row)
    columns = ["stream", "with empty sets", "after a change", "never empty", "after", "split over ARF", "after"]
    return studies.table([*columns, "size", "size over ARF"], rows)


def time_table(run: dict[str, Any]) -> str:
    parts = ("probabilities", "prediction sets", "suspects")
    rows = []
    for name in ("in a block", "row by row"):
        low, middle, high = run[f"{name}, ratio"]
        shares = [f"{run[part]:.2f} ({run[part] / run[name]:.2%})" for part in parts]
        rows.append([name, f"{run[name]:.0f}", *shares, f"{middle:.3f} ({low:.3f} to {high:.3f})"])
    columns = ["rows of Segment", "microseconds a row", *parts, "with suspects and sets over without"]
    return studies.table(columns, rows)


def report(runs: list[dict[str, Any]]) -> None:
    cells = {(run["stream"], run["noise"], run["model"]): run for run in runs}
    page = studies.DOCS / "probabilities.md"
    studies.put(page, losses(cells, paper.DATASETS, 0.0), "clean")
    studies.put(page, losses(cells, paper.DATASETS, 0.2), "flipped")
    studies.put(page, losses(cells, FILES, 0.0), "files")
    studies.put(page, coverages(cells, (*CHANGING, *FILES)), "sets")


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "time", "report"))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--streams", default=",".join((*paper.DATASETS, *FILES, *CHANGING)))
    options = parser.parse_args()
    if options.action == "run":
        jobs = plan(options.models.split(","), options.streams.split(","))
        studies.run_missing("probabilities", jobs, partial(work, data_dir=options.data_dir), options)
    elif options.action == "time":
        store = Store(options.results / "probabilities_time.jsonl", any_code=True)
        store.add({"what": "all", "stream": "segment"}, cost())
    else:
        report(studies.finished("probabilities", options))
        times = studies.finished("probabilities_time", options)
        studies.put(studies.DOCS / "probabilities.md", time_table(times[-1]), "time")


if __name__ == "__main__":
    main()
