"""Slabs: arrays are side by side, zero and free to be let go; chains in slabs have the bits of those that are not."""

import gc
import weakref

import numpy as np
import pytest

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.columns import slab
from sklearn_subanneal.columns._normal import NormalData
from sklearn_subanneal.columns.slab import LINE, N_BYTES, placed, side_by_side, zeros


def address(array):
    return array.ctypes.data


def test_arrays_are_side_by_side_and_do_not_overlap():
    with side_by_side(1000):
        made = [zeros((3, n), dtype) for n in range(1, 60) for dtype in (np.float64, np.float32, np.int32)]
    for i, array in enumerate(made):
        assert address(array) % LINE == 0 and not array.any()
        array[:] = i
    assert all((array == i).all() for i, array in enumerate(made))
    assert address(made[-1]) - address(made[0]) < sum(array.nbytes + LINE for array in made)


@pytest.mark.parametrize("n_columns, shape", [(10, (4,)), (1000, (N_BYTES // 8,))])
def test_few_columns_and_large_arrays_are_not_in_slabs(n_columns, shape):
    with side_by_side(n_columns):
        assert zeros(shape).base is None
    assert zeros((4,)).base is None


def test_empty_arrays_and_full_slabs():
    with side_by_side(1000):
        assert zeros((0, 5), np.int32).shape == (0, 5)
        made = [zeros((N_BYTES // 40,)) for _ in range(12)]
    for i, array in enumerate(made):
        array[:] = i
    assert all((array == i).all() for i, array in enumerate(made))


def test_slabs_within_slabs_are_the_same_one_and_errors_end_them():
    with side_by_side(1000):
        first = zeros((8,))
        with side_by_side(1000):
            second = zeros((8,))
        third = zeros((8,))
        assert address(third) - address(second) == address(second) - address(first) == LINE
    with pytest.raises(RuntimeError), side_by_side(1000):
        raise RuntimeError
    assert zeros((8,)).base is None


def test_memory_is_free_when_the_arrays_are():
    with side_by_side(1000):
        array = zeros((8,))
    block = weakref.ref(array.base)
    del array
    gc.collect()
    assert block() is None


def test_cells_that_are_placed_are_the_same():
    data = NormalData(np.arange(5.0))
    order = np.array([3, 1, 4, 0, 2])
    with side_by_side(1000):
        taken = data.take(order)
    np.testing.assert_array_equal(taken.array, data.take(order).array)
    assert taken.array.base is not None
    assert placed(order) is order


def test_chains_in_slabs_have_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, slab.FEWEST_COLUMNS + 6)) + 3.0 * (np.arange(120) % 20)[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    parameters = {"n_chains": 1, "n_draws": 2, "feature_types": "from_dtype", "max_sweeps": 0, "random_state": 0}
    found = SubsampleAnnealedDPMM(**parameters).fit(X)
    monkeypatch.setattr(slab, "FEWEST_COLUMNS", 10_000)
    wanted = SubsampleAnnealedDPMM(**parameters).fit(X)
    np.testing.assert_array_equal(found.log_joint_, wanted.log_joint_)
    np.testing.assert_array_equal(found.posterior_labels_, wanted.posterior_labels_)
    # More clusters than slots at the start: statistics have moved to larger memory.
    assert found.n_clusters_ > 16
