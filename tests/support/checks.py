"""Scikit-learn's own checks of estimators, as cases of one test, with names that are made quickly."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def parametrize_with_checks(estimators):
    """Decorate a test with the arguments ``estimator`` and ``check``, as scikit-learn's function of that name does.

    That function prints the estimator again for every check, which is a third of the time in which all tests are
    collected: here it is printed once.

    Parameters
    ----------
    estimators : iterable of estimator instances
        Each is tested by all checks that apply to it.

    Returns
    -------
    decorator : pytest.MarkDecorator
        With a case for each pair of estimator and check.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from support.checks import parametrize_with_checks
    >>> parametrize_with_checks([Ridge(alpha=2.0)]).args[1][0].id
    'Ridge(alpha=2.0)-check_estimator_cloneable'
    """
    cases = []
    for estimator in estimators:
        name = "".join(str(estimator).split())
        for checked, check in estimator_checks_generator(estimator):
            keywords = ",".join(f"{key}={value}" for key, value in check.keywords.items())
            title = f"{check.func.__name__}({keywords})" if keywords else check.func.__name__
            cases.append(pytest.param(checked, check, id=f"{name}-{title}"))
    return pytest.mark.parametrize(("estimator", "check"), cases)
