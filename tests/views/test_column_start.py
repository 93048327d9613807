"""Chains whose columns start in one view: what they do if no clusters are found there."""

import numpy as np
import pytest
from support.clocks import tick_at_each_look

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.views.column_moves import ColumnPacing

SETTINGS = {
    "schedule": SubsampleAnneal(10),
    "column_pacing": ColumnPacing(from_share=0.1),
    "column_start": "together",
    "covariance_type": "diag",
    "max_sweeps": 0,
    "n_chains": 1,
    "n_draws": 1,
    "random_state": 0,
}


def fitted(X):
    return CrossCat(feature_types=["real"] * X.shape[1], **SETTINGS).fit(X)


def test_rows_do_not_stay_alone_in_columns_without_clusters():
    """Three clusters in ten columns, and forty columns of noise: hyperparameters are learned from single rows first."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(3, size=600)
    X = rng.normal(size=(600, 50))
    X[:, :10] += 6.0 * clusters[:, None]
    model = fitted(X)
    trace = model.trace_
    resting = trace["n_assigned"] < 60
    # So the chain would be in the state that is meant.
    assert (trace["n_clusters"][resting] == trace["n_assigned"][resting]).all()
    assert trace["n_clusters"][-1] < 100  # else 600 in the view of the noise
    columns = model.column_labels_
    assert len(set(columns[:10])) == 1 and columns[0] not in columns[10:]
    labels = model.view_labels_[:, columns[0]]
    assert all(len(set(labels[clusters == k])) == 1 for k in range(3)) and len(set(labels)) == 3


@pytest.mark.parametrize("size", [2, 12])
def test_columns_stay_together_where_there_are_clusters(size):
    """Clusters of a few rows each, which are found while the columns rest."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(600 // size), size)
    X = rng.normal(scale=20.0, size=(len(clusters), 12))[clusters] + rng.normal(size=(600, 12))
    model = fitted(X[rng.permutation(600)])
    assert model.n_views_ == 1
    assert model.trace_["n_views"].max() <= (12 if size == 2 else 2)


@pytest.mark.parametrize("rest_above", [100, 2000])
def test_columns_part_before_they_rest(rest_above):
    """In a large table a tenth of the rows is more than those with which columns move."""
    X = np.random.default_rng(0).normal(size=(600, 50))
    pacing = ColumnPacing(rest_above, from_share=0.5)
    trace = CrossCat(feature_types=["real"] * 50, **SETTINGS | {"column_pacing": pacing}).fit(X).trace_
    alone = trace["n_clusters"] == trace["n_assigned"]
    first = min(0.5 * rest_above, 300)
    assert alone[(trace["n_assigned"] > 8) & (trace["n_assigned"] < first)].all()
    assert not alone[trace["n_assigned"] >= first].any()
    # They move before they rest.
    begin = np.argmax(trace["n_assigned"] >= first)
    assert trace["n_columns_moved"][begin : begin + 3].sum() > 10


@pytest.mark.parametrize(("time_limit", "together"), [(None, True), (0.012, True), (0.004, False)])
def test_with_little_time_no_chain_starts_with_all_columns_in_one_view(monkeypatch, time_limit, together):
    """Tables of more than 50,000 cells for each second: these have 480."""
    tick_at_each_look(monkeypatch, 1e-5)
    codes = np.random.default_rng(0).integers(3, size=(60, 8))
    model = CrossCat(feature_types=["categorical"] * 8, n_chains=2, n_draws=1, time_limit=time_limit, random_state=0)
    trace = model.fit(codes).trace_
    first = [trace["n_views"][trace["chain"] == number][0] for number in range(2)]
    assert first[0] > 1 and (first[1] == 1) == together
