"""The blocks of the views after moves of columns, which are made anew only where members or parameters change."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.views import views_chain


@pytest.mark.parametrize("learn", [False, True])
def test_each_block_has_the_cells_and_the_prior_of_its_columns(learn, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[:, 1] += 0.7 * X[:, 0]
    X[rng.random(X.shape) < 0.1] = np.nan
    seen = set()
    original = views_chain.ViewsChain.cycle

    def cycle(self, step, context):
        out = original(self, step, context)
        blocks = self.views.blocks
        for number, block in enumerate(blocks.blocks):
            members = blocks.members_of(number)
            assert (block is None) == (len(members) == 0)
            if block is None:
                continue
            seen.add((number, tuple(members)))
            np.testing.assert_array_equal(block.data.array, blocks.reals.observed[:, members])
            expected = blocks.reals.block_parameters(members, blocks.kappa[number], blocks.nu[number])
            for name in ("mu", "kappa", "psi", "nu"):
                np.testing.assert_array_equal(block.parameters[name], expected[name])
        return out

    monkeypatch.setattr(views_chain.ViewsChain, "cycle", cycle)
    model = CrossCat(n_chains=1, feature_types=["real"] * 5, learn_hyperparameters=learn, random_state=0)
    model.set_params(covariance_type="full", max_sweeps=0, column_pacing=views_chain.ColumnPacing(patience=None)).fit(X)
    # Views of as many columns followed one another.
    assert len(seen) > 10
