"""Pairs of columns that depend on one another more strongly in the table than in the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sklearn_subanneal.estimators._contradictions import LEVEL

if TYPE_CHECKING:
    from sklearn_subanneal.estimators._contradictions import Contradictions
    from sklearn_subanneal.report.structure import Structure

# Differences of strengths from 0 to 1 that are told.
LEAST_DIFFERENCE = 0.15


@dataclass(frozen=True)
class Understated:
    """The dependence of two columns.

    Attributes
    ----------
    one, other : str
    in_table, in_model : float
        Its strength, on the scale of a correlation.
    """

    one: str
    other: str
    in_table: float
    in_model: float

    @property
    def difference(self) -> float:
        return self.in_table - self.in_model


def find_understated(names: list[str], structure: Structure, contradictions: Contradictions) -> list[Understated]:
    """The pairs whose strength in the table exceeds that in the model clearly, the largest difference first.

    A model of groups of rows describes a dependence only as far as its groups differ in both columns, and other columns
    decide on the groups, too. Pairs that the model keeps apart are not among these: they are contradictions.

    Parameters
    ----------
    names : list of str
        Of the modelled columns.
    structure : Structure
    contradictions : Contradictions
        Whose tests measure the strength in the table.
    """
    tests, apart = contradictions.tests, {(pair.one, pair.other) for pair in contradictions.pairs}
    n_tests = max(len(names) * (len(names) - 1) // 2, 1)
    found = [
        Understated(names[i], names[j], float(tests.strengths[i, j]), in_model)
        for (i, j), in_model in structure.related.items()
        if tests.p_values[i, j] * n_tests < LEVEL and (names[i], names[j]) not in apart
    ]
    return sorted((pair for pair in found if pair.difference > LEAST_DIFFERENCE), key=lambda pair: -pair.difference)
