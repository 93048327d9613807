"""Scores of new rows are calibrated by training rows that were left out of other models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from support.heavy_tailed import heavy_tailed

from sklearn_subanneal import CrossCat, CrossCatDetector
from sklearn_subanneal.annealing import StratifiedSubsampling, SubsampleAnneal
from sklearn_subanneal.estimators import _left_out_scores
from sklearn_subanneal.estimators._left_out_scores import ScoreCalibration

BRIEF = CrossCat(schedule=SubsampleAnneal(passes=10), n_chains=2, n_draws=5, max_sweeps=5)


@pytest.fixture
def fits(monkeypatch):
    """The tables and parameters of the models of other rows."""
    found, inner = [], _left_out_scores._judged_part

    def noted(detector, X, of_rows, kept, seed):
        out = inner(detector, X, of_rows, kept, seed)
        found.append((np.flatnonzero(~kept), seed, out))
        return out

    monkeypatch.setattr(_left_out_scores, "_judged_part", noted)
    return found


@pytest.mark.slow
def test_p_values_of_small_tables_are_calibrated():
    share = {}
    for n_calibration in (0, 400):
        found = []
        for seed in range(8):
            detector = CrossCatDetector(BRIEF, n_calibration=n_calibration, random_state=seed)
            found.append(detector.fit(heavy_tailed(100, seed)).p_values(heavy_tailed(100, 500 + seed)))
        share[n_calibration] = np.mean(np.concatenate(found) <= 0.1)
    assert share[0] > 0.14
    assert share[400] == pytest.approx(0.1, abs=0.03)


def test_the_same_share_of_new_rows_are_outliers():
    detector = CrossCatDetector(BRIEF, random_state=0).fit(heavy_tailed(100, 0))
    new = heavy_tailed(1000, 1)
    odd = detector.predict(new) == -1
    np.testing.assert_array_equal(odd, detector.decision_function(new) < 0.0)
    # The p-value of the outlier that is nearest to the others.
    assert detector.p_values(new)[odd].max() == pytest.approx(0.1, abs=0.03)
    training = CrossCatDetector(BRIEF, n_calibration=0, random_state=0).fit(heavy_tailed(100, 0))
    np.testing.assert_array_equal(training.training_scores_, detector.training_scores_)
    assert (training.predict(new) == -1).sum() > odd.sum()


@pytest.mark.parametrize(
    ("n_rows", "n_calibration", "n_models"),
    [(40, 400, 4), (100, 60, 3), (100, 1, 1), (100, 0, 0), (19, 400, 0)],
)
def test_so_many_models_are_made(fits, n_rows, n_calibration, n_models):
    CrossCatDetector(BRIEF, n_calibration=n_calibration, random_state=0).fit(heavy_tailed(n_rows, 0))
    assert len(fits) == n_models
    rows = np.concatenate([part for part, _, _ in fits]) if fits else np.empty(0)
    assert len(np.unique(rows)) == len(rows) >= min(n_calibration, n_rows) * (n_models > 0)
    assert len({seed for _, seed, _ in fits}) == n_models


def test_rows_that_are_left_out_have_no_part_in_their_models(monkeypatch):
    seen = []
    fit = CrossCatDetector.fit

    def noted(self, X, *args, **kwargs):
        seen.append((len(X), self.n_calibration, kwargs))
        return fit(self, X, *args, **kwargs)

    monkeypatch.setattr(CrossCatDetector, "fit", noted)
    table = pd.DataFrame(heavy_tailed(42, 0), index=np.arange(42) + 7).add_prefix("x")
    weights = np.r_[np.zeros(2, int), np.full(40, 3)]
    CrossCatDetector(BRIEF, random_state=0).fit(table, sample_weight=weights)
    assert [n for n, _, _ in seen] == [42, 30, 30, 30, 30]
    for _, n_calibration, kwargs in seen[1:]:
        assert n_calibration == 0
        np.testing.assert_array_equal(kwargs["sample_weight"], np.full(30, 3))


def test_equal_rows_are_left_out_together(fits):
    """A table with rows repeated gives the scores of one with their weights, and no row is judged with its copies."""
    table, weights = heavy_tailed(40, 0), np.r_[np.full(20, 1), np.full(20, 3)]
    weighted = CrossCatDetector(BRIEF, random_state=0).fit(table, sample_weight=weights)
    repeated = CrossCatDetector(BRIEF, random_state=0).fit(np.repeat(table, weights, axis=0))
    new = heavy_tailed(30, 1)
    np.testing.assert_array_equal(weighted.score_samples(new), repeated.score_samples(new))
    pd.testing.assert_frame_equal(pd.DataFrame(weighted.drift(new)), pd.DataFrame(repeated.drift(new)))
    assert sum(len(out.ranks) for *_, out in fits[:4]) == sum(len(out.ranks) for *_, out in fits[4:]) == 80


def test_strata_of_the_estimator_are_those_of_the_rows():
    labels = np.arange(60) % 3
    model = CrossCat(subsampling=StratifiedSubsampling(labels=labels), n_chains=2, n_draws=3, max_sweeps=5)
    with_labels = CrossCatDetector(model, random_state=0).fit(heavy_tailed(60, 0))
    plain = CrossCat(n_chains=2, n_draws=3, max_sweeps=5)
    given = CrossCatDetector(plain, random_state=0).fit(heavy_tailed(60, 0), strata=labels)
    np.testing.assert_array_equal(with_labels.training_scores_, given.training_scores_)
    np.testing.assert_array_equal(
        with_labels.score_samples(heavy_tailed(9, 1)), given.score_samples(heavy_tailed(9, 1))
    )


def test_a_part_that_the_others_cannot_judge_is_left_alone(fits):
    """The column is positive but for one cell, without which it is modelled by its logarithm, as it was declared."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.lognormal(3.0, 1.5, size=200), rng.normal(size=200)])
    table[60, 0] = 0.0
    declared = clone(BRIEF).set_params(feature_types=["skewed", "real"])
    detector = CrossCatDetector(declared, n_calibration=0, random_state=0).fit(np.delete(table, 60, axis=0))
    with pytest.raises(ValueError, match="is modelled on a logarithmic scale"):
        detector.score_samples(table)
    detector = CrossCatDetector(declared, random_state=0).fit(table)
    is_judged = [out is not None for *_, out in fits]
    assert sum(is_judged) == 3
    assert [len(out.ranks) for *_, out in fits if out is not None] == [50, 50, 50]
    assert 60 in fits[is_judged.index(False)][0]
    assert np.isfinite(detector.score_samples(table + 0.1)).all()


def test_a_time_limit_is_divided(monkeypatch):
    limits, fit = [], CrossCat.fit

    def noted(self, *args, **kwargs):
        limits.append((self.n_chains, self.time_limit))
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(CrossCat, "fit", noted)
    CrossCatDetector(CrossCat(time_limit=0.08, n_chains=2), n_calibration=20, random_state=0).fit(heavy_tailed(40, 0))
    assert limits == [(2, 0.08), (1, 0.02), (1, 0.02)]


def test_equal_quantiles_are_joined():
    rng = np.random.default_rng(0)
    training = np.sort(rng.normal(size=400))
    calibration = ScoreCalibration.of(rng.normal(-0.5, 1.5, size=300), training)
    x = np.linspace(-9.0, 9.0, 400)
    mapped = calibration(x)
    assert (np.diff(mapped) > 0.0).all()
    inside = np.abs(x) < 2.0
    np.testing.assert_allclose(mapped[inside], (x[inside] + 0.5) / 1.5, atol=0.35)
    # Beyond the ends, differences stay.
    np.testing.assert_allclose(np.diff(mapped[x < -7.0]), np.diff(x[x < -7.0]))


def test_scores_of_no_rows_change_nothing():
    x = np.linspace(-1.0, 1.0, 5)
    np.testing.assert_array_equal(ScoreCalibration.of(np.empty(0), x)(x), x)


def test_the_same_rows_again_have_their_ranks(fits):
    """A row that is odder than all others keeps its distance from them."""
    table = heavy_tailed(60, 0)
    table[0] = 50.0
    CrossCatDetector(BRIEF, random_state=0).fit(table)
    for part, _, (ranks, lower, _) in fits:
        assert ((0.0 <= ranks) & (ranks <= 1.0)).all() and (lower <= 0.0).all()
        assert (ranks[lower < 0.0] == 0.0).all()
        if 0 in part:
            assert ranks[0] == 0.0 and lower[0] < -5.0
