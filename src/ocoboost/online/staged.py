"""A booster whose learners are in a line of stages, wherever these are: the calls that learn and predict blocks.

Blocks are sent into the line one after another, and several are on their way at a time. Before a block that brings a
new label, column or category the line runs empty: such a block is checked, cut and encoded by what all rows before it
have brought, and answers to earlier rows are weighed before anything changes.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ocoboost.cascade.answers import Answers
from ocoboost.data import tables
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import BrokenModelError, LostStageError
from ocoboost.online.stages import Head, Passage, Stage, cut, forget_learners, join
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered, State


class Line(Protocol):
    """Stages one behind the other. Passages leave in the order in which they were sent."""

    @property
    def most(self) -> int:
        """How many passages should be on their way, at most."""

    def send(self, passage: Passage) -> None:
        """Let a block pass through all stages; waits if the first one has enough to do."""

    def receive(self) -> Passage:
        """The oldest passage on its way, once it has passed all stages."""

    def stages(self) -> list[Stage]:
        """The stages as they are now; nothing must be on its way."""

    def close(self) -> None:
        """Give up all stages."""


class LocalLine:
    """Stages in this process, one after another: what every other line must agree with."""

    most = 1

    def __init__(self, stages: list[Stage]) -> None:
        self._stages = stages
        self._done: deque[Passage] = deque()

    def send(self, passage: Passage) -> None:
        for stage in self._stages:
            passage = stage.take(pickle.loads(pickle.dumps(passage)))
        self._done.append(passage)

    def receive(self) -> Passage:
        return self._done.popleft()

    def stages(self) -> list[Stage]:
        return self._stages

    def close(self) -> None:
        self._stages = []


class _Sent(NamedTuple):
    first_row: int  # in the call
    rows: Sequence[Row]
    before: Answers | None  # to the first row, without the label that it brings
    answering: bool


class Staged:
    """A local model in stages: its parameters, labels and columns are here, its learners in the line."""

    def __init__(
        self,
        model: StreamClassifier,
        make_line: Callable[[list[Stage], list[Stage], State], Line],
        n_stages: int,
        block_rows: int = 256,
    ) -> None:
        self.model = model
        self.block_rows = block_rows
        self._make_line = make_line
        self.n_stages = n_stages
        self._line: Line | None = None
        self._head: Head | None = None
        self._sent: deque[_Sent] = deque()  # on their way

    # -- learning ------------------------------------------------------------------------------------------------------

    def run(self, blocks: Iterable[Sequence[Any]], *, answering: bool) -> Iterator[Answered]:
        """Learn tables (X, y) or (X, y, w) in turn; yields what was said to their rows before, if that is wanted.

        Each table is checked whole before any of its rows is learned. Rows on their way are learned even if nobody
        takes their answers.
        """
        self.wait()
        n_before = 0
        for X, *told in blocks:
            try:
                rows, labels, weights, plan = self.model.planned(X, *told)
            except BaseException:
                self.wait()  # whatever is wrong with this table, those before it are learned
                raise
            if len(rows) == 0:
                continue
            head, line = self._begun()
            state = head.state
            for first, last in state.cuts(len(rows), plan, self.block_rows):
                before = None
                if first in plan.labels or first in plan.additions:
                    yield from self._arrivals(0)
                    if answering and first in plan.labels and len(state.labels):
                        before = self._said(rows[first : first + 1])
                    elif answering and first in plan.labels:
                        before = Answers.none(1)
                    state.add(plan, first)
                own, indices = rows[first:last], state.labels.indices(labels[first:last])
                with _Breaking(self, by_interrupt=True):  # counted already, and perhaps not on its way
                    passage = head.depart(own, indices, weights[first:last], answering=answering)
                    self._sent.append(_Sent(n_before + first, own, before, answering))
                    line.send(passage)
                yield from self._arrivals(line.most - 1)
            n_before += len(rows)
        yield from self._arrivals(0)

    def learn(self, blocks: Iterable[Sequence[Any]]) -> None:
        """Learn tables (X, y) or (X, y, w) in turn."""
        for _ in self.run(blocks, answering=False):
            pass

    def wait(self) -> None:
        """Let everything that is on its way arrive."""
        for _ in self._arrivals(0):
            pass

    def _begun(self) -> tuple[Head, Line]:
        """The head and the line, made now if they are not there yet."""
        state = self.model.state_
        if self._head is None or self._line is None or self._head.state is not state:
            assert state is not None
            stages, fresh = cut(state.engine, self.n_stages), self.model.fresh_state(state.seed)
            self._line = self._make_line(stages, cut(fresh.engine, self.n_stages), state)
            if state.n_rows > 0:
                forget_learners(state, fresh)
            self._head = Head(state)
        return self._head, self._line

    def _arrivals(self, n_left: int) -> Iterator[Answered]:
        """What was said to the oldest blocks on their way, until so many are left."""
        while len(self._sent) > n_left:
            assert self._line is not None
            assert self._head is not None
            with _Breaking(self):
                passage = self._line.receive()
                sent = self._sent.popleft()
                answers = self._head.arrive(passage, sent.rows)
            if sent.answering:
                yield self._head.state.answered_with(sent.first_row, answers, sent.before)

    @property
    def n_certain(self) -> int:
        """Rows that all stages have learned, and that have been answered."""
        return self.model.n_rows_ - sum(len(sent.rows) for sent in self._sent)

    # -- predicting ----------------------------------------------------------------------------------------------------

    def answer(self, X: Any) -> Answered:
        """What is said to a table, when all rows so far are learned; nothing is learned."""
        self.wait()
        rows, state = self.model.checked(X)
        if self.model.state_ is None or len(state.labels) == 0:
            return self.model.answer_many(X)
        self._begun()
        return state.answered_with(0, self._said(rows))

    def _said(self, rows: Sequence[Row]) -> Answers:
        """What is said to rows that were checked, when nothing is on its way."""
        head, line = self._begun()
        said: list[Answers] = []
        asked: deque[Sequence[Row]] = deque()

        def take(n_left: int) -> None:
            while len(asked) > n_left:
                said.append(head.arrive(line.receive(), asked.popleft()))

        with _Breaking(self, by_interrupt=True):
            for first in range(0, max(1, len(rows)), self.block_rows):
                asked.append(rows[first : first + self.block_rows])
                line.send(head.ask(asked[-1]))
                take(line.most - 1)
            take(0)
        return Answers(*_joined(said))

    def labels(self, X: Any) -> Any:
        """The labels predicted for a table, in kind."""
        return tables.make_labels(X, list(self.answer(X).labels))

    def probabilities(self, X: Any) -> Any:
        """The probabilities of all labels for a table, in kind."""
        answered = self.answer(X)
        return tables.make_matrix(X, answered.classes, answered.probabilities)

    # -- the other world -----------------------------------------------------------------------------------------------

    def to_local(self) -> StreamClassifier:
        """A copy of the model with all its learners, without stages."""
        self.wait()
        if self.model.state_ is not None and self.model.state_.broken:
            raise BrokenModelError(f"{type(self.model).__name__}: {self.model.state_.broken}; load an earlier model.")
        local: StreamClassifier = self.model.clone()
        if self._head is not None and self._line is not None:
            local.state_ = join(self._head.state, self._line.stages())
        elif self.model.state_ is not None:
            local.state_ = pickle.loads(pickle.dumps(self.model.state_))
        return local

    def close(self) -> None:
        """Give up the stages, and what they have learned."""
        if self._line is not None:
            self._line.close()
            self._line = None


class _Breaking:
    """A context in which a failure leaves the model unable to learn: a stage may have learned what others have not."""

    def __init__(self, staged: Staged, *, by_interrupt: bool = False) -> None:
        self._staged = staged
        self._causes = BaseException if by_interrupt else Exception  # else what is on its way arrives later

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        state = self._staged.model.state_
        if state is not None and isinstance(error, self._causes):
            n_certain = self._staged.n_certain
            state.broken = f"learning was interrupted at row {n_certain}"
            if isinstance(error, LostStageError):
                error.row = n_certain
            self._staged._sent.clear()


def _joined(said: list[Answers]) -> Iterator[Any]:
    """The arrays of several answers, one behind the other."""
    for arrays in zip(*said, strict=True):
        yield None if arrays[0] is None else np.concatenate(arrays)


def predictions(answered: Iterable[Answered]) -> list[Label | None]:
    """The labels of all rows."""
    return [label for block in answered for label in block.labels]
