"""Draws as pure functions of where they happen.

A draw is Philox4x32-10 (Salmon et al., 2011) evaluated at a counter: the key is the seed, the counter is
(row, learner, purpose). There is no generator state, so no order of evaluation, no cut of the stream into blocks,
no number of threads and no restart can change a draw.
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel

# Purposes keep draws apart that happen at the same row and learner.
RELABEL = 0  # which label (or whether the true one) a learner is taught
PREDICT = 1  # the booster's sampled prediction
LEARNER_SEED = 2  # seeds of cloned learners
FEATURES = 3  # which columns (in place of rows) a learner sees
MONDRIAN = 4  # when and where a Mondrian tree is cut; plus multiples of 8, for several draws per row
MEMBER_SEED = 5  # seeds of the members of a mixture
POTENTIAL = (
    6  # Monte Carlo potentials, keyed by their arguments in place of rows and learners; plus 8 times one of them
)
TIES = 7  # which of several best labels wins, where the published code draws one
VOTE = 8  # the label that a learner with random votes says
CONSTANTS = 15  # the published code's weight of each learner
# The purposes above may have multiples of 8 added, so those of the batch boosters start far away.
BIN_ROWS = 1 << 20  # rows used to find the thresholds of bins
HELD_OUT = BIN_ROWS + 1  # rows held out for validation
DRAWN_ROWS = BIN_ROWS + 2  # which row is the n-th drawn (in place of rows) for a stage
DRAWN_LABELS = BIN_ROWS + 3  # and the label it is given
ACT = BIN_ROWS + 4  # the label that is played, by the number of plays (in place of rows)
ASK = BIN_ROWS + 5  # whether a label is asked for, by the number of rows that it was considered for
FOLDS = BIN_ROWS + 6  # the chain that never sees a row
STAGE_ROWS = BIN_ROWS + 7  # which rows a stage is taught
TREE_SEED = BIN_ROWS + 8  # seeds of random trees
CATEGORY_ORDER = BIN_ROWS + 9  # which rows come before a row when a category's labels are counted

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)
_DROP_11 = np.uint64(11)
_ULP = 2.0**-53


@kernel
def philox(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Ten rounds of Philox4x32 on four counter words and two key words, all 32-bit values held in uint64."""
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * c0
        product_1 = _MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (
            (product_1 >> _SHIFT) ^ c1 ^ k0,
            product_1 & _MASK,
            (product_0 >> _SHIFT) ^ c3 ^ k1,
            product_0 & _MASK,
        )
        k0 = (k0 + _WEYL_0) & _MASK
        k1 = (k1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


@kernel
def uniform(seed: np.uint64, purpose: int, row: int, learner: int) -> float:
    """One number in [0, 1) for this seed (a uint64), purpose, row and learner."""
    row_bits = np.uint64(row)
    high, low, _, _ = philox(
        row_bits & _MASK,
        row_bits >> _SHIFT,
        np.uint64(learner),
        np.uint64(purpose),
        seed & _MASK,
        seed >> _SHIFT,
    )
    return np.float64(((high << _SHIFT) | low) >> _DROP_11) * _ULP


@kernel
def uniforms(seed: np.uint64, purpose: int, first_row: int, learner: int, out: FloatArray) -> None:
    """Fill ``out`` with the draws of consecutive rows."""
    for offset in range(out.size):
        out[offset] = uniform(seed, purpose, first_row + offset, learner)


@kernel
def draw_label(distribution: FloatArray, u: float) -> int:
    """The label at which the cumulative ``distribution`` first exceeds ``u``; never one of probability zero."""
    cumulated = 0.0
    last = 0
    for label in range(distribution.size):
        if distribution[label] > 0.0:
            cumulated += distribution[label]
            last = label
            if u < cumulated:
                return label
    return last  # rounding left the sum a hair below u


def derive_seed(seed: int, learner: int) -> int:
    """A 31-bit seed for one cloned learner, in the range every host library accepts.

    >>> derive_seed(7, 0) != derive_seed(7, 1)
    True
    """
    return int(uniform(np.uint64(seed), LEARNER_SEED, 0, learner) * 2.0**31)


def member_seed(seed: int, member: int) -> int:
    """A seed for one member of a mixture.

    >>> member_seed(7, 0) != member_seed(7, 1)
    True
    """
    return int(uniform(np.uint64(seed), MEMBER_SEED, 0, member) * 2.0**53)


def tree_seed(seed: int, tree: int) -> np.uint64:
    """A seed for one random tree.

    >>> bool(tree_seed(7, 0) != tree_seed(7, 1))
    True
    """
    return np.uint64(uniform(np.uint64(seed), TREE_SEED, 0, tree) * 2.0**53)


def fresh_seed() -> int:
    """A seed from the operating system, for users who gave none."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def draw_rows(seed: int, purpose: int, first_row: int, learner: int, out: FloatArray) -> None:
    """``uniforms`` for callers that hold the seed as a Python integer."""
    uniforms(np.uint64(seed), purpose, first_row, learner, out)
