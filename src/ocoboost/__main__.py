"""``python -m ocoboost`` and the ``ocoboost`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from ocoboost.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("jinja2", "matplotlib", "rich", "typer"):
            raise
        print("The command line needs more packages: pip install 'ocoboost[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    app()


if __name__ == "__main__":
    main()
