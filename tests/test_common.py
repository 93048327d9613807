"""Scikit-learn's own checks of an estimator, over the configurations that take different ways through the code."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.schedules import EnergyAnneal
from sklearn_subanneal.subsampling import Random

# The checks fit some hundred times: short chains, but for the defaults, which are those of the user.
SHORT = {"n_chains": 2, "n_draws": 3}
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
    SubsampleAnnealedDPMM(subsampling=Random(), covariance_type="full", **SHORT),
    SubsampleAnnealedDPMM(subsampling="random", grids="fixed", unseen="error", **SHORT),
    SubsampleAnnealedDPMM(learn_hyperparameters=False, **SHORT),
    SubsampleAnnealedDPMM(partition=CRP(concentration=1.0), **SHORT),
    SubsampleAnnealedDPMM(partition=PitmanYor(discount=0.25), n_jobs=2, **SHORT),
]


@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
