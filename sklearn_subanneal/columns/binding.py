"""bind_columns: the models of the columns of a table, by the registry of all types; checks of `feature_params`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sklearn_subanneal.columns.bag_of_words import BagOfWords
from sklearn_subanneal.columns.categorical import Boolean, Categorical
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.column_transforms import ColumnTransforms
from sklearn_subanneal.columns.count import Count
from sklearn_subanneal.columns.cyclic import Cyclic
from sklearn_subanneal.columns.gaussian import Gaussian
from sklearn_subanneal.columns.joint_real import JOINT, bind_joint_reals, require_common_grids
from sklearn_subanneal.columns.ordinal import Ordinal
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.semicontinuous import Semicontinuous, with_former_atoms
from sklearn_subanneal.columns.skewed import Skewed, checked_transform
from sklearn_subanneal.columns.transforms import IDENTITY
from sklearn_subanneal.tables.cell_type import CellType
from sklearn_subanneal.tables.column import grids_of_parts, params_of_parts
from sklearn_subanneal.tables.datetimes import Datetime
from sklearn_subanneal.tables.documents import Documents
from sklearn_subanneal.tables.schema import Table

# All types of modelled columns, by name.
KINDS: dict[str, type[ColumnModel]] = {
    model.kind: model
    for model in (Real, Categorical, Boolean, Count, Cyclic, Ordinal, Semicontinuous, Skewed, Gaussian, BagOfWords)
}
# The same with the types that are modelled by columns of these types.
TYPES: dict[str, CellType] = {**KINDS, Datetime.kind: Datetime}
# Types that ``feature_types`` may name.
DECLARED = tuple(kind for kind, cells in TYPES.items() if cells.declared)


def bind_columns(
    names: list[str],
    kinds: list[str],
    n_categories: list[int],
    arrays: list[np.ndarray],
    *,
    covariance_type: str = "diag",
    in_views: bool = False,
    feature_params: dict | None = None,
    learn: bool = True,
    grids: str = "data",
    feature_grids: dict | None = None,
    former_atoms: dict[str, tuple] | None = None,
) -> list[ColumnModel]:
    """The column models of a table.

    Parameters
    ----------
    names, kinds : list of str
        Of each column.
    n_categories : list of int
        Of each column; used where the kind is "categorical" or "ordinal".
    arrays : list of ndarray
        Typed columns: reals float64 with NaN, codes and counts as integers with -1 for a missing cell.
    covariance_type : {"diag", "full"}
        "full": the real and skewed columns, all or those of each view, are one block.
    in_views : bool
        Whether the columns are those of a cross-categorization: each has a model of its own then.
    feature_params : dict or None
        Hyperparameters to fix or to start from, by type or by name of a column; the name wins.
    learn : bool
        Give the models grids. Without, nothing is standardised but for the arithmetic.
    grids : {"data", "fixed"}
        Grids in units of the training data, or absolute ones.
    feature_grids : dict or None
        Grids in place of these, by type or by name of a column; the name wins.
    former_atoms : dict of str to tuple of float, or None
        Atoms that semicontinuous columns had in earlier rows of a stream, by name; empty before the first rows.

    Returns
    -------
    models : list of ColumnModel
    """
    form = "diag" if in_views else covariance_type
    given = checked_params(feature_params, names, kinds, form)
    own_grids = checked_grids(feature_grids, names, kinds, form)
    block = () if covariance_type == "diag" else tuple(j for j, kind in enumerate(kinds) if kind in JOINT)
    cells = np.column_stack([arrays[j] for j in block]) if block else None
    if block and in_views:
        own = [{**given.get(kinds[j], {}), **given.get(names[j], {})} for j in block]
        named = [names[j] for j in block], [kinds[j] for j in block]
        joint = bind_joint_reals(*named, block, cells, own, learn=learn, grids=grids)
    models = []
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if j not in block:
            chosen = {**given.get(kind, {}), **given.get(name, {})}
            chosen = with_former_atoms(chosen, arrays[j], (former_atoms or {}).get(name, ()))
            bind, n = KINDS[kind].bind, n_categories[j]
            model = bind(name, (j,), arrays[j], chosen, n_categories=n, learn=learn, grids=grids)
            models.append(model)
        elif in_views:
            models.append(joint[block.index(j)])
    if not in_views:
        models = _with_wide_clusters(models, given)
    if block and not in_views:
        chosen, each = given.get("gaussian", {}), []
        for j in block:
            wanted = {**given.get(kinds[j], {}), **given.get(names[j], {})}.get("transform")
            each.append(checked_transform(names[j], arrays[j], wanted) if kinds[j] == Skewed.kind else IDENTITY)
        transform = ColumnTransforms.of([names[j] for j in block], each)
        settings = {"n_categories": 0, "learn": learn, "grids": grids, "transform": transform}
        models.append(Gaussian.bind("gaussian", block, cells, chosen, **settings))
    models = [
        model.with_grids(
            {**own_grids.get(model.kind, {}), **own_grids.get(model.name, {})} if learn else {},
            arrays[model.sources[0]] if model.single else cells,
        )
        for model in models
    ]
    require_common_grids([model for model in models if model.joint])
    return models


def _with_wide_clusters(models: list[ColumnModel], given: dict[str, dict]) -> list[ColumnModel]:
    """Models of columns that share the clusters, of which the reals start with wide ones."""
    n_reals = sum(isinstance(model, Real) for model in models)
    return [
        model.with_wide_clusters({**given.get(model.kind, {}), **given.get(model.name, {})}, n_reals)
        if isinstance(model, Real)
        else model
        for model in models
    ]


def bind_table(
    table: Table,
    arrays: list[np.ndarray],
    *,
    feature_params: dict | None = None,
    feature_grids: dict | None = None,
    **settings,
) -> list[ColumnModel]:
    """The models of the parts of the columns of a table; see :func:`bind_columns` for the other arguments.

    What is given for a column without a value suits the type that it would have.
    """
    parts, empty = table.parts, {column.name for column in table.columns if column.is_empty}
    feature_params, feature_grids = (
        given and {name: own for name, own in given.items() if name not in empty}
        for given in (feature_params, feature_grids)
    )
    return bind_columns(
        [part.name for part in parts],
        [part.kind for part in parts],
        [0 if part.categories is None else len(part.categories) for part in parts],
        arrays,
        feature_params=params_of_parts(table.columns, feature_params),
        feature_grids=grids_of_parts(table.columns, feature_grids),
        former_atoms={part.name: part.points for part in parts if part.kind == Semicontinuous.kind},
        **settings,
    )


def bind_bags(
    n_words: int,
    bags: Documents | None = None,
    *,
    feature_params: dict | None = None,
    learn: bool = True,
    feature_grids: dict | None = None,
) -> list[ColumnModel]:
    """The model of a table of documents: its only column are the bags of words.

    Parameters
    ----------
    n_words : int
        Length of the vocabulary.
    bags : Documents or None
        From which base measure and repetitions are estimated; None: words have equal weights.
    feature_params : dict or None
        {"bag-of-words": {"beta": value}}: the hyperparameter to fix or to start from; also "base" and "repeats".
    learn : bool
        Whether it is learned.
    feature_grids : dict or None
        {"bag-of-words": {"beta": values}}: its grid.

    Returns
    -------
    models : list of one ColumnModel
    """
    kind = BagOfWords.kind
    given = checked_params(feature_params, [kind], [kind], "diag").get(kind, {})
    wanted = checked_grids(feature_grids, [kind], [kind], "diag").get(kind, {})
    model = BagOfWords.bind(kind, (0,), bags, given, n_categories=n_words, learn=learn, grids="data")
    return [model.with_grids(wanted, None) if learn and wanted else model]


def checked_params(
    feature_params: dict | None, names: list[str], kinds: list[str], covariance_type: str
) -> dict[str, dict]:
    """``feature_params`` with every key and value checked."""
    for key, name, value, domain in _entries("feature_params", feature_params, names, kinds, covariance_type):
        domain.check(key, name, value)
    return feature_params or {}


def checked_grids(
    feature_grids: dict | None, names: list[str], kinds: list[str], covariance_type: str
) -> dict[str, dict]:
    """``feature_grids`` with every key and value checked."""
    for key, name, values, domain in _entries("feature_grids", feature_grids, names, kinds, covariance_type):
        domain.check_grid(key, name, values)
    return feature_grids or {}


def _entries(
    parameter: str, given: dict | None, names: list[str], kinds: list[str], covariance_type: str
) -> Iterator[tuple[str, str, Any, Hyperparameter]]:
    """(key, name, value, domain) of each entry of ``feature_params`` or ``feature_grids``, whose keys are checked."""
    present = set(kinds)
    if covariance_type == "full" and not present.isdisjoint(JOINT):
        present = (present - {"real"}) | {"gaussian"}
    kind_of = dict(zip(names, kinds, strict=True))
    for key, values in (given or {}).items():
        kind = key if key in KINDS else kind_of.get(key)
        if kind is None:
            raise ValueError(
                f"{parameter} has the key {key!r}, which is neither a column nor one of {sorted(KINDS)}; remove it, or "
                "correct its name"
            )
        of_block = covariance_type == "full" and kind in JOINT
        # The transformation of a skewed column is its own.
        if of_block and not (kind == Skewed.kind and isinstance(values, dict) and set(values) == {"transform"}):
            raise ValueError(
                f"{parameter} has the key {key!r}, but with covariance_type='full' the real and skewed columns are one "
                "block; use the key 'gaussian'"
            )
        if key in KINDS and key not in present:
            raise ValueError(f"{parameter} has the key {key!r}, but the table has no such columns; leave it out")
        domains = KINDS[kind].hyperparameters
        known = {n: own for n, own in domains.items() if (own.given if parameter == "feature_params" else own.learned)}
        if not isinstance(values, dict) or (unknown := set(values) - set(known)):
            detail = f"unknown: {sorted(unknown)}" if isinstance(values, dict) else f"got {values!r}"
            if isinstance(values, dict) and unknown & set(domains):
                other = "feature_params" if parameter == "feature_grids" else "feature_grids"
                detail += f"; {sorted(unknown & set(domains))} can be given by {other} alone"
            raise ValueError(f"{parameter}[{key!r}] must be a dict with keys among {tuple(known)}; {detail}")
        for name, value in values.items():
            yield key, name, value, known[name]
