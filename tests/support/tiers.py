"""Marks for parametrised tests: some cases in the quick tier, the others in the slow one."""

from collections.abc import Iterable

import pytest


def quick_only(cases: Iterable, *quick) -> list:
    """All cases for ``parametrize``, those that are not named marked slow.

    Parameters
    ----------
    cases : iterable
        Each is one value, or a tuple of the values of several parameters.
    *quick
        The cases that stay in the quick tier.

    Raises
    ------
    ValueError
        If a quick case is not among the cases.

    Examples
    --------
    >>> from support.tiers import quick_only
    >>> [bool(case.marks) for case in quick_only(["a", "b", "c"], "b")]
    [True, False, True]
    """
    cases = list(cases)
    if missing := [case for case in quick if case not in cases]:
        raise ValueError(f"quick cases must be among the cases, {missing} are not")
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=() if case in quick else pytest.mark.slow)
        for case in cases
    ]
