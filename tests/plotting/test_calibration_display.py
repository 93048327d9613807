"""The display of ranks: curves, band, and the names of the statistics that leave it."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.diagnostics import CalibrationResult
from sklearn_subanneal.plotting import CalibrationDisplay

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def without_windows():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def result():
    ranks = np.random.default_rng(0).integers(20, size=(400, 3))
    ranks[:, 1] //= 2
    return CalibrationResult(("a", "b", "c"), ranks, 19)


def test_curves_are_differences_of_distribution_functions(result):
    display = CalibrationDisplay.from_result(result)
    assert display.differences.shape == (3, 19)
    assert display.differences[1, 9] == pytest.approx(1.0 - 0.5)
    assert display.differences[0, 4] == pytest.approx(np.mean(result.ranks[:, 0] <= 4) - 0.25)
    assert (display.lower < 0.0).all() and (display.upper > 0.0).all()


def test_those_that_leave_the_band_are_named(result):
    display = CalibrationDisplay.from_result(result)
    assert display.outside().tolist() == [False, True, False]
    assert len(display.lines_) == 3
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["b"]


def test_the_band_is_that_of_all_statistics(result):
    one = CalibrationDisplay.from_result(CalibrationResult(("a",), result.ranks[:, :1], 19))
    assert (CalibrationDisplay.from_result(result).upper >= one.upper).all()
    assert one.ax_.get_legend() is None
    wide = CalibrationDisplay.from_result(result, level=0.999, ax=one.ax_)
    assert wide.ax_ is one.ax_ and (wide.upper > one.upper).any()


def test_the_level_is_checked(result):
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 95"):
        CalibrationDisplay.from_result(result, level=95)
