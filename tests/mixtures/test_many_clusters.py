"""Tables of hundreds of clusters: annealing finds these, and does not end in a few large ones, nor in views apart."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.estimators import _enough_chains
from sklearn_subanneal.views import ColumnPacing


def of_many_clusters(seed, n_rows=20_000, n_columns=20, n_clusters=200):
    rng = np.random.default_rng(seed)
    frequencies = rng.dirichlet(np.full(4, 0.5), (n_clusters, n_columns))
    clusters = rng.choice(n_clusters, n_rows, p=rng.dirichlet(np.full(n_clusters, 5.0)))
    below = frequencies[clusters].cumsum(axis=2) < rng.random((n_rows, n_columns, 1))
    return below.sum(axis=2).clip(0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_categories_are_found(seed):
    model = SubsampleAnnealedDPMM(feature_types=["categorical"] * 20, n_chains=1, random_state=seed)
    assert 200 < model.fit(of_many_clusters(seed)).n_clusters_ < 320


@pytest.mark.slow
def test_views_of_many_clusters_are_found():
    """By the second of four chains, which counts most, in most fits; those whose columns start apart end far below."""
    X, found = of_many_clusters(1, 12_000), 0
    for seed in range(3):
        model = CrossCat(feature_types=["categorical"] * 20, n_chains=2, random_state=seed).fit(X)
        if 180 < model.n_clusters_ < 320:
            found += 1
            assert model.n_views_ == 1
            assert model.chain_weights_.argmax() == 1
            assert model.log_joint_[1].min() > model.log_joint_[0].max() + 10_000.0
    assert found >= 2


def test_the_second_of_four_chains_starts_with_one_view(monkeypatch):
    X = np.random.default_rng(0).integers(0, 3, size=(60, 4)).astype(float)
    specs = []
    run = _enough_chains.run_chains
    monkeypatch.setattr(
        _enough_chains, "run_chains", lambda run_one, given, *rest: specs.extend(given) or run(run_one, given, *rest)
    )

    def starts(kind="categorical", **parameters):
        specs.clear()
        CrossCat(feature_types=[kind] * 4, n_draws=1, max_sweeps=0, random_state=0, **parameters).fit(X)
        return [spec.start for spec in specs]

    assert starts(n_chains=8) == [None, "together", None, None] * 2
    first, second = specs[:2]
    assert isinstance(second.schedule, SubsampleAnneal) and second.pacing.from_share == 0.1
    assert second.schedule.n_assignments(60) == pytest.approx(first.schedule.n_assignments(60), abs=1)
    # What is asked for is done by all chains, and joint reals have another schedule.
    assert starts(schedule="accelerating") == starts(column_pacing=ColumnPacing()) == starts("real") == [None] * 4
    assert starts(column_start="separate") == ["separate"] * 4
