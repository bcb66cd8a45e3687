"""What a request asks for, done in the right order: answered by the models' thread, committed, then acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Any

from ocoboost.serve.committing import Committer, DiskError
from ocoboost.serve.database import Database, Reader, fresh_id
from ocoboost.serve.entries import Outcome, Prediction
from ocoboost.serve.folder import Folder
from ocoboost.serve.keeper import Keeper, Said
from ocoboost.serve.limits import Limits
from ocoboost.serve.measuring import Measures
from ocoboost.serve.reading import Asked, Judged, Question, RequestError, Told
from ocoboost.serve.served import Served
from ocoboost.spelling import spelled

HOUSEKEEPING = 1.0  # seconds
EXPIRY_EVERY = 10  # turns of it


@dataclass
class Service:
    """A folder, its threads, and what they do for requests."""

    folder: Folder
    limits: Limits = field(default_factory=Limits)
    save_every: float = 30.0  # seconds
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self.measures = Measures()
        self.n_watchers = 0
        self.is_started = False
        self.is_ending: Callable[[], bool] = lambda: False
        self._stack = ExitStack()

    # -- life ----------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the folder and begin to learn what is in the log."""
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            stack.enter_context(self.folder.locked())
            database = stack.enter_context(closing(self.folder.open(self.limits)))
            models = self.folder.read(database, self.n_jobs)
            champion = database.champion()
            assert champion is not None  # the folder has checked it
            for served in models.values():
                served.n_asked = database.counters["predictions_kept"]
            self.keeper = Keeper(
                models,
                champion,
                Reader(self.folder.log),
                lambda: database.last_number,
                loop,
                save=self._save,
                on_saved=self._prune,
                save_every=self.save_every,
            )
            self.committer = Committer(database, loop, self.keeper.notify)
            self.database = database
            self._stack = stack.pop_all()
        self.committer.start()
        self.keeper.start()
        self._housekeeper = loop.create_task(self._keep_house())
        self.is_started = True

    async def stop(self) -> None:
        """Finish what was begun, save all models, and let go of the folder."""
        self._housekeeper.cancel()
        with suppress(asyncio.CancelledError):
            await self._housekeeper
        await asyncio.to_thread(self.keeper.stop)
        await asyncio.to_thread(self.committer.stop)
        self._stack.close()

    async def _keep_house(self) -> None:
        """Note rates, and forget what has expired, as long as the service lives."""
        turn = 0
        while True:
            await asyncio.sleep(HOUSEKEEPING)
            model = self.keeper.status["model"]
            self.measures.sample(self.keeper.models[self.keeper.champion].position, model["recent_accuracy"])
            turn += 1
            if turn % EXPIRY_EVERY == 0:
                self.committer.post(lambda database: database.expire(time.time()))

    def _save(self, served: Served) -> None:
        served.write(self.folder.file(served.name))

    def _prune(self) -> None:
        """Remove what every file has learned from the log, if it is not to be kept."""
        if self.limits.log_rows is not None:
            learned = min(served.saved_position for served in self.keeper.models.values())
            self.committer.post(lambda database: database.prune(learned))

    # -- requests ------------------------------------------------------------------------------------------------------

    async def predict(self, question: Question) -> list[dict[str, Any]]:
        """Answers to rows, each kept for its label unless nobody wants that or nothing can be written."""
        if self.keeper.n_rows_waiting + len(question.rows) > self.limits.waiting_rows:
            raise RequestError(503, "too many rows wait for their predictions; try again later.")
        said = await self.keeper.ask(question.rows)
        predictions = _predictions(question.rows, said)
        if question.keep:
            now = time.time()
            with suppress(DiskError):
                kept = await self.committer.submit(lambda database: database.keep(predictions, now))
                predictions = [_checked(one) for one in kept]
        return [_described(prediction, question.coverage) for prediction in predictions]

    @property
    def takes_feedback(self) -> bool:
        """Whether the models learn from right and wrong, rather than from labels."""
        return self.keeper.models[self.keeper.champion].takes_feedback

    async def learn(self, labels: list[Told]) -> list[Outcome]:
        """Put labels into the log; they are on disk when this returns."""
        if self.takes_feedback:
            raise RequestError(409, "the models learn from right and wrong, not from labels; send it to /feedback.")
        now = time.time()
        return await self._kept(lambda database: database.label(labels, now))

    async def feedback(self, judged: list[Judged]) -> list[Outcome]:
        """Put into the log which answers were right; it is on disk when this returns."""
        if not self.takes_feedback:
            raise RequestError(409, "the models learn from labels, not from right and wrong; send the label to /learn.")
        now = time.time()
        return await self._kept(lambda database: database.feedback(judged, now))

    async def _kept(self, operation: Callable[[Database], list[Outcome]]) -> list[Outcome]:
        try:
            outcomes: list[Outcome] = await self.committer.submit(operation)
        except DiskError as error:
            why = f"the labels were not kept, because nothing can be written ({error})"
            fix = f"free space on the disk of {self.folder.path} and send them again"
            raise RequestError(507, f"{why}; {fix}.") from None
        return outcomes

    async def promote(self, name: str) -> None:
        """Let another model answer, from the next request on and after a restart."""
        if name not in self.keeper.models:
            known = ", ".join(self.keeper.models)
            raise RequestError(404, f"there is no model of that name; the models are {known}.")
        now = time.time()
        try:
            await self.committer.submit(lambda database: database.promote(name, now))
        except DiskError as error:
            raise RequestError(507, f"nothing was promoted, because nothing can be written ({error}).") from None
        self.keeper.promote(name)

    # -- what there is to say ------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """How things are."""
        status = dict(self.keeper.status)
        suspects = status.pop("suspects")
        database = self.database
        return {
            **status,
            "n_suspects": len(suspects),
            "takes_feedback": self.takes_feedback,
            "log": database.last_number,
            "pending": database.n_pending,
            "counters": dict(database.counters),
            "disk_failure": self.committer.failure,
            "started": self.measures.started,
        }

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Whether predictions and labels are taken, and if not, why."""
        broken = {name: one.broken for name, one in self.keeper.models.items() if one.broken}
        troubles = {"models_thread": self.keeper.failure, "disk": self.committer.failure, **broken}
        found = {name: why for name, why in troubles.items() if why}
        return not found, {"status": "ok" if not found else "failing", "troubles": sorted(found)}

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """The status, every second, for a page that is open."""
        if self.n_watchers >= self.limits.watchers:
            raise RequestError(503, f"{self.limits.watchers} pages are open already; close one.")
        self.n_watchers += 1
        try:
            history = list(self.measures.history)
            while not self.is_ending():
                yield {**self.status(), "suspects": self.keeper.status["suspects"], "history": history}
                await asyncio.sleep(HOUSEKEEPING)
                history = list(self.measures.history)[-1:]
        finally:
            self.n_watchers -= 1


def _predictions(rows: list[Asked], said: Said) -> list[Prediction]:
    answered = said.answered
    names = spelled(answered.classes)
    return [
        Prediction(
            row.id or fresh_id(),
            row.features,
            said.model,
            said.position,
            label,
            dict(zip(names, probabilities, strict=True)),
            issued,
        )
        for row, label, probabilities, issued in zip(
            rows, answered.labels, answered.probabilities.tolist(), said.issued, strict=True
        )
    ]


def _checked(kept: Prediction | Outcome) -> Prediction:
    if isinstance(kept, Outcome):
        raise RequestError(409, kept.error)
    return kept


def _described(prediction: Prediction, coverage: float | None) -> dict[str, Any]:
    described = {
        "id": prediction.id,
        "label": prediction.label,
        "probabilities": prediction.probabilities,
        "model": prediction.model,
        "rows": prediction.model_rows,
        "kept": prediction.is_kept,
    }
    if prediction.is_repeated:
        described["repeated"] = True
    if coverage is not None:
        described["set"] = likely(prediction.probabilities, coverage)
    return described


def likely(probabilities: dict[str, float], coverage: float) -> list[str]:
    """The fewest labels that have the probability ``coverage`` together, the most probable first.

    >>> likely({"a": 0.2, "b": 0.7, "c": 0.1}, 0.8)
    ['b', 'a']
    """
    chosen, total = [], 0.0
    for name, probability in sorted(probabilities.items(), key=lambda pair: -pair[1]):
        if total >= coverage:
            break
        chosen.append(name)
        total += probability
    return chosen
