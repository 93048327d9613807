"""Geweke's joint-distribution test of a cycle of moves of rows in shards, every hyperparameter learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.geweke_mixtures import CONCENTRATIONS, DISCOUNTS, N_ROWS, TABLES, Joint, draw_prior, redrawn, statistics
from support.sharded_tables import ExampleBlocks

from sklearn_subanneal.diagnostics import geweke_test
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards.block_map import Threads
from sklearn_subanneal.shards.sharded_mixture import ShardedMixture
from sklearn_subanneal.shards.split_merge import split_and_merge

BLOCK_ROWS = 4


def in_blocks(features, state):
    """The rows of a state in two blocks, with its fillings of missing cells."""
    examples = [
        replace(feature.example, cells=feature.with_gaps(cells), params=params)
        for feature, params, cells in zip(features, state.params, state.cells, strict=True)
    ]
    blocks = Threads(ExampleBlocks(examples, BLOCK_ROWS, True, N_ROWS))
    ranges = [slice(at, at + BLOCK_ROWS) for at in range(0, N_ROWS, BLOCK_ROWS)]
    blocks.start([state.labels[rows].astype(np.int32) for rows in ranges])
    blocks.blocks = [
        replace(block, fillings={j: filled(examples[j], state.cells[j], rows) for j in block.fillings})
        for block, rows in zip(blocks.blocks, ranges, strict=True)
    ]
    return blocks


def filled(example, cells, rows):
    return cells[rows][np.isnan(example.cells[rows]).any(axis=1)]


def transition(features):
    """A cycle of the chain over the observed cells, then new data."""

    def cycle(state, rng):
        prior = PitmanYor(concentration_grid=CONCENTRATIONS, discount_grid=DISCOUNTS).bind()
        prior.parameters = {"concentration": state.concentration, "discount": state.discount}
        mixture = ShardedMixture(in_blocks(features, state), prior, rng, anchor_share=0.4)
        mixture.recount()
        mixture.sweep()
        if mixture.has_thresholds:
            mixture.slice_rows()
        mixture.move_single_rows(2)
        split_and_merge(mixture, 1, 1)
        mixture.learn()
        labels, columns = mixture.labels(), mixture.columns
        params = [f.example.reference_params(c.parameters) for f, c in zip(features, columns, strict=True)]
        cells = [redrawn(f, own, labels, rng) for f, own in zip(features, params, strict=True)]
        return Joint(labels, prior.concentration, prior.discount, params, cells)

    return cycle


def run(table, n_independent, n_successive, seed=0):
    features = TABLES[table]
    return geweke_test(
        lambda rng: draw_prior(features, rng),
        transition(features),
        statistics,
        n_independent=n_independent,
        n_successive=n_successive,
        n_chains=16,
        random_state=seed,
    )


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_geweke(table):
    result = run(table, n_independent=20_000, n_successive=1500, seed=1)
    assert result.passed(0.01), str(result)
