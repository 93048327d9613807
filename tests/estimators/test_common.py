"""Scikit-learn's own checks of an estimator, over the configurations that take different ways through the code.

One for each way is quick; the others differ by parameters, and are slow.
"""

from __future__ import annotations

import itertools

import pytest
from support.checks import parametrize_with_checks
from support.moves import EXACT_MOVES, FOREST, PAPER, VIEW_MOVES

from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
)
from sklearn_subanneal.annealing import (
    Accelerating,
    EnergyAnneal,
    PriorGibbs,
    RandomSubsampling,
    SequentialGibbs,
    StratifiedSubsampling,
    SubsampleAnneal,
)
from sklearn_subanneal.mixtures import Gibbs, SplitMerge
from sklearn_subanneal.partitions import CRP, NGGP, PitmanYor
from sklearn_subanneal.trees import TreeGuided
from sklearn_subanneal.views import ColumnGibbs, ColumnGroups, ColumnPacing

# The checks fit some hundred times: short chains, but for the defaults, which are those of the user.
SHORT = {"n_chains": 2, "n_draws": 3}
BRIEF = {"n_chains": 1, "n_draws": 2, "max_sweeps": 5}
FAST = {"schedule": SequentialGibbs(passes=3), **BRIEF}
JOINT = CrossCat(schedule=SubsampleAnneal(passes=6), n_chains=1, n_draws=3, max_sweeps=5)

QUICK = [
    SubsampleAnnealedDPMM(
        feature_types={0: "categorical"}, subsampling=RandomSubsampling(), sparse_output=True, **FAST
    ),
    TreeGuidedNRMM(learn_hyperparameters=False, grids="fixed", unseen="error", **FAST),
    CrossCat(covariance_type="full", sparse_output=True, **FAST),
    CrossCatClassifier(CrossCat(**FAST)),
    CrossCatRegressor(CrossCat(**FAST)),
    BayesianImputer(CrossCat(**FAST), add_indicator=True),
    # Scores are calibrated by one model of other rows.
    CrossCatDetector(CrossCat(**FAST), n_calibration=5),
]

DEFAULTS = [SubsampleAnnealedDPMM(), TreeGuidedNRMM(), CrossCat()]

OTHERS = [
    CrossCatClassifier(JOINT),
    CrossCatRegressor(JOINT),
    SubsampleAnnealedDPMM(schedule="accelerating", n_jobs=2, **SHORT),
    SubsampleAnnealedDPMM(covariance_type="full", partition="dp", moves=["slice"], schedule="prior", **BRIEF),
    TreeGuidedNRMM(partition="nig", moves=["incremental-hierarchy"], **BRIEF),
    CrossCat(schedule=Accelerating(passes=8, n_small=20), subsampling=StratifiedSubsampling(column=0), **BRIEF),
    BayesianImputer(),
    CrossCatDetector(),
    BayesianImputer(SubsampleAnnealedDPMM(**FAST), sample_posterior=True),
    SubsampleAnnealedDPMM(covariance_type="full", **SHORT),
    SubsampleAnnealedDPMM(feature_types={0: "real"}, feature_params={"real": {"nu": 3.0}}, **SHORT),
    SubsampleAnnealedDPMM(schedule="anneal", n_chains=3, n_draws=2, thin=2),
    SubsampleAnnealedDPMM(schedule="sequential", **SHORT),
    SubsampleAnnealedDPMM(schedule=EnergyAnneal(passes=10), **SHORT),
    SubsampleAnnealedDPMM(subsampling="random", grids="fixed", unseen="error", **SHORT),
    SubsampleAnnealedDPMM(learn_hyperparameters=False, **SHORT),
    SubsampleAnnealedDPMM(partition=CRP(concentration=1.0), learn_from=5, **SHORT),
    SubsampleAnnealedDPMM(partition=PitmanYor(discount=0.25), n_jobs=2, **SHORT),
    SubsampleAnnealedDPMM(partition=NGGP(), **SHORT),
    TreeGuidedNRMM(NGGP(1.0, 0.5), learn_hyperparameters=False, n_jobs=2, **SHORT),
    TreeGuidedNRMM(covariance_type="diag", moves=FOREST, feature_types={0: "categorical"}, **BRIEF),
    CrossCat(schedule=Accelerating(passes=8, n_small=20), moves=VIEW_MOVES["prior"], thin=2, **BRIEF),
    CrossCat(schedule=PriorGibbs(passes=8), moves=VIEW_MOVES["birth-death"], n_jobs=2, n_chains=2, n_draws=1),
    # Of shorter runs one in ten ends in a partition that is too poor for the check of clusterings.
    CrossCat(
        schedule=EnergyAnneal(passes=30),
        moves=[Gibbs(), SplitMerge(2), ColumnGroups(), ColumnGibbs()],
        column_pacing=ColumnPacing(rest_above=None),
        **BRIEF,
    ),
    CrossCat(feature_types={0: "real"}, feature_params={"real": {"nu": 3.0}}, **BRIEF),
    CrossCat(subsampling="random", grids="fixed", unseen="error", column_start="together", **FAST),
    CrossCat(moves=VIEW_MOVES["block"], **FAST),
    CrossCat(CRP(1.0), PitmanYor(0.5, 0.25), learn_hyperparameters=False, **FAST),
    SubsampleAnnealedDPMM(feature_types={0: "categorical"}, **SHORT),
    SubsampleAnnealedDPMM(schedule="prior", **SHORT),
    SubsampleAnnealedDPMM(subsampling=RandomSubsampling(), covariance_type="full", **SHORT),
    TreeGuidedNRMM(CRP(1.0), covariance_type="diag", moves=[Gibbs(), TreeGuided(n_proposals=3)], **FAST),
    CrossCat(subsampling=StratifiedSubsampling(column=0), **FAST),
    CrossCat(schedule=SubsampleAnneal(passes=5), **BRIEF),
]

PARTITIONS_AND_MOVES = [
    TreeGuidedNRMM(partition, moves=moves, covariance_type=covariance_type, **BRIEF)
    for partition, moves, covariance_type in itertools.product(
        ("nggp", "dp", "nig"), [*EXACT_MOVES.values(), FOREST, PAPER], ("full", "diag")
    )
]


@parametrize_with_checks(QUICK)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([*DEFAULTS, *OTHERS])
def test_scikit_learn_checks_of_other_parameters(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:In .* sweeps there were more than max_atoms", "ignore:TreeGuidedPaper")
@parametrize_with_checks(PARTITIONS_AND_MOVES)
def test_scikit_learn_checks_of_every_partition_and_move(estimator, check):
    check(estimator)
