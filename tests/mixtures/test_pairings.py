"""Every pairing of a prior, a type of column, moves and a schedule is refused before a chain starts, or runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from support.tiers import quick_only

from sklearn_subanneal import trees, views
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.schedules import EnergyAnneal, PriorGibbs, SubsampleAnneal
from sklearn_subanneal.columns.binding import bind_bags, bind_columns
from sklearn_subanneal.mixtures import Gibbs, Slice, SplitMerge, check_moves, resolve_moves
from sklearn_subanneal.mixtures.mixture_chain import MixtureSpec
from sklearn_subanneal.partitions import CRP, NGGP, NIG, PitmanYor
from sklearn_subanneal.tables.documents import Documents
from sklearn_subanneal.trees import NAMED, IncrementalHierarchy, TreeGuided, TreeGuidedPaper, TreeGuidedSimilar
from sklearn_subanneal.trees.forest_chain import ForestSpec
from sklearn_subanneal.views import (
    ColumnBirthDeath,
    ColumnBlocks,
    ColumnGibbs,
    ColumnGroups,
    ColumnPacing,
    ViewSplitMerge,
    check_view_moves,
)
from sklearn_subanneal.views.views_spec import ViewsSpec

N_ROWS = 9
RNG = np.random.default_rng(0)
REALS = np.round(np.where(RNG.random((N_ROWS, 2)) < 0.5, -3.0, 3.0) + RNG.normal(size=(N_ROWS, 2)), 1)
HOLES = RNG.random(N_ROWS) < 0.3
CODES = np.where(HOLES, -1, RNG.integers(3, size=N_ROWS)).astype(np.int8)
# Typed columns: kinds, cells, covariance_type.
COLUMNS = {
    "real": (["real"] * 2, [np.where(HOLES, np.nan, REALS[:, 0]), REALS[:, 1]], "diag"),
    "categorical": (["categorical"], [CODES], "diag"),
    "boolean": (["boolean"], [np.minimum(CODES, 1).astype(np.int8)], "diag"),
    "count": (["count"], [np.where(HOLES, -1, RNG.poisson(4.0, N_ROWS)).astype(np.int32)], "diag"),
    "cyclic": (["cyclic"], [np.where(HOLES, np.nan, RNG.uniform(0, 6.0, N_ROWS))], "diag"),
    "semicontinuous": (["semicontinuous"], [np.where(HOLES, np.nan, np.maximum(REALS[:, 0], 0.0))], "diag"),
    "skewed": (["skewed"], [np.where(HOLES, np.nan, np.exp(REALS[:, 1]))], "diag"),
    "ordinal": (["ordinal"], [CODES], "diag"),
    "block": (["real"] * 2, list(REALS.T), "full"),
    "block-missing": (["real"] * 2, [np.where(HOLES, np.nan, REALS[:, 0]), REALS[:, 1]], "full"),
    "mixed": (["real", "categorical", "real"], [REALS[:, 0], CODES, np.where(HOLES, np.nan, REALS[:, 1])], "full"),
    "constant": (["real", "categorical"], [np.ones(N_ROWS), np.zeros(N_ROWS, np.int8)], "diag"),
    "bag-of-words": None,
}
# In views, where each real or skewed column is a column of its own and those of one view are jointly normal.
JOINT = {
    "joint": COLUMNS["block"],
    "joint-missing": COLUMNS["block-missing"],
    "joint-mixed": (
        ["real", "categorical", "skewed", "count"],
        [np.where(HOLES, np.nan, REALS[:, 0]), CODES, np.exp(REALS[:, 1]), COLUMNS["count"][1][0]],
        "full",
    ),
    "joint-semicontinuous": (["real", "semicontinuous"], [REALS[:, 0], np.maximum(REALS[:, 1], 0.0)], "full"),
}
PARTITIONS = {
    "dp": CRP(),
    "pitman-yor": PitmanYor(),
    "pitman-yor-fixed": PitmanYor(0.5, 0.3),
    "pitman-yor-negative": PitmanYor(-0.2, 0.5),
    "no-discount": PitmanYor(discount=0.0),
    "nggp": NGGP(),
    "nig-fixed": NIG(0.4),
}
DISCOUNTED = {"pitman-yor", "pitman-yor-fixed", "pitman-yor-negative"}
WITH_AUXILIARY = {"nggp", "nig-fixed"}
SCHEDULES = {"anneal": SubsampleAnneal(passes=2), "energy": EnergyAnneal(passes=2), "prior": PriorGibbs(passes=2)}
ROW_MOVES = {
    "gibbs": [Gibbs()],
    "slice": [Slice()],
    "split-merge": [Gibbs(), SplitMerge(3)],
    "split-merge-scans": [SplitMerge(n_scans=2), Gibbs()],
    "tree-guided": [Gibbs(), TreeGuided(6)],
    "tree-guided-subset": [Gibbs(), TreeGuided(6, subset_size=2)],
    "tree-guided-similar": [Gibbs(), TreeGuidedSimilar(3)],
    "tree-guided-paper": [TreeGuidedPaper(3)],
    "several": [SplitMerge(2), Slice(), TreeGuided(2)],
    "incremental-hierarchy": [IncrementalHierarchy()],
}
SOME_ROW_MOVES = quick_only(
    ROW_MOVES,
    "gibbs",
    "slice",
    "tree-guided-paper",
    "incremental-hierarchy",
)
COLUMN_MOVES = {
    "none": [],
    "column-gibbs": [ColumnGibbs()],
    "column-gibbs-prior": [ColumnGibbs("prior", 2)],
    "column-birth-death": [ColumnBirthDeath()],
    "column-blocks": [ColumnBlocks(4)],
    "column-groups": [ColumnGroups()],
    "view-split-merge": [ViewSplitMerge()],
    "several": [ColumnGibbs(), ColumnGroups(), ViewSplitMerge()],
}


def table(name, n_rows):
    """Models and typed columns of the first rows."""
    if name == "bag-of-words":
        counts = sparse.csr_array(np.random.default_rng(1).poisson(0.7, (n_rows, 5)).astype(np.int32))
        return bind_bags(5), [Documents(counts)]
    kinds, arrays, covariance_type = (COLUMNS | JOINT)[name]
    arrays = [cells[:n_rows] for cells in arrays]
    names = [f"x{j}" for j in range(len(arrays))]
    given = {"semicontinuous": {"atoms": 0.0}} if "semicontinuous" in kinds else None
    models = bind_columns(
        names,
        kinds,
        [3] * len(arrays),
        arrays,
        covariance_type=covariance_type,
        in_views=name in JOINT,
        feature_params=given,
    )
    return models, arrays


def is_refused(spec, n_draws=2):
    """Whether the specification is refused; if it is not, the chain must run."""
    try:
        spec.check()
    except ValueError as error:
        assert ";" in str(error) or "take" in str(error), f"no remedy: {error}"
        return True
    result = spec.run(ChainContext())
    assert 1 <= len(result.draws) <= n_draws
    assert np.isfinite(result.trace["log_joint"][-1])
    for labels in result.labels:
        assert labels.shape[-1] == spec.n_rows and labels.min() == 0
    return False


def mixture_spec(columns, partition, moves, schedule, n_rows, **options):
    models, arrays = table(columns, n_rows)
    kind = ForestSpec if moves == "incremental-hierarchy" else MixtureSpec
    return kind(
        n_rows=n_rows,
        schedule=SCHEDULES[schedule],
        n_draws=2,
        generator=np.random.default_rng(0),
        models=models,
        arrays=arrays,
        partition=PARTITIONS[partition],
        moves=tuple(ROW_MOVES[moves]),
        **options,
    )


def views_spec(columns, column_partition, row_partition, moves, schedule="anneal", n_rows=N_ROWS, **options):
    models, arrays = table(columns, n_rows)
    return ViewsSpec(
        n_rows=n_rows,
        schedule=SCHEDULES[schedule],
        n_draws=2,
        generator=np.random.default_rng(0),
        models=models,
        arrays=arrays,
        column_partition=PARTITIONS[column_partition],
        row_partition=PARTITIONS[row_partition],
        moves=tuple(moves),
        pacing=ColumnPacing(),
        **options,
    )


@pytest.mark.parametrize("moves", quick_only(ROW_MOVES, "gibbs", "slice"))
def test_mixtures(moves):
    for columns, partition, schedule in itertools.product(COLUMNS, PARTITIONS, SCHEDULES):
        refused = is_refused(mixture_spec(columns, partition, moves, schedule, N_ROWS))
        assert refused == (moves in {"slice", "several"} and partition in DISCOUNTED), (columns, partition, schedule)


@pytest.mark.parametrize("moves", ROW_MOVES)
@pytest.mark.parametrize("n_rows", [1, 2])
def test_mixtures_of_hardly_any_rows(n_rows, moves):
    for columns, partition in itertools.product(["mixed", "block-missing", "bag-of-words"], ["dp", "nggp"]):
        assert not is_refused(mixture_spec(columns, partition, moves, "anneal", n_rows)), (columns, partition)


SINGLE = {"real", "categorical", "boolean", "count", "cyclic", "ordinal", "semicontinuous", "skewed", "constant"}


def views_refused(columns, column_partition, row_partition, row_moves):
    """Whether views are refused: blocks, weights given an auxiliary variable, trees, slices with a discount."""
    return (
        columns not in SINGLE.union(JOINT)
        or column_partition in WITH_AUXILIARY
        or row_partition in WITH_AUXILIARY
        or row_moves not in {"gibbs", "slice", "split-merge", "split-merge-scans"}
        or (row_moves == "slice" and row_partition in DISCOUNTED)
    )


@pytest.mark.parametrize("row_moves", SOME_ROW_MOVES)
def test_rows_of_views(row_moves):
    moves = [*ROW_MOVES[row_moves], ColumnGibbs()]
    for columns, partition, schedule in itertools.product([*COLUMNS, *JOINT], PARTITIONS, SCHEDULES):
        refused = is_refused(views_spec(columns, "dp", partition, moves, schedule))
        assert refused == views_refused(columns, "dp", partition, row_moves), (columns, partition, schedule)


@pytest.mark.parametrize("column_moves", quick_only(COLUMN_MOVES, "several"))
def test_columns_of_views(column_moves):
    moves = [Gibbs(), SplitMerge(2), *COLUMN_MOVES[column_moves]]
    starts = [None, "separate", "together", "prior"]
    for columns, partition, start in itertools.product([*COLUMNS, *JOINT], PARTITIONS, starts):
        refused = is_refused(views_spec(columns, partition, "pitman-yor", moves, start=start))
        assert refused == views_refused(columns, partition, "pitman-yor", "gibbs"), (columns, partition, start)
        if not refused and columns in ("real", "joint-missing"):
            for n_rows in (1, 2):
                assert not is_refused(views_spec(columns, partition, "dp", moves, n_rows=n_rows, start=start))


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ([Slice()], r"Slice needs .* take CRP\(\), NGGP\(\) or NIG\(\) as the prior, or Gibbs\(\)"),
        ([Gibbs(), ColumnGibbs()], "ColumnGibbs moves columns between views, and a mixture has but one"),
        ([Gibbs(), SplitMerge(-1)], "n_proposals of SplitMerge must be an integer of at least 0 or None, got -1"),
        ([Gibbs(), SplitMerge(n_scans=1.5)], "n_scans of SplitMerge must be an integer of at least 0 or None, got 1.5"),
        ([Gibbs(), TreeGuided(subset_size=1)], "subset_size of TreeGuided must be an integer of at least 2, got 1"),
        ([Gibbs(), TreeGuidedSimilar(True)], "n_proposals of TreeGuidedSimilar must be .* got True"),
        ([TreeGuidedPaper(None)], "n_proposals of TreeGuidedPaper must be an integer of at least 0, got None"),
        ([Slice(0)], "max_atoms of Slice must be an integer of at least 1, got 0"),
    ],
)
def test_moves_that_are_refused_say_why(moves, message):
    with pytest.raises(ValueError, match=message):
        check_moves(moves, PitmanYor().bind(), [])


@pytest.mark.parametrize(
    ("moves", "rows", "message"),
    [
        ([Gibbs()], NGGP(), "row_partition must have .* take CRP"),
        ([Gibbs(), TreeGuided()], CRP(), "TreeGuided cannot be made in the views"),
        ([Gibbs(), ColumnGibbs("fresh")], CRP(), "new_views of ColumnGibbs must be one of .* got 'fresh'"),
        ([Gibbs(), ColumnGibbs(n_auxiliary=0)], CRP(), "n_auxiliary of ColumnGibbs must be .* got 0"),
        ([Gibbs(), ColumnBlocks("8")], CRP(), "n_pool of ColumnBlocks must be .* got '8'"),
        ([Gibbs(), ColumnGroups(2.5)], CRP(), "n_proposals of ColumnGroups must be .* got 2.5"),
        ([Gibbs(), ViewSplitMerge(0)], CRP(), "n_proposals of ViewSplitMerge must be .* got 0"),
    ],
)
def test_moves_of_views_that_are_refused_say_why(moves, rows, message):
    with pytest.raises(ValueError, match=message):
        check_view_moves(moves, CRP().bind(), rows.bind(), [])


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("gibbs", "moves must be .default. or a list of moves, .* got 'gibbs'"),
        (None, "moves must be .default. or a list"),
        ([], "exactly one move of the rows, .* has none"),
        ([SplitMerge()], "exactly one move of the rows, .* has none"),
        ([Gibbs(), Slice()], "exactly one move of the rows, .* has Gibbs, Slice"),
        (["gibs"], r"'gibs', which is neither a move nor one of \['gibbs', 'incremental-hierarchy', 'slice'"),
        ([Gibbs], r"moves has the class Gibbs; write Gibbs\(\)"),
        ([IncrementalHierarchy(), SplitMerge()], "IncrementalHierarchy cannot be combined with other moves"),
    ],
)
def test_lists_of_moves_that_are_refused(moves, message):
    with pytest.raises(ValueError, match=message):
        resolve_moves(moves, [Gibbs()], NAMED)


def test_names_stand_for_moves():
    default = [Gibbs(), SplitMerge()]
    assert resolve_moves("default", default, NAMED) == tuple(default)
    named = resolve_moves(["tree-guided-similar", Gibbs(), "split-merge"], default, NAMED)
    assert [type(move) for move in named] == [TreeGuidedSimilar, Gibbs, SplitMerge]


@pytest.mark.parametrize("pacing", [ColumnPacing(rest_above=-1), ColumnPacing(patience=0), ColumnPacing(patience="no")])
def test_a_pacing_that_is_refused(pacing):
    with pytest.raises(ValueError, match="of ColumnPacing must be"):
        pacing.check()


@pytest.mark.parametrize(
    ("names", "name"), [(package.NAMED, name) for package in (trees, views) for name in package.NAMED]
)
def test_every_name_stands_for_its_move(names, name):
    moves = [name] if names[name].kind == "rows" else ["gibbs", name]
    assert type(resolve_moves(moves, [Gibbs()], names)[-1]) is names[name]
