"""What a report shows, before it is laid out."""

from __future__ import annotations

from dataclasses import dataclass, field

from sklearn_subanneal.report.figures import Picture
from sklearn_subanneal.report.gaps import Gaps
from sklearn_subanneal.report.groups import View
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.structure import Structure
from sklearn_subanneal.report.surprises import Surprises


@dataclass(frozen=True, eq=False)
class Findings:
    """All that a report shows.

    Attributes
    ----------
    source : Source
    views : list of View
    structure : Structure
    surprises : Surprises
    gaps : Gaps
    pictures : dict of str to Picture
        Empty if none were to be drawn.
    facts : dict of str to str
        How the report was made.
    was_stopped : bool
        Whether the chains were ended before their time.
    files : dict of str to str
        Names of the files beside the page: "model", "clusters", and if there are gaps "imputed", "uncertainty".
    """

    source: Source
    views: list[View]
    structure: Structure
    surprises: Surprises
    gaps: Gaps
    facts: dict[str, str]
    files: dict[str, str]
    pictures: dict[str, Picture] = field(default_factory=dict)
    was_stopped: bool = False
