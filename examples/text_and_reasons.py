"""Text, missing cells and a column that appears later; and why the model says what it says."""

import numpy as np

from ocoboost import OnlineBoostClassifier

rng = np.random.default_rng(1)
countries, browsers = ["DE", "FR", "US", "NL"], ["Firefox", "Chrome", "Safari"]
rows, labels = [], []
for number in range(3000):
    row = {
        "amount": float(rng.lognormal(3, 1)),
        "country": countries[rng.integers(4)],
        "browser": browsers[rng.integers(3)] if rng.random() < 0.8 else None,  # missing
    }
    if number >= 1500:  # somebody has begun to record it
        row["returning"] = bool(rng.random() < 0.5)
    is_fraud = row["amount"] > 40 and row["country"] == "US" and not row.get("returning", False)
    rows.append(row)
    labels.append("fraud" if is_fraud else "fine")

model = OnlineBoostClassifier(seed=1)
predicted = model.predict_learn_many(rows, labels)
right = np.array(predicted) == np.array(labels)
print(f"right in the first half {right[:1500].mean():.3f}, in the second {right[1500:].mean():.3f}")
print("columns:", model.columns_)
print("importances:", {name: round(share, 2) for name, share in model.feature_importances_.items()})

row = {"amount": 90.0, "country": "US", "browser": "Safari", "returning": False}
why = model.explain_one(row)
print(f"{row} -> {why.label}, {why.probability:.2f}")
for name, share in sorted(why.contributions.items(), key=lambda item: -abs(item[1])):
    print(f"  {name:<10} {share:+.2f}")
