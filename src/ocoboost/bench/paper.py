"""What the paper reports: Table 1 and the standard errors of its appendix (Raman & Tewari, 2022)."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Accuracy in percent, its standard error over five shuffles, and seconds."""

    accuracy: float
    error: float
    seconds: float


N_LEARNERS = 100
N_SHUFFLES = 5
BOOSTERS = {"agnostic": "Agn", "mbbm": "Opt", "adaboost-olm": "Ada", "realizable": "OCOR"}  # the paper's columns
_OCO_GAMMAS = (0.1, 0.3, 0.5, 0.7, 1.0)
GAMMAS: dict[str, tuple[float | None, ...]] = {
    "agnostic": _OCO_GAMMAS,
    "mbbm": (0.001, 0.01, 0.05, 0.1, 0.3),
    "adaboost-olm": (None,),
    "realizable": _OCO_GAMMAS,
}
_ROWS = {
    # dataset: accuracies, standard errors and seconds of Agn, Opt, Ada, OCOR
    "balance": ((84.4, 79.5, 75.2, 78.8), (0.68, 1.06, 1.27, 0.84), (11.5, 57.6, 7.1, 4.5)),
    "cars": ((80.6, 69.9, 75.8, 69.6), (0.46, 0.02, 0.55, 0.32), (42.5, 104.1, 20.4, 12.1)),
    "landsat": ((67.0, 80.8, 56.9, 79.6), (0.89, 0.36, 1.23, 0.21), (1255.6, 1814.3, 81.8, 440.4)),
    "segment": ((75.0, 78.9, 68.6, 79.3), (0.70, 0.48, 1.56, 0.54), (647.2, 2448.3, 51.8, 154.7)),
    "mice": ((86.0, 77.6, 71.3, 79.6), (0.58, 0.60, 2.53, 0.26), (1025.8, 1811.6, 90.1, 258.2)),
    "yeast": ((42.3, 39.8, 41.7, 47.6), (0.43, 1.03, 1.09, 1.53), (348.3, 1468.8, 25.2, 56.6)),
    "abalone": ((22.1, 24.9, 19.2, 22.0), (0.53, 0.42, 0.28, 0.31), (4036.7, 9775.3, 108.0, 248.2)),
}
TABLE = {
    (booster, dataset): Published(*cell)
    for dataset, row in _ROWS.items()
    for booster, cell in zip(BOOSTERS, zip(*row, strict=True), strict=True)
}
DATASETS = tuple(_ROWS)
