"""Semicontinuous columns that are modelled by two: which atom a cell is, and the real otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_subanneal.columns.atom_split import AtomSplit
from sklearn_subanneal.columns.semicontinuous import mixed_moments

CELLS = np.array([0.0, 5.0, 0.0, 1.5, np.nan, 2.5])


@pytest.fixture
def split():
    return AtomSplit.of("x", CELLS, {"atoms": [0.0, 5.0]})


def test_separated_and_joined(split):
    codes, rest = split.separated(CELLS)
    assert_array_equal(codes, [1, 2, 1, 0, -1, 0])
    assert_array_equal(rest, [np.nan, np.nan, np.nan, 1.5, np.nan, 2.5])
    assert_array_equal(split.join([codes, rest], np.zeros(6, bool), None), CELLS)
    # Of a cell that a model has made, the real part counts only if the cell is no atom.
    assert_array_equal(split.join([codes, np.full(6, 9.0)], np.ones(6, bool), None), [0.0, 5.0, 0.0, 9.0, np.nan, 9.0])


def test_types_of_the_parts(split):
    assert [(part.name, part.kind) for part in split.parts] == [("x (atom)", "categorical"), ("x (rest)", "real")]
    assert split.parts[0].categories.tolist() == ["rest", 0.0, 5.0]
    one = AtomSplit.of("x", CELLS, {"atoms": 0.0})
    assert [part.kind for part in one.parts] == ["boolean", "real"]
    assert one.separated(CELLS)[0].dtype == np.int8


def test_a_column_of_atoms_alone_is_not_split():
    assert AtomSplit.of("x", np.array([0.0, 0.0, 1.5, np.nan]), {"atoms": 0.0}) is None


def test_mean_and_deviation_of_a_mixture_of_atoms_and_rest(split):
    shares = np.array([[0.5, 0.3, 0.2], [0.05, 0.92, 0.03], [0.08, 0.85, 0.07]])
    mean, spread = np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 0.5])
    asked = []

    def predict(part, known):
        asked.append((part, {other: cells.tolist() for other, cells in known.items()}))
        return (shares, None) if part == 0 else (mean, spread)

    (codes, values), (deviation, _) = split.completed([np.zeros(3), np.zeros(3)], [np.zeros(3), np.zeros(3)], predict)
    assert asked == [(0, {}), (1, {0: [0, 0, 0]})]
    # The second row is the atom 0 almost surely.
    assert_array_equal(codes, [0, 1, 0])
    wanted = shares[:, 0] * mean + shares[:, 2] * 5.0
    np.testing.assert_allclose(values, wanted)
    second = shares[:, 0] * (mean**2 + spread**2) + shares[:, 2] * 25.0
    np.testing.assert_allclose(deviation, np.sqrt(second - wanted**2))


@pytest.mark.parametrize("offset, unit", [(1.7e9, 1.0), (0.0, 1e200), (0.0, 1e-200)])
def test_the_deviation_of_atoms_and_rest_has_the_unit_of_the_column_and_no_offset(offset, unit):
    shares, mean, spread = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]]), np.array([2.0, 3.0]), np.array([1.0, 0.5])
    first, deviation = mixed_moments(shares, offset + unit * np.array([0.0, 5.0]), offset + unit * mean, unit * spread)
    np.testing.assert_allclose(first, offset + unit * np.array([2.0, 3.0]))
    np.testing.assert_allclose(deviation / unit, [np.sqrt(3.5), 0.5], rtol=1e-6)


def test_hyperparameters_are_assigned_to_the_parts(split):
    assert split.assigned({"alpha": 2.0, "mu": 1.0, "atoms": [0.0, 5.0]}) == {
        "x (atom)": {"alpha": 2.0},
        "x (rest)": {"mu": 1.0},
    }
    one = AtomSplit.of("x", CELLS, {"atoms": 0.0})
    assert one.assigned({"alpha": 2.0})["x (atom)"] == {"alpha": 2.0, "beta": 2.0}
    with pytest.raises(ValueError, match=r"gives \['shape'\] to the semicontinuous columns"):
        split.assigned({"shape": 1.0})
