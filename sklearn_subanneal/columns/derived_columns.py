"""modelled_once: columns of a table that are one-to-one functions of one another are modelled by one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from sklearn_subanneal.columns.found_functions import FoundFunction, found_functions
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.derivation import Derivation
from sklearn_subanneal.tables.schema import Table

Revise = Callable[[Table, list[np.ndarray]], tuple[Table, list[np.ndarray]]]


def modelled_once(
    table: Table, arrays: list[np.ndarray], revise: Revise, given: Collection[str] = ()
) -> tuple[Table, list[np.ndarray]]:
    """A table that models columns which are one-to-one functions of one another, such as amount and logarithm, once.

    Their exact relation would take a view of its own, in which nothing else has a place. For what counts as a function
    see :func:`~sklearn_subanneal.columns.found_functions.found_functions`. Where the column that is modelled is
    missing, the others say its value.

    Parameters
    ----------
    table : Table
        As read, not split.
    arrays : list of ndarray of shape (n_rows,)
        The typed cells of its parts.
    revise : callable
        ``revise(table, arrays)`` revises the types of a table without such functions, and splits its columns.
    given : collection of str, default=()
        Columns, by name or by type, that are modelled whatever they are functions of.

    Returns
    -------
    table : Table
    arrays : list of ndarray of shape (n_rows,)
        The typed cells of its parts.
    """
    if not table.columns:
        # Documents.
        return revise(table, arrays)
    places = table.places
    named = {j for j, column in enumerate(table.columns) if not {column.name, column.kind}.isdisjoint(given)}
    found = found_functions(table.columns, [arrays[at[0]] for at in places], named)
    if not found:
        return revise(table, arrays)
    columns, arrays = list(table.columns), list(arrays)
    for _, how in sorted(found.items()):
        if not how.may_revise:
            columns[how.source] = replace(columns[how.source], revisable=False)
        arrays[places[how.source][0]] = _filled(columns[how.source], arrays[places[how.source][0]], how)
    kept = [j for j in range(len(columns)) if j not in found]
    core = replace(table, columns=[columns[j] for j in kept])
    core, modelled = revise(core, [arrays[p] for j in kept for p in places[j]])
    of_kept = dict(zip(kept, zip(core.columns, core.places, strict=True), strict=True))
    out = []
    for j, own in enumerate(columns):
        if j in found:
            columns[j] = _derived(own, of_kept[found[j].source][0], found[j])
            out += [arrays[places[j][-1]]] * (own.indicator is not None)
        else:
            columns[j], at = of_kept[j]
            out += [modelled[p] for p in at]
    return replace(table, columns=columns), out


def _filled(source: Column, cells: np.ndarray, how: FoundFunction) -> np.ndarray:
    """The typed cells of a source, its gaps filled by a column that is a function of it."""
    gaps = is_missing(cells) & ~is_missing(how.cells)
    if not gaps.any():
        return cells
    function = how.function(source)
    partners = function.backward(how.cells)
    return np.where(gaps & function.agrees(partners, how.cells), partners, cells).astype(cells.dtype)


def _derived(column: Column, source: Column, how: FoundFunction) -> Column:
    """A column that is a function of its source, as this is modelled."""
    function = how.function(source)
    kind, categories = column.type, column.categories
    if source.categories is None:
        kind, categories = Real, None
    elif how.values is not None:
        kind, categories = source.type, how.values
    return replace(
        column,
        type=kind,
        categories=categories,
        reason=f"{function.words} column {source.name!r}, and modelled with it",
        revisable=False,
        derivation=Derivation(how.source, function),
    )
