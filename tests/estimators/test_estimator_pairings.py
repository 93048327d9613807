"""Every pairing of prior, columns and moves in an estimator is fitted, or refused before a chain has started."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.moves import EXACT_MOVES, FOREST, PAPER, VIEW_MOVES
from support.tables import blobs, with_gaps

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import SequentialGibbs
from sklearn_subanneal.mixtures import Gibbs, Slice, SplitMerge
from sklearn_subanneal.partitions import CRP, NGGP, NIG, PitmanYor
from sklearn_subanneal.trees import TreeGuided
from sklearn_subanneal.views import ColumnGroups, ViewSplitMerge

pytestmark = pytest.mark.slow
SHORT = {"schedule": SequentialGibbs(passes=1), "n_chains": 1, "n_draws": 1, "random_state": 0}
REALS = with_gaps(blobs(12, 2))
COUNTS = np.floor(np.abs(blobs(12, 2)))
TABLES = {
    "real": (REALS, {}),
    "block": (REALS, {"covariance_type": "full"}),
    "discrete": (COUNTS % 2, {"feature_types": ["categorical", "boolean"]}),
    "count, cyclic": (
        COUNTS,
        {"feature_types": ["count", "cyclic"], "feature_params": {"cyclic": {"period": 24.0}}},
    ),
    "semicontinuous, skewed": (
        COUNTS,
        {"feature_types": ["semicontinuous", "skewed"], "feature_params": {"semicontinuous": {"atoms": [0.0, 1.0]}}},
    ),
    "ordinal": (COUNTS, {"feature_types": ["ordinal", "ordinal"]}),
    "documents": (COUNTS, {"feature_types": "bag-of-words"}),
}
PARTITIONS = [
    CRP(),
    CRP(1.0),
    PitmanYor(),
    PitmanYor(1.0, 0.0),
    PitmanYor(1.0, 0.5),
    NGGP(),
    NGGP(1.0, 0.5),
    NIG(),
]
MOVES = {
    **EXACT_MOVES,
    "forest": FOREST,
    "paper": PAPER,
    "slice, split-merge": [Slice(), SplitMerge()],
    "columns": [Gibbs(), ColumnGroups()],
    "two of rows": [Gibbs(), Slice()],
    "none of rows": [SplitMerge()],
    "all": [Gibbs(), SplitMerge(), TreeGuided()],
}


class Witness:
    """A callback that knows whether a chain has started."""

    def __init__(self):
        self.has_started = False

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.has_started |= context.task_name == "chain"

    def on_fit_task_end(self, estimator, context):
        pass

    teardown = setup


def is_fitted(model, table) -> bool:
    """Whether the model could be fitted; fails if it is refused after a chain has started, or other than by name."""
    witness = Witness()
    try:
        model.set_callbacks(witness).fit(table)
    except ValueError as error:
        assert not witness.has_started, error
        assert "; " in str(error) or "take" in str(error) or "must" in str(error), error
        return False
    assert witness.has_started
    assert np.isfinite(model.log_joint_).all() and np.isfinite(model.score_samples(table)).all()
    return True


@pytest.mark.filterwarnings("ignore:TreeGuidedPaper", "ignore:In .* sweeps there were more than max_atoms")
@pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, TreeGuidedNRMM])
@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
def test_mixtures(estimator, moves):
    fitted = [
        is_fitted(estimator(partition, moves=moves, **SHORT, **params), table)
        for partition, (table, params) in itertools.product(PARTITIONS, TABLES.values())
    ]
    expected = {name: True for name in MOVES} | dict.fromkeys(["columns", "two of rows", "none of rows"], False)
    name = next(name for name, value in MOVES.items() if value is moves)
    assert any(fitted) == expected[name]
    if name in ("gibbs", "split-merge", "tree-guided", "forest", "all"):
        assert all(fitted)


VIEW_LISTS = {
    **VIEW_MOVES,
    "views": [Gibbs(), ViewSplitMerge()],
    "slice": [Slice(), *VIEW_MOVES["group"][1:]],
    "trees": [Gibbs(), TreeGuided()],
    "forest": FOREST,
    "paper": PAPER,
}


@pytest.mark.filterwarnings("ignore:In .* sweeps there were more than max_atoms")
@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("moves", VIEW_LISTS.values(), ids=VIEW_LISTS)
def test_views(moves, learn):
    tables = [pair for name, pair in TABLES.items() if name not in ("block", "documents")]
    refused = {}
    for rows, columns in itertools.product(PARTITIONS, PARTITIONS[::2]):
        for table, params in tables:
            model = CrossCat(rows, columns, moves=moves, learn_hyperparameters=learn, **SHORT, **params)
            refused[repr(rows), repr(columns)] = not is_fitted(model, table)
    name = next(name for name, value in VIEW_LISTS.items() if value is moves)
    if name in ("trees", "forest", "paper"):
        assert all(refused.values())
    for (rows, columns), is_refused in refused.items():
        if rows.startswith("N") or columns.startswith("N"):
            assert is_refused
        elif name in VIEW_MOVES or name == "views":
            assert not is_refused
