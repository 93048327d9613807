"""KeyFinding: the sentences with which a report begins, each with how sure it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.estimators._contradictions import LEVEL, Contradictions
from sklearn_subanneal.mixtures.stacking import LEAST_WEIGHT
from sklearn_subanneal.report.declared_type import CYCLIC
from sklearn_subanneal.report.pair_facts import p_text, pair_fact
from sklearn_subanneal.report.structure import disagree_on_rows
from sklearn_subanneal.report.wording import listed

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat
    from sklearn_subanneal.report.anomalies import Anomalies
    from sklearn_subanneal.report.clusters import ViewSummary
    from sklearn_subanneal.report.source import Source
    from sklearn_subanneal.report.structure import Pair, Structure
    from sklearn_subanneal.report.understated import Understated

#: How sure a finding is.
CERTAIN, LIKELY, DISPUTED = "certain", "likely", "disputed"
# Two columns are together for certain if they are in such a share of the draws of every chain, and likely if in this.
ALWAYS, MOSTLY = 0.95, 0.5
# Columns of which one tells less about the other do not depend on each other to speak of.
LEAST_STRENGTH = 0.1
# A p-value that is no evidence, of a single test.
HINT = 0.05
# Columns that are with another one in so few draws are taken as alone.
SELDOM = 0.2
# Agreement of the draws on a cluster.
SURE_OF_CLUSTER, FAIRLY_SURE = 0.9, 0.7
# Surprisal in nats of a cell that is worth a sentence: a hundred times less probable than usual. Beyond so many times
# the tails of the model decide, and the number says no more.
LEAST_SURPRISAL, MOST_TIMES = 4.6, 1e6
# A group has at least this share of the rows.
LARGE, ROW = 0.05, "row"
MOST_PAIRS, MOST_NAMES, MOST_SET_ASIDE = 2, 3, 8


@dataclass(frozen=True)
class KeyFinding:
    """A sentence.

    Attributes
    ----------
    text : str
    strength : {"certain", "likely", "disputed"}
    section : str
        The section of the page that says more.
    """

    text: str
    strength: str
    section: str


def find_key_findings(
    model: CrossCat,
    source: Source,
    views: list[ViewSummary],
    structure: Structure,
    contradictions: Contradictions,
    understated: list[Understated],
    anomalies: Anomalies,
) -> list[KeyFinding]:
    """Five to seven sentences on what matters most; fewer if there is less.

    A pair of columns depends on each other for certain if it does in nearly all draws of every chain that has weight,
    of which there are at least two, and if a test, which knows nothing of the model, confirms it at the level 0.001 for
    all pairs together. It is likely if they share a view in most draws of every chain, and the test has a p-value below
    0.05; otherwise it is disputed.

    Parameters
    ----------
    model : CrossCat
    source : Source
    views : list of ViewSummary
    structure : Structure
    contradictions : Contradictions
    understated : list of Understated
    anomalies : Anomalies

    Returns
    -------
    findings : list of KeyFinding
    """
    found = [
        *pair_findings(model, source, structure.pairs, contradictions),
        *_of_clusters(model, source, views),
        *_of_independent(model, contradictions),
        *_of_contradictions(contradictions),
        *_of_understated(understated),
        *_of_cells(source, anomalies),
        *_of_missing(source),
    ]
    return [*found[:6], _of_reading(source)]


def pair_findings(
    model: CrossCat, source: Source, pairs: list[Pair], contradictions: Contradictions
) -> list[KeyFinding]:
    """What the first pairs of columns are, and how sure it is that they depend on each other."""
    names, tests = list(model.feature_types_), contradictions.tests
    n_tests, found = max(len(names) * (len(names) - 1) // 2, 1), []
    cycles = {column.name: column for column in source.modelled if column.kind == CYCLIC}
    for pair in [pair for pair in pairs if pair.relatedness >= LEAST_STRENGTH][:MOST_PAIRS]:
        i, j = names.index(pair.one), names.index(pair.other)
        correlation = float(tests.correlations[i, j])
        fact = pair_fact(source.frame[pair.one], source.frame[pair.other], correlation, cycles)
        strength = _strength_of_pair(model, i, j)
        p_value = tests.p_values[i, j]
        if strength == CERTAIN and not p_value * n_tests < LEVEL:
            strength = LIKELY
        if strength == LIKELY and not p_value < HINT:
            # Correlated clusters hold any columns: to share a view is no evidence by itself.
            strength = DISPUTED
        strong = f"Strength {pair.relatedness:.2f} (0 none, 1 complete)"
        text = f"{pair.one} and {pair.other} depend on each other{fact}. {strong}"
        found.append(KeyFinding(f"{text}, in {pair.share:.0%} of the draws of the model.", strength, "dependence"))
    return found


def _strength_of_pair(model, i: int, j: int) -> str:
    shares = chain_shares(model, i, j)
    if len(shares) > 1 and shares.min() >= ALWAYS:
        return CERTAIN
    return LIKELY if shares.min() >= MOSTLY else DISPUTED


def chain_shares(model: CrossCat, i: int, j: int) -> np.ndarray:
    """Share of the draws of each chain that has weight in which two columns are in one view.

    Parameters
    ----------
    model : CrossCat
    i, j : int
        Indices of columns; of those of several parts, any part counts.

    Returns
    -------
    shares : ndarray of shape (n_chains_with_weight,)
    """
    labels = model.posterior_column_labels_[model.chain_weights_ >= LEAST_WEIGHT]
    places = model._table.places
    one, other = (labels[:, :, places[at]] for at in (i, j))
    return (one[:, :, :, None] == other[:, :, None, :]).any(axis=(2, 3)).mean(axis=1)


def _of_clusters(model, source, views) -> Iterator[KeyFinding]:
    described = [view for view in views if view.clusters and view.n_clusters > 1]
    if not described:
        return
    view, n_rows = described[0], len(source.frame)
    # Of small ones their number is seldom sure.
    large = [cluster for cluster in view.clusters if len(cluster.rows) >= LARGE * n_rows] or view.clusters[:1]
    n_others = n_rows - sum(len(cluster.rows) for cluster in large)
    traits = "; ".join(trait.text for trait in large[0].traits[:2])
    text = (
        f"By {listed(view.columns, MOST_NAMES)}, the rows form {counted(len(large), 'large group')}"
        f"{f' and smaller ones of {counted(n_others, ROW)} together' if n_others else ''}; the largest has "
        f"{counted(len(large[0].rows), ROW)} ({len(large[0].rows) / n_rows:.0%})" + (f": {traits}." if traits else ".")
    )
    sure = min(cluster.confidence for cluster in large)
    strength = LIKELY if sure >= FAIRLY_SURE else DISPUTED
    if sure >= SURE_OF_CLUSTER and not disagree_on_rows(model) and (model.chain_weights_ >= LEAST_WEIGHT).sum() > 1:
        strength = CERTAIN
    yield KeyFinding(text, strength, "clusters")


def _of_independent(model, contradictions) -> Iterator[KeyFinding]:
    names, dependence = list(model.feature_types_), model.dependence_.copy()
    if len(names) < 2:
        return
    np.fill_diagonal(dependence, 0.0)
    dependent = {name for pair in contradictions.pairs for name in (pair.one, pair.other)}
    shares = dict(zip(names, dependence.max(axis=1), strict=True))
    alone = [name for name, most in shares.items() if most <= SELDOM and name not in dependent]
    if alone:
        text = f"{listed(alone, MOST_NAMES)}: no dependence on any other column was found, by the model or by a test."
        # That nothing was found is no proof.
        yield KeyFinding(text, LIKELY, "dependence")


def _of_contradictions(contradictions) -> Iterator[KeyFinding]:
    if contradictions.pairs:
        pair, n_pairs = contradictions.pairs[0], len(contradictions.pairs)
        is_one = n_pairs == 1
        text = (
            f"Beyond the groups below, {counted(n_pairs, 'more pair')} of columns {'depends' if is_one else 'depend'} "
            f"on each other by a test{', ' if is_one else ', such as '}{pair.one} and {pair.other} "
            f"({p_text(pair.p_value)}): do not take them as independent."
        )
        yield KeyFinding(text, CERTAIN, "dependence")


def _of_understated(understated) -> Iterator[KeyFinding]:
    if understated:
        pair, n_more = understated[0], len(understated) - 1
        more = f"; likewise {counted(n_more, 'more pair')}" if n_more else ""
        text = (
            f"{pair.one} and {pair.other} depend on each other more strongly than the model says: strength "
            f"{pair.in_table:.2f} in the table, {pair.in_model:.2f} in the model{more}."
        )
        yield KeyFinding(text, CERTAIN, "dependence")


def _of_cells(source, anomalies) -> Iterator[KeyFinding]:
    odd = [cell for cell in anomalies.cells if cell.nats >= LEAST_SURPRISAL]
    if odd:
        cell = max(odd, key=lambda own: own.nats)
        times, n_rows = min(float(np.exp(cell.nats)), MOST_TIMES), len(source.frame)
        among = "" if anomalies.n_scored == n_rows else f" of {anomalies.n_scored:,} rows that were searched"
        text = (
            f"The most improbable cell{among} is {cell.column} in {source.row_names[cell.row]}: {cell.value}, where "
            f"{cell.expected} would be expected from the rest of the row; it is {'more than ' * (times >= MOST_TIMES)}"
            f"{float(f'{times:.1g}'):,.0f} times less probable than is usual in this column."
        )
        yield KeyFinding(text, LIKELY, "anomalies")


def _of_missing(source) -> Iterator[KeyFinding]:
    worst = max(source.modelled, key=lambda column: column.n_missing)
    n_missing, n_cells = sum(column.n_missing for column in source.modelled), source.X.size
    if n_missing:
        text = (
            f"In the modelled columns, {counted(n_missing, 'cell')} ({n_missing / n_cells:.1%}) are missing; the "
            f"column with most is {worst.name} ({worst.n_missing:,}, {worst.n_missing / len(source.frame):.0%}). "
            "All of these are imputed."
        )
        yield KeyFinding(text, CERTAIN, "missing")


def _of_reading(source) -> KeyFinding:
    aside, marked = source.set_aside, [column for column in source.columns if column.marks]
    n_rows = source.n_rows_of_file or len(source.frame)
    text = f"{counted(n_rows, 'row')} and {counted(len(source.columns), 'column')} were read"
    if source.step > 1:
        text += f"; {len(source.frame):,} evenly spaced rows were used, since the time limit is short"
    if aside:
        names = listed([column.name for column in aside], MOST_SET_ASIDE)
        text += f"; {counted(len(aside), 'column')} set aside: {names}"
    if functions := [column for column in source.modelled if column.is_function]:
        what = [f"{column.name} is {column.reason.removesuffix(', and modelled with it')}" for column in functions]
        text += f"; the model has once what is in several columns: {listed(what, MOST_SET_ASIDE)}"
    if marked:
        marks = [f"{mark!r} in {column.name}" for column in marked for mark in column.marks]
        text += f"; taken for missing: {listed(marks, MOST_SET_ASIDE)}"
    return KeyFinding(f"{text}.", CERTAIN, "columns")
