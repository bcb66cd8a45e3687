"""``ocoboost run --cluster``: the learners of the model on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ocoboost.run.runner import Run

Cluster = Annotated[
    str | None,
    typer.Option(
        help="Spread the learners over a Dask cluster: local:N for N processes here, or a scheduler's address.",
        show_default=False,
    ),
]
HINT = "--cluster"
BLOCK_ROWS = 128  # a run hands over 1,024 rows at a time, and the stages have to fill


@contextmanager
def on_cluster(this: Run, cluster: str | None) -> Iterator[None]:
    """A context in which the run's model learns on a cluster, if one is named; after it the whole model is here."""
    if cluster is None:
        yield
        return
    with _client(cluster) as client:
        from ocoboost.cluster.boosters import on_dask

        try:
            far = on_dask(this.model, client=client, block_rows=BLOCK_ROWS)
        except TypeError as error:
            raise typer.BadParameter(str(error), param_hint=HINT) from error
        with far:
            this.move_to(far)
            yield
            this.come_back()


@contextmanager
def _client(cluster: str) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        why = "needs Dask; install it with: pip install 'ocoboost[dask]'"
        raise typer.BadParameter(why, param_hint=HINT) from error
    if not cluster.startswith("local"):
        try:
            client = Client(cluster, set_as_default=False)
        except (OSError, ValueError) as error:
            raise typer.BadParameter(f"{cluster!r} cannot be reached ({error})", param_hint=HINT) from error
        with client:
            yield client
        return
    count = cluster.removeprefix("local").removeprefix(":")
    if not count.isdecimal() or int(count) < 1 or not cluster.startswith("local:"):
        why = f"{cluster!r} is neither local:N, with N of at least 1, nor an address such as tcp://scheduler:8786"
        raise typer.BadParameter(why, param_hint=HINT)
    # Any free port for the dashboard: the usual one may be another cluster's.
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "memory_limit": 0, "silence_logs": "ERROR"}
    with LocalCluster(n_workers=int(count), **options) as made, Client(made, set_as_default=False) as client:
        yield client
