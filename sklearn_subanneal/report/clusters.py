"""Summaries of views and clusters: columns, rows, and the differences of each cluster from the other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.columns.atom_split import AtomSplit
from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.number_digits import DIGITS_OF_DIFFERENCE, decimals_of
from sklearn_subanneal.report.source import Source

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat

# Differences of fewer standard deviations are not reported.
LEAST_DIFFERENCE = 0.5
MOST_TRAITS = 4


@dataclass(frozen=True)
class Trait:
    """The difference of one column between a cluster and all other rows.

    Attributes
    ----------
    text : str
    difference : float
        In standard deviations of the column, or of the indicator of the category.
    """

    text: str
    difference: float


@dataclass(frozen=True)
class ClusterSummary:
    """A cluster of one view.

    Attributes
    ----------
    number : int
    rows : ndarray of int
    confidence : float
        Mean of `view_confidence_` over these rows, in [0, 1]: how far the draws agree on this cluster.
    traits : list of Trait
        The largest difference first.
    """

    number: int
    rows: np.ndarray
    confidence: float
    traits: list[Trait]


@dataclass(frozen=True)
class ViewSummary:
    """One view: columns that share a partition of the rows.

    Attributes
    ----------
    number : int
    columns : list of str
        The columns; one of which only some parts are in the view is named with them, such as "day (trend)" or "fee
        (whether 0)".
    names : list of str
        Their names in the table.
    labels : ndarray of int, shape (n_rows,)
        Cluster of each row.
    clusters : list of ClusterSummary
        The largest clusters, the largest first.
    """

    number: int
    columns: list[str]
    names: list[str]
    labels: np.ndarray
    clusters: list[ClusterSummary]

    @property
    def n_clusters(self) -> int:
        """Number of all clusters of the view."""
        return int(self.labels.max()) + 1


def find_views(model: CrossCat, source: Source, most_views: int, most_clusters: int) -> list[ViewSummary]:
    """Summarise all views, and the largest clusters of the views of several columns.

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source
    most_views : int
        The most views whose clusters are summarised.
    most_clusters : int
        The most clusters of a view that are summarised.

    Returns
    -------
    list of ViewSummary
    """
    views, agreement = [], model.view_confidence_
    for number in range(model.n_views_):
        members = columns_of_view(model, number)
        labels, confidence = model.view_labels_[:, number], agreement[:, number]
        n_described = most_clusters if len(members) > 1 and number < most_views else 0
        largest = np.argsort(-np.bincount(labels), kind="stable")[:n_described]
        clusters = [
            ClusterSummary(
                int(k),
                np.flatnonzero(labels == k),
                float(confidence[labels == k].mean()),
                _traits(source, list(members), labels == k),
            )
            for k in largest
        ]
        columns = [name + (f" ({', '.join(parts)})" if parts else "") for name, parts in members.items()]
        views.append(ViewSummary(number, columns, list(members), labels, clusters))
    return views


def columns_of_view(model: CrossCat, number: int) -> dict[str, list[str]]:
    """The columns of a view, and what their parts in it are called: an empty list if all are in it.

    Parameters
    ----------
    model : CrossCat
    number : int
        Of the view.
    """
    is_in = model.column_labels_ == number
    names, parts = list(model.feature_types_), np.array(list(model.part_types_), object)
    members: dict[str, list[str]] = {}
    for j in np.unique(model.part_columns_[is_in]):
        of_column = model.part_columns_ == j
        own = [] if is_in[of_column].all() else parts[of_column & is_in].tolist()
        # The first part of a column with an indicator of its missing cells has the name of the column.
        own = [part for part in own if part != names[j]]
        split = model._table.columns[j].split
        if isinstance(split, AtomSplit):
            values = f"{split.atoms[0]:g}" if len(split.atoms) == 1 else "a frequent value, and which"
            words = dict(
                zip((part.name for part in split.parts), (f"whether {values}", "its other values"), strict=True)
            )
            members[names[j]] = [words[part] for part in own]
        else:
            members[names[j]] = [part.removeprefix(f"{names[j]} (").removesuffix(")") for part in own]
    # Functions of these columns, which are modelled by them, and by indicators of their own.
    for column in model._table.columns:
        if column.derivation is None:
            continue
        indicated = ["missing"] if column.name in members else []
        source = members.get(names[column.derivation.source])
        if source is not None:
            members[column.name] = [*source, *indicated] if source else []
        elif indicated:
            members[column.name] = indicated
    return members


def _traits(source: Source, members: list[str], inside: np.ndarray) -> list[Trait]:
    said_by_others = {column.name for column in source.modelled if column.is_function}
    found = [
        trait
        for name in members
        if name not in said_by_others
        for trait in [_trait(source.frame[name], source.feature_types[name], inside)]
        if trait is not None and abs(trait.difference) >= LEAST_DIFFERENCE
    ]
    return sorted(found, key=lambda trait: -abs(trait.difference))[:MOST_TRAITS]


def _trait(series, kind: str, inside: np.ndarray) -> Trait | None:
    """The difference of one column between the rows inside and the others; None if it cannot be computed."""
    seen = series.notna().to_numpy()
    here, elsewhere = seen & inside, seen & ~inside
    if not here.any() or not elsewhere.any():
        return None
    if kind in ("real", "count", "semicontinuous", "skewed"):
        values = series.to_numpy(np.float64, na_value=np.nan)
        one, other, spread = values[here].mean(), values[elsewhere].mean(), values[seen].std()
        if not spread > 0.0:
            return None
        texts = [brief(mean, decimals_of(one - other, DIGITS_OF_DIFFERENCE)) for mean in (one, other)]
        return Trait(f"{series.name} is {texts[0]} on average, elsewhere {texts[1]}", (one - other) / spread)
    if kind == "cyclic":
        # Its mean depends on the origin of the period.
        return None
    codes, categories = series.factorize()
    # The category whose share differs most, in standard deviations of its indicator.
    shares = [np.bincount(codes[rows], minlength=len(categories)) / rows.sum() for rows in (here, elsewhere, seen)]
    spread = np.sqrt(shares[2] * (1.0 - shares[2]))
    difference = np.divide(shares[0] - shares[1], spread, out=np.zeros(len(spread)), where=spread > 0.0)
    best = difference.argmax()
    text = f"{series.name} is {brief(categories[best])} in {shares[0][best]:.0%}, elsewhere in {shares[1][best]:.0%}"
    return Trait(text, float(difference[best]))
