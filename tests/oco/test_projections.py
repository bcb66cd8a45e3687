from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import naive
from ocoboost.oco.projections import move_two_and_project, project_onto_simplex, project_row
from strategies import points

pytestmark = pytest.mark.kernels


def project(point: np.ndarray) -> np.ndarray:
    out = np.empty_like(point)
    project_row(point, out)
    return out


@given(points())
def test_projection_is_the_nearest_point_of_the_simplex(point):
    # Supports whose distances differ by less than rounding are one to the enumeration: points then differ by its root.
    np.testing.assert_allclose(project(point), naive.project(point), atol=1e-6)
    np.testing.assert_allclose(project(point), naive.project_sorted(point), atol=1e-12)


@given(points(max_size=40))
def test_projection_lands_in_the_simplex(point):
    projected = project(point)
    assert projected.min() >= 0.0
    assert abs(projected.sum() - 1.0) < 1e-12


@given(points())
def test_projection_is_idempotent_and_may_write_over_its_input(point):
    once = project(point)
    twice = once.copy()
    project_row(twice, twice)
    np.testing.assert_allclose(twice, once, atol=1e-15)


@given(points())
def test_projection_ignores_a_constant_and_the_order_of_labels(point):
    np.testing.assert_allclose(project(point + 3.0), project(point), atol=1e-12)
    np.testing.assert_allclose(project(point[::-1].copy())[::-1], project(point), atol=1e-12)


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_projection_survives_extreme_magnitudes(magnitude):
    point = np.array([1.0, -1.0, 0.5, 1.0]) * magnitude
    projected = project(point)
    assert abs(projected.sum() - 1.0) < 1e-12
    assert projected[0] == projected[3] == max(projected)


def test_projection_ends_when_rounding_makes_the_active_set_waver():
    rng = np.random.default_rng(0)
    base = rng.random((20_000, 7))
    near_ties = np.round(base, 2) + rng.integers(-2, 3, base.shape) * 2.0**-53
    out = np.empty_like(near_ties)
    project_onto_simplex(near_ties, out)
    np.testing.assert_allclose(out.sum(axis=1), 1.0, atol=1e-12)
    for row in range(0, len(out), 500):
        np.testing.assert_allclose(out[row], naive.project_sorted(near_ties[row]), atol=1e-12)


@given(points(max_size=6))
def test_two_coordinate_path_equals_projecting_the_moved_point(point):
    start = project(point)
    if start.size < 2:
        return
    for first_change, second_change in [(-0.3, 0.1), (-2.0, 0.2), (0.4, 0.1), (-0.1, 0.0), (0.0, 0.0)]:
        moved = start.copy()
        moved[0] += first_change
        moved[-1] += second_change
        fast = start.copy()
        move_two_and_project(fast, 0, first_change, start.size - 1, second_change)
        np.testing.assert_allclose(fast, naive.project_sorted(moved), atol=1e-12)
