"""Find the wrong labels of a stream, have the worst looked at, and see what it was worth."""

import numpy as np

from ocoboost import OnlineBoostClassifier
from ocoboost.bench import datasets, noise

rows = datasets.shuffled(datasets.load("segment"), seed=1)
X, true = [x for x, _ in rows], [y for _, y in rows]
given = noise.flip(true, 0.4, seed=1)
print(f"{sum(a != b for a, b in zip(given, true, strict=True))} of {len(true):,} labels are wrong")

model = OnlineBoostClassifier(seed=1)
model.learn_many(X, given)
suspects = [suspect for suspect in model.suspects_ if suspect.is_label_issue]
found = sum(true[suspect.row] != suspect.given_label for suspect in suspects)
print(f"{len(suspects)} look wrong; {found} of these are")

corrected = list(given)
for suspect in suspects[:500]:  # somebody looks at the worst, and puts right what is wrong
    corrected[suspect.row] = true[suspect.row]
for name, labels in (("as given", given), ("corrected", corrected), ("true", true)):
    predicted = OnlineBoostClassifier(seed=2).predict_learn_many(X, labels)
    share = np.mean(np.array(predicted[1155:]) == np.array(true[1155:]))
    print(f"learned {name + ',':<10} right in the second half: {share:.3f}")
