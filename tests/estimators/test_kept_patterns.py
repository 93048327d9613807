"""Samples whose cells are missing as in the training table: patterns, clusters, evidence, containers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import softmax

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.mixtures.ensemble import DistinctRows
from sklearn_subanneal.tables.missing_patterns import MissingPatterns
from sklearn_subanneal.views import pattern_donors
from sklearn_subanneal.views.pattern_donors import _drawn, assignments, donated_patterns
from sklearn_subanneal.views.views_predictive import ensemble_of_views

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SHORT = {"n_chains": 2, "n_draws": 3, "max_sweeps": 5, "random_state": 0}


def survey(n_rows=300, seed=0):
    """Two groups; income and date are asked together, and mostly of one group alone."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n_rows)
    table = pd.DataFrame(
        {
            "income": 5.0 * z + rng.normal(size=n_rows),
            "job": np.array(["clerk", "smith"])[z],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D"),
            "age": 3.0 * z + rng.normal(size=n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    skipped = rng.random(n_rows) < 0.1 + 0.5 * z
    table.loc[skipped, "income"] = np.nan
    table.loc[skipped, "since"] = pd.NaT
    table.loc[rng.random(n_rows) < 0.3, "noise"] = np.nan
    return table


@pytest.fixture(scope="module", params=[CrossCat(**SHORT), SubsampleAnnealedDPMM(**SHORT)], ids=["views", "mixture"])
def model(request):
    return request.param.fit(survey())


def test_patterns_are_those_of_training_rows(model):
    table, n_samples = survey(), 4000
    sampled = model.sample(n_samples, random_state=0, keep_missing=True)
    gaps = sampled.isna()
    assert set(map(tuple, gaps.to_numpy())) <= set(map(tuple, table.isna().to_numpy()))
    assert (gaps["income"] == gaps["since"]).all()
    assert list(sampled.dtypes) == list(model.sample(1, random_state=0).dtypes)
    # Four standard errors of a share, and the shares of clusters in the draws, which differ from those of the table.
    np.testing.assert_allclose(gaps.mean(), table.isna().mean(), atol=4 * 0.5 / np.sqrt(n_samples) + 0.02)
    of_jobs, wanted = (own["income"].isna().groupby(own["job"]).mean() for own in (sampled, table))
    np.testing.assert_allclose(of_jobs, wanted, atol=0.08)


def test_values_are_those_of_samples_without_gaps(model):
    with_gaps = model.sample(200, random_state=1, keep_missing=True)
    without = model.sample(200, random_state=1)
    pd.testing.assert_frame_equal(with_gaps, without.where(~with_gaps.isna()).astype(with_gaps.dtypes))
    assert not without.isna().any().any()
    again = model.sample(200, random_state=1, keep_missing=True)
    pd.testing.assert_frame_equal(with_gaps, again)


def test_evidence_is_kept_and_donors_have_it():
    model = CrossCat(**SHORT).fit(survey())
    smiths = model.sample(2000, given={"job": "smith"}, random_state=0, keep_missing=True)
    wanted = survey().query("job == 'smith'").isna().mean()
    assert (smiths["job"] == "smith").all()
    np.testing.assert_allclose(smiths.isna().mean(), wanted, atol=0.08)
    # Who has told the income has told the date.
    earners = model.sample(300, given={"income": 5.0}, random_state=0, keep_missing=True)
    assert (earners["income"] == 5.0).all() and not earners["since"].isna().any()
    assert earners["noise"].isna().any()


def test_columns_with_an_indicator_follow_it():
    model = CrossCat(missing_indicator=["income"], **SHORT).fit(survey())
    plain, kept = (model.sample(500, random_state=0, keep_missing=keep) for keep in (False, True))
    pd.testing.assert_series_equal(plain["income"], kept["income"])
    assert plain["income"].isna().any() and not plain["noise"].isna().any() and kept["noise"].isna().any()


@pytest.mark.parametrize(
    "model",
    [CrossCat(**SHORT), pytest.param(TreeGuidedNRMM(**SHORT), marks=pytest.mark.slow)],
    ids=["views", "trees"],
)
def test_arrays_and_weights(model):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(40, 3)), np.arange(40) % 3
    X[weights == 0, 1] = X[::4, 2] = np.nan
    weighted = model.fit(X, sample_weight=weights).sample(100, random_state=0, keep_missing=True)
    # Rows of weight 0 are no donors.
    assert not np.isnan(weighted[:, :2]).any() and np.isnan(weighted[:, 2]).any()
    rows = np.repeat(np.arange(40), weights)
    np.testing.assert_array_equal(model.fit(X[rows]).sample(100, random_state=0, keep_missing=True), weighted)
    complete = model.fit(rng.normal(size=(40, 3)))
    np.testing.assert_array_equal(
        complete.sample(20, random_state=0, keep_missing=True), complete.sample(20, random_state=0)
    )


def test_rows_that_are_inserted_later_are_donors():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[::2, 0] = np.nan
    model = TreeGuidedNRMM(**SHORT).fit(X[:30])
    assert not np.isnan(model.sample(100, random_state=0, keep_missing=True)[:, 1]).any()
    X[31::2, 1] = np.nan
    gaps = np.isnan(model.partial_fit(X[30:]).sample(400, random_state=0, keep_missing=True))
    # Of 60 rows, 30 miss the first cell and 15 others the second.
    np.testing.assert_allclose(gaps.mean(axis=0), [0.5, 0.25], atol=0.1)
    assert not gaps.all(axis=1).any()


def test_documents_have_no_missing_cells():
    model = SubsampleAnnealedDPMM(feature_types="bag-of-words", **SHORT)
    model.fit(np.random.default_rng(0).poisson(1.0, (20, 5)))
    with pytest.raises(ValueError, match="keep_missing=True does not suit documents"):
        model.sample(2, keep_missing=True)


def agree(found, log_weights):
    """Whether counts have these shares, where more than five of them are expected."""
    shares = softmax(log_weights)
    kept = shares * found.sum() > 5.0
    expected = shares[kept] / shares[kept].sum() * found[kept].sum()
    return kept.sum() == 1 or stats.chisquare(found[kept], expected).pvalue > 1e-4


# Rows that are equal, and rows that differ, each of which is there as often.
@pytest.mark.parametrize("points", [[[0.7, 1.2]], [[0.7, 1.2], [3.0, -1.0], [0.1, 0.2]]])
def test_assignments_have_their_probabilities_given_the_row(points):
    """By the weights of draws and clusters times the densities that they give to the row."""
    X = np.random.default_rng(0).normal(size=(30, 2)) + 2.0 * (np.arange(30) % 2)[:, None]
    model = CrossCat(covariance_type="diag", moves=[Gibbs()], **SHORT).fit(X)
    average, n = ensemble_of_views(model._models, model._flat_draws()), 20_000
    rows = list(np.tile(points, (n // len(points), 1)).T)
    point = DistinctRows.of(model._models, list(np.array(points[:1]).T))
    of_draws = np.zeros(len(average.products))
    for draw, own, clusters in assignments(average, rows, np.random.default_rng(1)):
        first = own % len(points) == 0
        of_draws[draw] = first.sum()
        for factor, numbers in zip(average.products[draw], clusters, strict=True):
            found = np.bincount(numbers[first], minlength=factor.n_clusters + 1)
            assert agree(found, factor.log_joint(point)[0])
    assert of_draws.min() > 5 and agree(of_draws, average.log_densities(point)[:, 0] + average.log_weights)


def test_donors_share_clusters_view_after_view():
    labels = [np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 1, 0, 0, 2])]
    everyone, rng = np.arange(6), np.random.default_rng(0)

    def found(clusters, candidates=everyone):
        columns = np.tile(np.array(clusters)[:, None], 200)
        return set(_drawn(labels, columns, candidates, rng).tolist())

    assert found([0, 1]) == {1, 2}
    assert found([0, 1], np.array([0, 2, 5])) == {2}
    # No row has both, or the cluster is a new one: the first view counts, or the second, or none.
    assert found([0, 2]) == {0, 1, 2}
    assert found([0, 3]) == {0, 1, 2}
    assert found([2, 0]) == {0, 3, 4}
    assert found([2, 3]) == set(range(6))


@pytest.mark.parametrize(("counts", "wanted"), [([1, 0, 4], {3, 4, 5}), ([4, 1, 1], {0, 1, 2}), ([2, 1, 2], {3, 4, 5})])
def test_the_view_with_the_most_missing_cells_comes_first(monkeypatch, counts, wanted):
    """Of two views that no training row suits together; the second has two columns."""
    average = SimpleNamespace(
        products=[[SimpleNamespace(members=[0]), SimpleNamespace(members=[1, 2])]],
        models=[SimpleNamespace(sources=[j]) for j in range(3)],
    )
    monkeypatch.setattr(pattern_donors, "assignments", lambda *_: [(0, np.arange(200), np.repeat([[0], [1]], 200, 1))])
    # Further columns, of which there are no models here, tell the donors by their patterns.
    cells = np.array([np.arange(6) < n for n in counts]).T
    bits = np.packbits(np.hstack([cells, np.eye(6, dtype=bool)]), axis=1)
    patterns = MissingPatterns(bits, 9, np.arange(6))
    labels = [np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]])]
    rows = [np.zeros(200)] * 9
    gaps = donated_patterns(average, labels, patterns, rows, None, np.random.default_rng(0))
    assert set(gaps[:, 3:].argmax(axis=1).tolist()) == wanted
