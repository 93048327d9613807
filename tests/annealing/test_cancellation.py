"""Chains look at the cancel flag after a bounded amount of work, and end there."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import blobs

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import SequentialGibbs, SubsampleAnneal
from sklearn_subanneal.annealing.runner import ChainCancelled, ChainContext
from sklearn_subanneal.estimators import _enough_chains
from sklearn_subanneal.mixtures import mixture_chain
from sklearn_subanneal.views import views_chain


class CancelledAfter(ChainContext):
    """The flag of this context is set at one of the looks at it; counts the looks and the sweeps."""

    def __init__(self, n_looks):
        super().__init__()
        self.n_looks, self.looks, self.sweeps = n_looks, 0, 0

    def check(self):
        self.looks += 1
        self.cancel.is_set = self.looks >= self.n_looks
        super().check()

    def report(self, record, state, result):
        self.sweeps += 1
        return False


def spec_of(model, X, monkeypatch):
    """The specification of the model's chain."""
    specs = []

    def keep(run, given, contexts, n_jobs):
        specs.extend(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(_enough_chains, "run_chains", keep)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    return specs[0]


MODELS = {
    "mixture": (SubsampleAnnealedDPMM, {}),
    "block": (SubsampleAnnealedDPMM, {"covariance_type": "full"}),
    "measures": (TreeGuidedNRMM, {}),
    "slice": (TreeGuidedNRMM, {"moves": ["slice"], "partition": "dp"}),
    "forest": (TreeGuidedNRMM, {"moves": ["incremental-hierarchy"]}),
    "views": (CrossCat, {}),
}
CELLS = 4000


@pytest.mark.parametrize(
    "schedule", [SubsampleAnneal(3), pytest.param(SequentialGibbs(3), marks=pytest.mark.slow)], ids=repr
)
@pytest.mark.parametrize(("estimator", "params"), MODELS.values(), ids=MODELS)
def test_a_cancelled_chain_ends_at_its_next_look(estimator, params, schedule, monkeypatch):
    # Batches of rows by so many cells, as on large tables.
    for module in (mixture_chain, views_chain):
        monkeypatch.setattr(module, "CELLS_PER_BATCH", CELLS)
    X = blobs(2000, 4)
    model = estimator(schedule=schedule, n_chains=1, n_draws=2, max_sweeps=0, random_state=0, **params)
    spec = spec_of(model, X, monkeypatch)
    whole = CancelledAfter(np.inf)
    spec.run(whole)
    # There are looks within each sweep of many rows, and not only between sweeps.
    assert whole.looks > whole.sweeps
    for n_looks in (1, 2, whole.looks // 2, whole.looks):
        cut = CancelledAfter(n_looks)
        with pytest.raises(ChainCancelled):
            spec.run(cut)
        assert cut.looks == n_looks


@pytest.mark.parametrize(
    ("estimator", "params"),
    # The trial of a covariance type would count.
    [(SubsampleAnnealedDPMM, {"covariance_type": "diag"}), MODELS["views"]],
    ids=["mixture", "views"],
)
def test_rows_between_two_looks_are_bounded(estimator, params, monkeypatch):
    n_rows, n_columns, sizes = 2000, 4, []
    for module in (mixture_chain, views_chain):
        monkeypatch.setattr(module, "CELLS_PER_BATCH", CELLS)
    right = mixture_chain.churn

    def churn(mixture, leaving, entering, *others):
        sizes.append(len(leaving))
        return right(mixture, leaving, entering, *others)

    for module in (mixture_chain, views_chain):
        monkeypatch.setattr(module, "churn", churn)
    # Views of small tables are swept by one call of Views.churn; with threads each is swept alone.
    monkeypatch.setattr(views_chain, "LEAST_CELLS_FOR_THREADS", 0)
    model = estimator(schedule=SequentialGibbs(2), n_chains=1, n_draws=1, random_state=0, **params)
    if estimator is CrossCat:
        model.set_params(n_jobs=2)
    context = CancelledAfter(np.inf)
    spec_of(model, blobs(n_rows, n_columns), monkeypatch).run(context)
    assert max(sizes) == CELLS // n_columns
    assert context.looks >= len(sizes)
