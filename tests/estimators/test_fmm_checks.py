"""Scikit-learn's own checks of the factorial mixture: two configurations quick, the others in the slow tests."""

from __future__ import annotations

import pytest
from support.checks import parametrize_with_checks

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.variational import GeometricCooling, RobbinsMonro

SHORT = {"n_components": 3, "max_iter": 20}
# Annealed with all rows at once, and inferred from minibatches.
QUICK = [
    VariationalTemperingFMM(n_components=2, max_iter=8),
    VariationalTemperingFMM(
        n_components=2, max_iter=6, tempering="global", batch_size=10, component_update="cyclic", n_init=2
    ),
]
OTHERS = [
    VariationalTemperingFMM(),
    VariationalTemperingFMM(tempering="global", **SHORT),
    VariationalTemperingFMM(tempering="none", **SHORT),
    VariationalTemperingFMM(tempering="annealed", temperature_schedule=GeometricCooling(start=4.0), **SHORT),
    VariationalTemperingFMM(tempering="global", noise_variance=0.5, activation_probability=0.2, **SHORT),
    VariationalTemperingFMM(tempering="annealed", batch_size=10, **SHORT),
    VariationalTemperingFMM(tempering="global", batch_size=10, step_size=RobbinsMonro(), **SHORT),
    VariationalTemperingFMM(tempering="none", batch_size=10, n_init=2, component_update="cyclic", **SHORT),
]


@parametrize_with_checks(QUICK)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS)
def test_scikit_learn_checks_of_other_configurations(estimator, check):
    check(estimator)
