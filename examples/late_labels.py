"""Labels that come a hundred rows late, prediction sets that stay honest, and a restart in between."""

import tempfile
from pathlib import Path

import ocoboost
from ocoboost.bench import datasets

rows = datasets.shuffled(datasets.load("landsat"), seed=1)[:2500]
model = ocoboost.OnlineBoostClassifier(classes=sorted({y for _, y in rows}), coverages=(0.9,), seed=1)
waiting, sets = [], []

for number, (x, y) in enumerate(rows):
    sets.append(model.predict_set_one(x, coverage=0.9, key=number))  # what is said is kept under the key
    waiting.append((number, x, y))
    if len(waiting) > 100:
        key, row, label = waiting.pop(0)
        model.learn_one(row, label, key=key)
    if number == 1000:  # the process is restarted; what waits for a label is in the file
        with tempfile.TemporaryDirectory() as folder:
            ocoboost.save(model, Path(folder) / "model.oco")
            model = ocoboost.load(Path(folder) / "model.oco")
        print(f"restarted at row {number:,} with {model.n_waiting_} labels on their way")

late = list(zip(sets, rows, strict=True))[500:]
covered = sum(y in labels for labels, (_, y) in late) / len(late)
size = sum(len(labels) for labels, _ in late) / len(late)
print(f"{covered:.1%} of the sets held the right label, with {size:.2f} labels on average")
print(f"{model.n_rows_:,} rows learned, {model.n_unmatched_} labels without a prediction")
