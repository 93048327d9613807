"""The classes of a figure: its benchmark runs, its drawing function, its claims and its caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

# Documents of the benchmarks, by the names of their runs; without those that were skipped.
Found = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Run:
    """One call of a benchmark.

    Attributes
    ----------
    name : str
        Of its JSON file.
    script : str
        In the folder of benchmarks, without ".py".
    arguments : str
        Of the whole run, as one would type them.
    minutes : float
        What the whole run takes on one core, roughly.
    quick : str
        Further arguments of a trial.
    """

    name: str
    script: str
    arguments: str = ""
    minutes: float = 1.0
    quick: str = ""

    def command(self, quick: bool) -> list[str]:
        """The script and its arguments, as the JSON has them."""
        trial = ["--quick", *self.quick.split()] if quick else []
        return [f"{self.script}.py", *self.arguments.split(), *trial]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, the result of the run, and the cases in which the claim holds.

    Attributes
    ----------
    text : str
    found : str
        In figures of this run.
    held : sequence of bool
        Of each case that was looked at.
    why : str
        The possible reason if it does not hold, or not in all cases.
    """

    text: str
    found: str
    held: Sequence[bool]
    why: str = ""

    @property
    def verdict(self) -> str:
        """ "yes", "no", in how many of the cases, or that none was run."""
        if not self.held:
            return "not run"
        n = sum(map(bool, self.held))
        return "yes" if n == len(self.held) else "no" if n == 0 else f"in {n} of {len(self.held)}"


@dataclass(frozen=True)
class Table:
    """Cells as text, the first column their heads."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def significant(value: float, digits: int = 3) -> str:
    """A number with so many digits that count, written out: 7,450 and 0.00037."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:f}".rstrip("0").rstrip(".")


def nothing(_: Found) -> list:
    return []


@dataclass(frozen=True)
class Figure:
    """A figure, or the tables that stand for one.

    Attributes
    ----------
    name : str
        Of its file.
    title : str
    shows : str
        What is drawn.
    differs : sequence of str
        What is not as in the paper, and why.
    runs : sequence of Run
    draw : callable, optional
        From the documents to a figure of matplotlib.
    claims, tables : callable
        From the documents to lists of `Claim` and `Table`.
    """

    name: str
    title: str
    shows: str
    differs: Sequence[str]
    runs: Sequence[Run]
    draw: Callable[[Found], Any] | None = None
    claims: Callable[[Found], list[Claim]] = nothing
    tables: Callable[[Found], list[Table]] = nothing


@dataclass(frozen=True)
class Paper:
    """Figures of one paper, and those that cannot be reproduced."""

    name: str
    title: str
    figures: Sequence[Figure]
    left_out: str = ""
