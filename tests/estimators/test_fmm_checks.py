"""Scikit-learn's own checks of the factorial mixture, over the configurations that take different ways through it."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.variational import GeometricCooling, RobbinsMonro

SHORT = {"n_components": 3, "max_iter": 20}
CONFIGURATIONS = [
    VariationalTemperingFMM(),
    VariationalTemperingFMM(tempering="global", **SHORT),
    VariationalTemperingFMM(tempering="none", **SHORT),
    VariationalTemperingFMM(tempering="annealed", temperature_schedule=GeometricCooling(start=4.0), **SHORT),
    VariationalTemperingFMM(tempering="global", noise_variance=0.5, activation_probability=0.2, **SHORT),
    VariationalTemperingFMM(tempering="annealed", batch_size=10, **SHORT),
    VariationalTemperingFMM(tempering="global", batch_size=10, step_size=RobbinsMonro(), **SHORT),
    VariationalTemperingFMM(tempering="none", batch_size=10, n_init=2, component_update="cyclic", **SHORT),
]


@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
