"""Findings: the data class of all results shown in a report."""

from __future__ import annotations

from dataclasses import dataclass, field

from sklearn_subanneal.estimators._contradictions import Contradictions
from sklearn_subanneal.report.anomalies import Anomalies
from sklearn_subanneal.report.clusters import ViewSummary
from sklearn_subanneal.report.distributions import Distribution
from sklearn_subanneal.report.figures import Picture
from sklearn_subanneal.report.imputation import Imputation
from sklearn_subanneal.report.key_findings import KeyFinding
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.structure import Structure
from sklearn_subanneal.report.understated import Understated


@dataclass(frozen=True, eq=False)
class Findings:
    """The results that a report shows.

    Attributes
    ----------
    source : Source
    views : list of ViewSummary
    structure : Structure
    contradictions : Contradictions
    understated : list of Understated
    anomalies : Anomalies
    imputation : Imputation
    key_findings : list of KeyFinding
    pictures : dict of str to Picture
        Empty if no pictures are drawn.
    distributions : list of Distribution
        Of each modelled column.
    facts : dict of str to str
        Settings and versions.
    was_stopped : bool
        Whether the chains were interrupted.
    folder : str
        Name of the folder of the report.
    time_limit : float or None
        In seconds.
    covariance_type : {"auto", "full", "diag"}
        What was asked for.
    seed : int
    files : dict of str to str
        Names of the other files: "model", "types", "clusters", maybe "detector", and if cells are missing "imputed" and
        "uncertainty".
    """

    source: Source
    views: list[ViewSummary]
    structure: Structure
    contradictions: Contradictions
    understated: list[Understated]
    anomalies: Anomalies
    imputation: Imputation
    key_findings: list[KeyFinding]
    distributions: list[Distribution]
    facts: dict[str, str]
    files: dict[str, str]
    pictures: dict[str, Picture] = field(default_factory=dict)
    was_stopped: bool = False
    folder: str = "report"
    time_limit: float | None = None
    covariance_type: str = "auto"
    seed: int = 0
