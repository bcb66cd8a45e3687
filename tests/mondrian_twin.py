"""A slow Mondrian tree, written from the two papers with dicts and recursion: the kernels' twin.

With ``counts_first`` a node's loss is taken after the row is counted in its total, which is River's habit; so the twin
can be held against River's trees, and the kernels against the twin.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.randomness import MONDRIAN, uniform


class Draws:
    """The kernels' draws in the order of their use, also under the names by which River asks its generator."""

    def __init__(self, seed, learner=0):
        self.seed, self.learner = np.uint64(seed), learner
        self.row, self.n_draws = -1, 0

    def next_row(self):
        self.row, self.n_draws = self.row + 1, 0

    def random(self):
        self.n_draws += 1
        return uniform(self.seed, MONDRIAN + 8 * (self.n_draws - 1), self.row, self.learner)

    def choices(self, population, weights, k=1):
        target = self.random() * sum(weights)
        cumulated = 0.0
        for item, weight in zip(population, weights, strict=True):
            cumulated += weight
            if weight > 0.0 and target < cumulated:
                return [item]
        raise AssertionError

    def uniform(self, low, high):
        draw = self.random()
        return low * (1.0 - draw) + high * draw


class Node:
    def __init__(self, time, parent):
        self.time, self.parent = time, parent
        self.low, self.high, self.counts = {}, {}, {}
        self.gain = self.tree_gain = 0.0
        self.test = None  # (feature, threshold, left, right)


class Tree:
    def __init__(self, draws, *, step=1.0, dirichlet=0.5, smoothing=0.0, split_pure=False, aggregate=True, **options):
        self.draws, self.step, self.dirichlet, self.smoothing = draws, step, dirichlet, smoothing
        self.split_pure, self.aggregate = split_pure, aggregate
        self.counts_first = options.get("counts_first", False)
        self.is_scaled = options.get("is_scaled", False)
        self.max_nodes = options.get("max_nodes", math.inf)
        self.root, self.n_nodes = Node(0.0, None), 1

    def shares(self, node, classes, *, added=0.0):
        """What a node predicts; leans on its parent if there is smoothing."""
        total = sum(node.counts.values()) + added
        if node.parent is None or self.smoothing == 0.0:
            prior, weight = dict.fromkeys(classes, self.dirichlet), self.dirichlet * len(classes)
        else:
            above = self.shares(node.parent, classes)
            prior, weight = {c: self.smoothing * above[c] for c in classes}, self.smoothing
        return {c: (node.counts.get(c, 0.0) + prior[c]) / (total + weight) for c in classes}

    def vote(self, x, classes, node=None):
        node = node or self.root
        here = self.shares(node, classes)
        if node.test is None:
            return here
        below = self.vote(x, classes, self.child(node, x))
        share = math.exp(node.gain - node.tree_gain) / 2.0 if self.aggregate else 0.0
        return {c: share * here[c] + (1.0 - share) * below[c] for c in classes}

    def child(self, node, x):
        feature, threshold, left, right = node.test
        if feature not in x:
            return right if sum(right.counts.values()) > sum(left.counts.values()) else left
        return left if x[feature] <= threshold else right

    def units(self, x):
        """One over each column's range, this row included."""
        root = self.root
        high = {f: max(value, x.get(f, value)) for f, value in root.high.items()}
        widths = {f: high[f] - min(value, x.get(f, value)) for f, value in root.low.items()}
        return {f: 1.0 / width if self.is_scaled and width > 0.0 else 1.0 for f, width in widths.items()}

    def learn(self, x, weights, classes):
        """``weights`` holds the taught labels only."""
        self.draws.next_row()
        units = self.units(x)
        shares = {}  # of the nodes on the path, from before this row: a child's prior
        node = self.root
        while True:
            outside = {
                f: max(node.low[f] - x[f], x[f] - node.high[f], 0.0) * units[f] for f in sorted(x) if f in node.low
            }
            known = {c for c, weight in node.counts.items() if weight > 0.0} | set(weights)
            cut_at = None
            may_cut = self.n_nodes + 2 <= self.max_nodes and (self.split_pure or len(known) > 1)
            if sum(outside.values()) > 0.0 and may_cut:
                cut_at = node.time - math.log1p(-self.draws.random()) / sum(outside.values())
                if node.test is not None and cut_at >= node.test[2].time:
                    cut_at = None
            shares[node] = self.path_shares(node, classes, shares, sum(weights.values()))
            leaf = self.cut(node, x, outside, cut_at) if cut_at is not None else None
            if node.counts:
                node.gain += self.step * sum(weight * math.log(shares[node][c]) for c, weight in weights.items())
            self.add(node, x, weights)
            if leaf is not None:
                self.add(leaf, x, weights)
                node = leaf
            if node.test is None:
                break
            node = self.child(node, x)
        node.tree_gain = node.gain
        while node.parent is not None:
            node = node.parent
            below = node.test[2].tree_gain + node.test[3].tree_gain
            largest = max(node.gain, below)
            node.tree_gain = largest + math.log(0.5 * (math.exp(node.gain - largest) + math.exp(below - largest)))

    def path_shares(self, node, classes, shares, taught):
        added = taught if self.counts_first else 0.0
        if node.parent is None or self.smoothing == 0.0:
            return self.shares(node, classes, added=added)
        total = sum(node.counts.values()) + added + self.smoothing
        above = shares[node.parent]
        return {c: (node.counts.get(c, 0.0) + self.smoothing * above[c]) / total for c in classes}

    def cut(self, node, x, outside, time):
        feature = self.draws.choices(list(outside), list(outside.values()))[0]
        goes_right = x[feature] > node.high[feature]
        threshold = self.draws.uniform(
            *((node.high[feature], x[feature]) if goes_right else (x[feature], node.low[feature]))
        )
        moved, leaf = Node(time, node), Node(time, node)
        moved.low, moved.high, moved.counts = dict(node.low), dict(node.high), dict(node.counts)
        moved.gain, moved.tree_gain, moved.test = node.gain, node.tree_gain, node.test
        if moved.test is not None:
            moved.test[2].parent = moved.test[3].parent = moved
        node.test = (feature, threshold, moved, leaf) if goes_right else (feature, threshold, leaf, moved)
        self.n_nodes += 2
        return leaf

    @staticmethod
    def add(node, x, weights):
        for feature, value in x.items():
            node.low[feature] = min(node.low.get(feature, value), value)
            node.high[feature] = max(node.high.get(feature, value), value)
        for c, weight in weights.items():
            node.counts[c] = node.counts.get(c, 0.0) + weight
