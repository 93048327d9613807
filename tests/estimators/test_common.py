"""Scikit-learn's own checks of an estimator, over the configurations that take different ways through the code."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import (
    Accelerating,
    EnergyAnneal,
    PriorGibbs,
    RandomSubsampling,
    SequentialGibbs,
    StratifiedSubsampling,
    SubsampleAnneal,
)
from sklearn_subanneal.partitions import CRP, NGGP, PitmanYor
from sklearn_subanneal.views.kernels import ViewKernel

# The checks fit some hundred times: short chains, but for the defaults, which are those of the user.
SHORT = {"n_chains": 2, "n_draws": 3}
BRIEF = {"n_chains": 1, "n_draws": 2}
CONFIGURATIONS = [
    SubsampleAnnealedDPMM(),
    SubsampleAnnealedDPMM(covariance_type="full", **SHORT),
    SubsampleAnnealedDPMM(feature_types={0: "categorical"}, **SHORT),
    SubsampleAnnealedDPMM(feature_types={0: "real"}, feature_params={"real": {"nu": 3.0}}, **SHORT),
    SubsampleAnnealedDPMM(schedule="anneal", n_chains=3, n_draws=2, thin=2),
    SubsampleAnnealedDPMM(schedule="accelerating", **SHORT),
    SubsampleAnnealedDPMM(schedule="sequential", **SHORT),
    SubsampleAnnealedDPMM(schedule="prior", **SHORT),
    SubsampleAnnealedDPMM(schedule=EnergyAnneal(passes=10), **SHORT),
    SubsampleAnnealedDPMM(subsampling=RandomSubsampling(), covariance_type="full", **SHORT),
    SubsampleAnnealedDPMM(subsampling="random", grids="fixed", unseen="error", **SHORT),
    SubsampleAnnealedDPMM(learn_hyperparameters=False, **SHORT),
    SubsampleAnnealedDPMM(partition=CRP(concentration=1.0), **SHORT),
    SubsampleAnnealedDPMM(partition=PitmanYor(discount=0.25), n_jobs=2, **SHORT),
    SubsampleAnnealedDPMM(partition=NGGP(), **SHORT),
    TreeGuidedNRMM(),
    TreeGuidedNRMM("dp", sampler="slice", **BRIEF),
    TreeGuidedNRMM("nig", sampler="ibhc", **BRIEF),
    TreeGuidedNRMM("nig", sampler="split-merge", **BRIEF),
    TreeGuidedNRMM("nggp", sampler="tree-guided-similar", **BRIEF),
    TreeGuidedNRMM("dp", 1.0, likelihood="diag", schedule=SequentialGibbs(passes=3), n_global=3, **BRIEF),
    TreeGuidedNRMM("nggp", 1.0, 0.5, learn_hyperparameters=False, grids="fixed", n_jobs=2, **SHORT),
    TreeGuidedNRMM(likelihood="diag", sampler="ibhc", feature_types={0: "categorical"}, **BRIEF),
    CrossCat(),
    CrossCat(schedule=SubsampleAnneal(passes=5), **BRIEF),
    CrossCat(schedule=Accelerating(passes=8, n_small=20), view_kernel="prior", thin=2, **BRIEF),
    CrossCat(schedule=SequentialGibbs(passes=3), view_kernel="block", **BRIEF),
    CrossCat(schedule=PriorGibbs(passes=8), view_kernel="birth-death", n_jobs=2, n_chains=2, n_draws=1),
    # Of shorter runs one in ten ends in a partition that is too poor for the check of clusterings.
    CrossCat(
        schedule=EnergyAnneal(passes=30), view_kernel=ViewKernel(("group", "data-driven"), rest_above=None), **BRIEF
    ),
    CrossCat(feature_types={0: "real"}, feature_params={"real": {"nu": 3.0}}, **BRIEF),
    CrossCat(schedule=SequentialGibbs(passes=3), subsampling="random", grids="fixed", unseen="error", **BRIEF),
    CrossCat(schedule=SequentialGibbs(passes=3), subsampling=StratifiedSubsampling(column=0), **BRIEF),
    CrossCat(1.0, 0.0, 0.5, 0.25, schedule=SequentialGibbs(passes=3), learn_hyperparameters=False, **BRIEF),
]


EVERY_PROCESS_AND_SAMPLER = [
    TreeGuidedNRMM(process, sampler=sampler, likelihood=likelihood, **BRIEF)
    for process in ("nggp", "dp", "nig")
    for sampler in (
        "tree-guided",
        "tree-guided-similar",
        "split-merge",
        "gibbs",
        "slice",
        "ibhc",
        "tree-guided-paper",
    )
    for likelihood in ("gaussian", "diag")
]


@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:In .* sweeps there were more than max_atoms", "ignore:sampler=.tree-guided-paper")
@parametrize_with_checks(EVERY_PROCESS_AND_SAMPLER)
def test_scikit_learn_checks_of_every_process_and_sampler(estimator, check):
    check(estimator)
