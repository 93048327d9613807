"""A start of a chain after the first begins without rows, and without what the rows of the first have left."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.views import views_chain


@pytest.mark.parametrize("kind", ["real", "mixed"])
def test_a_later_start_has_no_rows_and_no_statistics(kind, monkeypatch):
    """Statistics were rebuilt from the rows of the start before, none of which had a cluster any more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 6.0 * rng.integers(3, size=(60, 1))
    types = ["real"] * 4 if kind == "real" else ["real", "real", "categorical", "real"]
    X[:, 2] = X[:, 2].round() if kind == "mixed" else X[:, 2]
    counted = []
    original = views_chain.ViewsChain.set_state

    def set_state(self, state):
        original(self, state)
        labels = np.array(self.views.row_labels)
        present = self.window.positions()
        assert (labels[:, present] >= 0).all() and (labels >= 0).sum() == len(labels) * len(present)
        counts = [np.sum(block.get_state(1)["count"]) for block in self.views.blocks.blocks if block is not None]
        counted.append((len(present), counts))

    monkeypatch.setattr(views_chain.ViewsChain, "set_state", set_state)
    CrossCat(feature_types=types, covariance_type="full", n_chains=1, n_draws=1, max_sweeps=1, random_state=0).fit(X)
    empty = [counts for n_present, counts in counted if n_present == 0]
    assert empty and not np.concatenate(empty).any()


def test_rows_without_a_cluster_count_nowhere():
    """Statistics rebuilt from rows that are not assigned are those of no rows."""
    captured = {}
    original = views_chain.ViewsChain.cycle

    def cycle(self, step, context):
        out = original(self, step, context)
        captured.setdefault("views", self.views)
        return out

    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views_chain.ViewsChain, "cycle", cycle)
        CrossCat(covariance_type="full", n_chains=1, n_draws=1, max_sweeps=0, random_state=0).fit(X)
    views = captured["views"]
    for mixture in views.mixtures:
        mixture.relabel(np.full(20, -1, np.int32))
    views.rebuild(np.arange(20, dtype=np.int32))
    counts = [np.sum(block.get_state(1)["count"]) for block in views.blocks.blocks if block is not None]
    assert counts and not np.any(counts)
