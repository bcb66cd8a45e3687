"""Build sdist and wheel, look into them, and try the wheel in an empty environment without a network.

    python tools/release.py [FOLDER]      # the files go to FOLDER, dist if none is named

The package index is needed twice, for the build backend and for the wheel's dependencies. The trial itself may not
connect to anything. Every step raises if it fails; the last line says what was built.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What whoever packages it looks for in the sources, and what must be in the wheel.
IN_SDIST = (
    "pyproject.toml",
    "LICENSE",
    "LICENSES/CC-BY-4.0.txt",
    "CHANGELOG.md",
    "CITATION.cff",
    "README.md",
    "conftest.py",
    "tests/test_package.py",
    "docs/conf.py",
    "src/ocoboost/bench/datasets/data/README.md",
)
IN_WHEEL = ("py.typed", "report/page.html.j2", "bench/datasets/data/segment.csv.xz", "bench/datasets/data/README.md")
LICENCES = ("LICENSE", "LICENSES/CC-BY-4.0.txt", "src/ocoboost/bench/datasets/data/README.md")
MOST_MIB = 10  # of either file

OFFLINE = """
import socket

def _refuse(*address, **more):
    raise OSError("the trial may not connect to anything")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = _refuse
"""
TRIAL = """
import importlib.metadata, warnings
warnings.simplefilter("error", DeprecationWarning)
import numpy as np
import ocoboost
from ocoboost.bench import datasets

assert ocoboost.__version__ == importlib.metadata.version("ocoboost")
rows = datasets.shuffled(datasets.load("segment"), seed=1)[:400]
X, y = [x for x, _ in rows], [label for _, label in rows]
model = ocoboost.OnlineBoostClassifier(budget=30, seed=1)
right = np.mean(np.array(model.predict_learn_many(X, y)[200:]) == np.array(y[200:]))
assert right > 0.8, right
ocoboost.save(model, "model.oco")
assert ocoboost.load("model.oco").predict_many(X) == model.predict_many(X)
with open("rows.csv", "w") as file:
    print(*X[0], "label", sep=",", file=file)
    for x, label in rows:
        print(*x.values(), label, sep=",", file=file)
print(f"{right:.2f} right")
"""
COMMANDS = (
    "--version",
    "run rows.csv --target label --budget 30 --save run.oco --report report.html",
    "predict run.oco rows.csv --coverage 0.9 --output predictions.csv",
    "inspect run.oco",
    "datasets",
)


def run(*command: str | Path, cwd: Path | None = None, **more: str) -> str:
    """What a command prints; raises with its errors if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder: Path, *packages: str | Path) -> Path:
    """The folder of commands of a new virtual environment with these packages."""
    venv.create(folder, with_pip=True)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    run(commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return commands


def built(folder: Path, scratch: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it."""
    commands = environment(scratch / "builder", "build")
    run(commands / "python", "-m", "build", "--outdir", folder, ROOT)
    name = f"{PROJECT['name']}-{PROJECT['version']}"
    return folder / f"{name}.tar.gz", folder / f"{name}-py3-none-any.whl"


def check_contents(sdist: Path, wheel: Path) -> None:
    """Raise if something is missing, or is there that should not be."""
    with tarfile.open(sdist) as archive:
        files = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    info = f"{PROJECT['name']}-{PROJECT['version']}.dist-info/licenses/"
    missing = [name for name in IN_SDIST if name not in files]
    missing += [name for name in (f"ocoboost/{name}" for name in IN_WHEEL) if name not in packed]
    missing += [name for name in (info + name for name in LICENCES) if name not in packed]
    if missing:
        raise SystemExit(f"missing: {', '.join(missing)}")
    odd = [
        name for name in files | packed if name.endswith((".pyc", ".nbi", ".nbc", ".so", ".oco")) or ".cache" in name
    ]
    odd += [name for name in packed if not name.startswith(("ocoboost/", f"{PROJECT['name']}-"))]
    if odd:
        raise SystemExit(f"should not be there: {', '.join(sorted(odd)[:5])}")
    for path in (sdist, wheel):
        if path.stat().st_size > MOST_MIB * 2**20:
            raise SystemExit(f"{path.name} has {path.stat().st_size / 2**20:.1f} MiB, more than {MOST_MIB}")


def try_out(wheel: Path, scratch: Path) -> str:
    """Install the wheel into an empty environment, and use it without a network."""
    commands = environment(scratch / "user", f"{wheel}[cli]")
    run(commands / "python", "-m", "pip", "check")
    (scratch / "offline").mkdir()
    (scratch / "offline" / "sitecustomize.py").write_text(OFFLINE)
    here = scratch / "here"
    here.mkdir()
    alone = {"PYTHONPATH": str(scratch / "offline"), "NUMBA_CACHE_DIR": str(scratch / "numba")}
    told = run(commands / "python", "-W", "ignore", "-c", TRIAL, cwd=here, **alone)
    for line in COMMANDS:
        run(commands / "ocoboost", *line.split(), cwd=here, **alone)
    for name in ("run.oco", "report.html", "predictions.csv"):
        if not (here / name).stat().st_size:
            raise SystemExit(f"{name} is empty")
    return told.strip()


def main() -> None:
    folder = Path(sys.argv[1] if sys.argv[1:] else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as name:
        sdist, wheel = built(folder, Path(name))
        check_contents(sdist, wheel)
        told = try_out(wheel, Path(name))
    sizes = ", ".join(f"{path.name} ({path.stat().st_size / 2**20:.1f} MiB)" for path in (sdist, wheel))
    print(f"{sizes}: built, and tried without a network ({told})")


if __name__ == "__main__":
    main()
