"""A stream whose rule changes: who notices, and how long it takes to recover."""

import numpy as np
from river import tree

from ocoboost import OnlineBoostClassifier

rng = np.random.default_rng(1)
X = rng.normal(size=(6000, 4))
before, after = X[:, 0] * X[:, 1] > 0, X[:, 2] + X[:, 3] > 0
labels = np.where(np.arange(6000) < 3000, before, after).astype(int)

model = OnlineBoostClassifier(seed=1)
ours = np.array(model.predict_learn_many(X, labels)) == labels

hoeffding = tree.HoeffdingAdaptiveTreeClassifier(seed=1)
theirs = np.zeros(6000, dtype=bool)
for number, (x, label) in enumerate(zip(X.tolist(), labels.tolist(), strict=True)):
    row = dict(enumerate(x))
    theirs[number] = hoeffding.predict_one(row) == label
    hoeffding.learn_one(row, label)

print("rows              ours   adaptive tree")
for first in range(0, 6000, 1000):
    part = slice(first, first + 1000)
    print(f"{first:>5} to {first + 999:<5}   {ours[part].mean():7.3f} {theirs[part].mean():15.3f}")
print("changes noticed (began, noticed):", [(change.row, change.noticed) for change in model.drift_.changes])
