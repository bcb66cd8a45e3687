"""``python -m ocoboost`` and the ``ocoboost`` command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("jinja2", "matplotlib", "pyarrow", "rich", "typer")  # the extra ``cli``


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        print(f"ocoboost: missing packages ({names}); install them with: pip install 'ocoboost[cli]'", file=sys.stderr)
        raise SystemExit(2)
    from ocoboost.cli import app

    app()


if __name__ == "__main__":
    main()
