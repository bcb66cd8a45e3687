"""The online boosters under their own names, with their learners on the workers of a Dask cluster.

A model takes blocks of rows, and answers as the local one does: the same bits, for any number of stages and workers and
any blocks. See ``online.stages`` for why.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from distributed import Client, LocalCluster, default_client

from ocoboost.cluster.courier import Settings, Standing
from ocoboost.cluster.line import ClusterLine
from ocoboost.cluster.partitions import is_dask, parts_of, tables
from ocoboost.data.labels import Label
from ocoboost.data.parameters import invalid
from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier as LocalAdaBoostOLM
from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier as LocalAgnostic
from ocoboost.online.boost import OnlineBoostClassifier as LocalBoost
from ocoboost.online.mbbm import OnlineMBBMClassifier as LocalMBBM
from ocoboost.online.pairwise import OnlinePairwiseBoostClassifier as LocalPairwise
from ocoboost.online.realizable import OnlineRealizableBoostClassifier as LocalRealizable
from ocoboost.online.staged import Staged, predictions
from ocoboost.online.stages import Stage
from ocoboost.saving.model import load, save
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered, State


class OnlineOnDask:
    """An online booster whose learners are on the workers of a Dask cluster.

    Parameters
    ----------
    learner
        As for the local booster, and so are all parameters that are not named here.
    n_stages
        Into how many stages the learners are cut; None for one per worker.
    client
        The cluster's client; None for the current one, or else a `LocalCluster` of its own with one worker per core.
    block_rows
        Rows that pass through the stages together. The results do not depend on it.
    log_size
        MiB for the blocks since the last checkpoint of a stage, which make it possible to begin it again if its worker
        is lost; 0 for neither log nor checkpoints.
    checkpoints
        A folder for checkpoints; None for one that is temporary.
    patience
        Seconds to wait for another worker if one is lost and none is left.
    slow_after
        Seconds that a block may take at a stage before a `SlowStageWarning` names it.

    """

    local_class: ClassVar[type[StreamClassifier]]

    def __init__(
        self,
        *args: Any,
        n_stages: int | None = None,
        client: Client | None = None,
        block_rows: int = 256,
        log_size: float = 64.0,
        checkpoints: str | os.PathLike[str] | None = None,
        patience: float = 60.0,
        slow_after: float = 60.0,
        **parameters: Any,
    ) -> None:
        self.n_stages = n_stages
        self.block_rows = block_rows
        self.log_size = log_size
        self.patience = patience
        self.slow_after = slow_after
        for name, least in (("n_stages", 1), ("block_rows", 1)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise invalid(self, name, f"be a whole number of at least {least}", value)
        for name in ("log_size", "patience", "slow_after"):
            if not getattr(self, name) >= 0:
                raise invalid(self, name, "be a number of at least 0", getattr(self, name))
        self._given_client = client
        self._folder: Any = checkpoints
        self._own: list[Any] = []  # to be closed
        self._line: ClusterLine | None = None
        self._take(self.local_class(*args, **parameters))

    def _take(self, model: StreamClassifier) -> None:
        self._staged = Staged(model, self._make_line, self.n_stages or 1, self.block_rows)

    # -- where the learners are ----------------------------------------------------------------------------------------

    @property
    def client(self) -> Client:
        """The client of the cluster, which is started now if there is none."""
        if self._given_client is None:
            try:
                self._given_client = default_client()
            except ValueError:
                cluster = LocalCluster(
                    n_workers=max(1, os.cpu_count() or 1),
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # any free port: the usual one may be another cluster's
                    memory_limit=0,
                )
                self._given_client = Client(cluster, set_as_default=False)
                self._own += [self._given_client, cluster]
        return self._given_client

    def _make_line(self, stages: list[Stage], fresh: list[Stage], state: State) -> ClusterLine:
        if self._line is not None:
            self._line.close()
        if self._folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="ocoboost-")
            self._own.append(temporary)
            self._folder = temporary.name
        folder = Path(self._folder)
        folder.mkdir(parents=True, exist_ok=True)
        settings = Settings(int(self.log_size * 2**20), folder, float(self.patience), float(self.slow_after))
        self._line = ClusterLine(self.client, stages, fresh, state, settings)
        return self._line

    def _ready(self) -> Staged:
        if self.n_stages is None:
            self._staged.n_stages = self.n_stages = max(1, len(self.client.nthreads()))
        return self._staged

    @property
    def stages_(self) -> list[Standing]:
        """How every stage is doing: what it holds, where, and how long it has worked; empty before the first row."""
        return [] if self._line is None else self._line.standing()

    # -- learning ------------------------------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any = None, *, w: Any = None) -> None:
        """Learn a table, a Dask array or data frame, or, without ``y``, an iterable of tables (X, y) or (X, y, w)."""
        self._ready().learn(self._tables(X, y, w))

    def predict_learn_many(self, X: Any, y: Any = None, *, w: Any = None) -> list[Label | None]:
        """Predict each row, then learn it; None for rows before the first label was ever seen."""
        return predictions(self._ready().run(self._tables(X, y, w), answering=True))

    def prequential(self, X: Any, y: Any = None, *, w: Any = None) -> Iterator[Answered]:
        """Watch a prequential run: what is said to each row before it is learned, block by block.

        Several blocks are on their way at a time: if the iterator is dropped, those that it has not given yet are
        learned all the same (``n_rows_`` counts them).
        """
        return self._ready().run(self._tables(X, y, w), answering=True)

    def _tables(self, X: Any, y: Any, w: Any) -> Iterable[Sequence[Any]]:
        if y is None:
            return X  # type: ignore[no-any-return]
        return tables(self.client, X, y, w) if is_dask(X) else [(X, y, w)]

    # -- predicting ----------------------------------------------------------------------------------------------------

    def predict_many(self, X: Any) -> Any:
        """The label predicted for every row; for a Dask array or data frame, a list."""
        if is_dask(X):
            return [label for part in self._computed(X) for label in self._ready().answer(part).labels]
        return self._ready().labels(X)

    def predict_proba_many(self, X: Any) -> Any:
        """The probability of every label for every row of a table."""
        return self._ready().probabilities(self.client.compute(X).result() if is_dask(X) else X)

    def answer_many(self, X: Any) -> Answered:
        """Labels, distributions and vote shares for a table in one go; nothing is learned."""
        return self._ready().answer(self.client.compute(X).result() if is_dask(X) else X)

    def _computed(self, X: Any) -> Iterator[Any]:
        for part in parts_of(X):
            yield self.client.compute(part).result()

    # -- what is known -------------------------------------------------------------------------------------------------

    @property
    def model(self) -> StreamClassifier:
        """The local model without its learners: parameters, labels, columns, and what a mixture knows of its members.

        Its own methods must not be called for what the learners know.
        """
        return self._staged.model

    @property
    def classes_(self) -> list[Label]:
        """The labels known so far."""
        return self.model.classes_

    @property
    def n_rows_(self) -> int:
        """The number of rows learned so far, those on their way among them."""
        return self.model.n_rows_

    def __repr__(self) -> str:
        return f"{self.model!r} in {self.n_stages or 'one stage per worker as'} stages"

    # -- the other world -----------------------------------------------------------------------------------------------

    def to_local(self) -> StreamClassifier:
        """The same model as a local one, with all that it has learned."""
        return self._staged.to_local()

    @classmethod
    def from_local(cls, model: StreamClassifier, **options: Any) -> Self:
        """A local model on a cluster; ``options`` are those parameters that the local one does not have."""
        if type(model) is not cls.local_class:
            name = cls.local_class.__name__
            raise TypeError(f"{cls.__name__} takes a local {name}, got {type(model).__name__}")
        made = cls(**options)
        copy: StreamClassifier = model.clone()
        if model.state_ is not None:
            with model.unchanging():
                copy.state_ = pickle.loads(pickle.dumps(model.state_))
        made._take(copy)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `ocoboost.load` reads, too."""
        save(self.to_local(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Self:
        """Read a model from a file that was saved here or by `ocoboost.save`."""
        return cls.from_local(load(path), **options)

    def close(self) -> None:
        """Give up the stages and what they have learned, and the cluster if it is our own."""
        self._staged.close()
        for thing in self._own:
            thing.cleanup() if hasattr(thing, "cleanup") else thing.close()
        self._own.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class OnlineBoostClassifier(OnlineOnDask):
    """``ocoboost.OnlineBoostClassifier`` with its members on the workers of a Dask cluster, and the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import Client
    >>> from ocoboost.dask import OnlineBoostClassifier
    >>> X = np.random.default_rng(1).random((200, 3))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     with OnlineBoostClassifier(budget=5, seed=1, n_stages=2, client=client) as model:
    ...         model.learn_many(X, (X[:, 0] > 0.5).tolist())
    ...         model.to_local().predict_one({0: 0.9, 1: 0.5, 2: 0.5})
    True

    """

    local_class = LocalBoost


class OnlineAgnosticBoostClassifier(OnlineOnDask):
    """``ocoboost.OnlineAgnosticBoostClassifier`` with its learners on the workers of a Dask cluster."""

    local_class = LocalAgnostic


class OnlineRealizableBoostClassifier(OnlineOnDask):
    """``ocoboost.OnlineRealizableBoostClassifier`` with its learners on the workers of a Dask cluster."""

    local_class = LocalRealizable


class OnlinePairwiseBoostClassifier(OnlineOnDask):
    """``ocoboost.OnlinePairwiseBoostClassifier`` with its learners on the workers of a Dask cluster."""

    local_class = LocalPairwise


class OnlineMBBMClassifier(OnlineOnDask):
    """``ocoboost.OnlineMBBMClassifier`` with its learners on the workers of a Dask cluster."""

    local_class = LocalMBBM


class AdaBoostOLMClassifier(OnlineOnDask):
    """``ocoboost.AdaBoostOLMClassifier`` with its learners on the workers of a Dask cluster."""

    local_class = LocalAdaBoostOLM


ONLINE: dict[type[StreamClassifier], type[OnlineOnDask]] = {
    made.local_class: made
    for made in (
        OnlineBoostClassifier,
        OnlineAgnosticBoostClassifier,
        OnlineRealizableBoostClassifier,
        OnlinePairwiseBoostClassifier,
        OnlineMBBMClassifier,
        AdaBoostOLMClassifier,
    )
}


def on_dask(model: StreamClassifier, **options: Any) -> OnlineOnDask:
    """A local booster on a cluster, whichever it is."""
    made = ONLINE.get(type(model))
    if made is None:
        known = ", ".join(kind.__name__ for kind in ONLINE)
        raise TypeError(f"{type(model).__name__} cannot be put on a cluster; the models that can are {known}")
    return made.from_local(model, **options)
