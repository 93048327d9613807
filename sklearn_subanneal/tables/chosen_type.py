"""The type of a column of a table, declared or by a rule, and the reason for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.spelling import Spelling

# Rules that give a column a type without declaring one, and the default of estimators: the rule of a column that a dict
# does not mention.
FROM_DTYPE, AUTO = "from_dtype", "auto"
DEFAULT_RULE = AUTO


class ChosenType(NamedTuple):
    """The type of one column.

    Attributes
    ----------
    kind : str
        The name of the type.
    reason : str
        One line in plain English.
    spelling : Spelling or None
        If the cells are strings that spell numbers, to be read as these numbers, how they do.
    warning : str or None
        Advice that the user should see, for example to drop the column.
    revisable : bool
        Whether the values of other columns may show that "real" suits better.
    """

    kind: str
    reason: str
    spelling: Spelling | None = None
    warning: str | None = None
    revisable: bool = False


def declared_types(feature_types, names: list[str], known: list[str], choose: Callable | None) -> list[str]:
    """The type of each column that ``feature_types`` declares, or the rule that decides.

    Parameters
    ----------
    feature_types : str, sequence of str or dict
        As of :func:`sklearn_subanneal.tables.schema.read_table`.
    names : list of str
        Of the columns.
    known : list of str
        The types that may be declared.
    choose : callable or None
        The choice of "auto"; None: that is no rule.

    Raises
    ------
    ValueError
        If ``feature_types`` is none of these, or does not suit the columns.
    """
    rules, default = ([FROM_DTYPE], FROM_DTYPE) if choose is None else ([AUTO, FROM_DTYPE], DEFAULT_RULE)
    if isinstance(feature_types, str) and feature_types in rules:
        return [feature_types] * len(names)
    kinds = ", ".join(map(repr, known))
    # An array without dimensions has an iterator that fails.
    is_scalar = isinstance(feature_types, str) or getattr(feature_types, "ndim", 1) == 0
    if is_scalar or not isinstance(feature_types, Iterable):
        raise ValueError(
            f"feature_types must be {' or '.join(map(repr, rules))}, a sequence of types or a dict from name or index "
            f"to type, got {feature_types!r}. Types are {kinds}."
        )
    if isinstance(feature_types, Mapping):
        unknown = [key for key in feature_types if key not in {*names, *range(len(names))}]
        if unknown:
            raise ValueError(
                f"feature_types names the unknown feature {unknown[0]!r}. Features are "
                f"{', '.join(map(repr, names))}, or the indices 0 to {len(names) - 1}."
            )
        declared = [feature_types.get(name, feature_types.get(j, default)) for j, name in enumerate(names)]
        given = feature_types.values()
    else:
        declared = given = list(feature_types)
        if len(declared) != len(names):
            raise ValueError(
                f"feature_types has {len(declared)} types, but X has {len(names)} features. Give one of {kinds} for "
                "each feature, or a dict of the features that shall not have their default type."
            )
    for kind in given:
        if not isinstance(kind, str) or kind not in [*known, *rules]:
            raise ValueError(f"feature_types holds the unknown type {kind!r}. Types are {kinds}.")
    return declared


def typed_by(given: str, cells: Cells, choose: Callable[[Cells], ChosenType] | None) -> ChosenType:
    """The type of a column that is declared, or has a rule; warns if the choice has advice."""
    if given == FROM_DTYPE:
        return ChosenType(cells.kind(), f"dtype {cells.dtype}")
    if given != AUTO:
        return ChosenType(given, "declared")
    chosen = choose(cells)
    if chosen.warning:
        warnings.warn(chosen.warning, UserWarning, stacklevel=3)
    return chosen
