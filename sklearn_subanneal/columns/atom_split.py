"""AtomSplit: a semicontinuous column that depends on joint reals, as two: which atom a cell is, and the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sklearn_subanneal.columns.categorical import Boolean, Categorical
from sklearn_subanneal.columns.few_levels import are_whole, few_levels, nearest_levels
from sklearn_subanneal.columns.joint_rests import Rest, joint_rests
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.semicontinuous import (
    Semicontinuous,
    atoms_of,
    is_skewed,
    mixed_moments,
    rest_of,
    sure_atoms,
)
from sklearn_subanneal.columns.skewed import Skewed
from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.column import Column, refuse_equal_names
from sklearn_subanneal.tables.schema import Table

# Code of the cells that are no atom; that of atom v is v + 1.
REST = 0
# Weight of an unseen category, of which there is none: the probabilities of the atoms and the rest are one altogether.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class AtomSplit:
    """The :class:`~sklearn_subanneal.tables.column.Split` of a semicontinuous column whose rest joins Gaussian blocks.

    The parts are "name (atom)", boolean, or categorical if there are several atoms, and "name (rest)", which is missing
    where the cell is an atom, and real, or skewed where :class:`Semicontinuous` would transform it. The rest joins the
    Gaussian blocks, and the density of a cell is as that of :class:`Semicontinuous`: the probability of the atom, or
    the probability of the rest times the density of a normal, perhaps transformed. The two parts may be in different
    views.

    Attributes
    ----------
    parts : tuple of Column
    params : dict of str to dict
    atoms : ndarray of shape (n_atoms,)
        Sorted.
    levels : ndarray or None
        The numbers of the column, if they are few and repeat: imputed cells are among these.
    whole : bool
        Whether they are whole numbers, as imputed cells are then.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.atom_split import AtomSplit
    >>> split = AtomSplit.of("x", np.array([0.0, 0.0, 0.0, 1.5, 2.5, np.nan]), {"atoms": 0.0})
    >>> [(part.name, part.kind) for part in split.parts]
    [('x (atom)', 'boolean'), ('x (rest)', 'real')]
    >>> codes, rest = split.separated(np.array([0.0, 1.5, np.nan]))
    >>> codes.tolist(), rest.tolist()
    ([1, 0, -1], [nan, 1.5, nan])
    """

    parts: tuple[Column, ...]
    params: dict[str, dict]
    atoms: np.ndarray
    levels: np.ndarray | None = None
    whole: bool = False

    named: ClassVar[tuple[str, str]] = ("atom", "rest")

    @classmethod
    def of(cls, name: str, cells: np.ndarray, given: dict) -> AtomSplit | None:
        """The split of a column with these training cells, float64; None if fewer than two values are no atoms.

        Raises
        ------
        ValueError
            If it has no atoms.
        """
        atoms = atoms_of(name, cells, given)
        numbers = rest_of(cells, atoms)
        if len(np.unique(numbers[~np.isnan(numbers)])) < 2:
            return None
        which, rest = (f"{name} ({part})" for part in cls.named)
        if len(atoms) == 1:
            part, params = Column(which, Boolean, np.array(Boolean.categories), "bool"), {}
        else:
            categories = np.array(["rest", *atoms.tolist()], dtype=object)
            part, params = Column(which, Categorical, categories, "object"), {which: {"unseen": NEGLIGIBLE}}
        skewed = is_skewed(numbers, given)
        number = Column(rest, Skewed if skewed else Real, revisable=skewed and "transform" not in given)
        return cls((part, number), params, atoms, few_levels(cells), are_whole(cells))

    def assigned(self, given: dict) -> dict[str, dict]:
        """Hyperparameters of the column by the parts to which they belong."""
        which, rest = self.parts
        own = {key: value for key, value in given.items() if key not in ("alpha", "atoms")}
        if unknown := own.keys() - Skewed.hyperparameters.keys():
            raise ValueError(
                f"feature_params or feature_grids gives {sorted(unknown)} to the semicontinuous columns; the "
                f"hyperparameters of such columns are {', '.join(Semicontinuous.hyperparameters)}"
            )
        if rest.kind == Real.kind:
            # The identity, which needs no saying.
            own.pop("transform", None)
        keys = ("alpha", "beta") if which.kind == "boolean" else ("alpha",)
        return {
            which.name: {key: given["alpha"] for key in keys if "alpha" in given},
            rest.name: own,
        }

    def separate(self, cells: Cells, unknown: list | None = None) -> list[np.ndarray]:
        return self.separated(cells.numbers(Semicontinuous, unknown))

    def separated(self, cells: np.ndarray) -> list[np.ndarray]:
        """Codes (-1 where missing), and the cells that are no atoms, from cells of float64."""
        place = np.searchsorted(self.atoms, cells).clip(max=len(self.atoms) - 1)
        is_atom = self.atoms[place] == cells
        codes = np.where(np.isnan(cells), -1, np.where(is_atom, place + 1, REST)).astype(self.parts[0].type.dtype)
        return [codes, np.where(is_atom, np.nan, cells)]

    def join(self, arrays, made, spreads) -> np.ndarray:
        codes, rest = arrays
        return np.where(codes > REST, self.atoms[np.maximum(codes, 1) - 1], np.where(codes < 0, np.nan, rest))

    def completed(
        self, filled: list[np.ndarray], spreads: list[np.ndarray], predict: Callable
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The mean, or in place of it what :meth:`Semicontinuous.imputed` gives, and the standard deviation."""
        shares, _ = predict(0, {})
        mean, spread = predict(1, {0: np.zeros(len(filled[0]), np.int32)})
        first, deviation = mixed_moments(shares, self.atoms, mean, spread)
        sure, first = sure_atoms(shares[:, 1:], self.levels), nearest_levels(first, self.levels, self.whole)
        return [np.where(sure < 0, REST, sure + 1).astype(np.int32), first], [deviation, deviation]


def split_atoms(table: Table, arrays: list[np.ndarray], given: dict) -> tuple[Table, list[np.ndarray]]:
    """A table of which those semicontinuous columns are split whose rests :func:`joint_rests` names; its typed columns.

    Parameters
    ----------
    table : Table
        As read, not split.
    arrays : list of ndarray of shape (n_rows,)
        Its typed columns.
    given : dict
        ``feature_params``, for the atoms and transformations that the user gives.

    Raises
    ------
    ValueError
        If a column has no atoms, the atoms given are no numbers, or a part has the name of another column.
    """
    splits, rests, reals = {}, {}, []
    for j, (column, at) in enumerate(zip(table.columns, table.places, strict=True)):
        cells = arrays[at[0]]
        if column.kind in (Real.kind, Skewed.kind):
            reals.append((cells, column.kind))
        elif column.kind == Semicontinuous.kind:
            split = AtomSplit.of(column.name, cells, _given_params(column, given))
            if split is not None:
                rest, n_cells = split.parts[1], np.count_nonzero(~np.isnan(cells))
                splits[j] = split
                rests[j] = Rest(split.separated(cells)[1], n_cells, rest.kind, rest.revisable)
    columns, out = list(table.columns), []
    for j, kind in joint_rests(rests, reals).items():
        which, rest = splits[j].parts
        rest = replace(rest, type=Skewed if kind == Skewed.kind else Real)
        columns[j] = replace(columns[j], split=replace(splits[j], parts=(which, rest)))
    for column, own, at in zip(columns, table.columns, table.places, strict=True):
        cells = [arrays[p] for p in at]
        is_split = column is not own
        out += [*column.split.separated(cells[0]), *cells[1:]] if is_split else cells
    refuse_equal_names(columns)
    return replace(table, columns=columns), out


def _given_params(column: Column, given: dict) -> dict:
    """Hyperparameters that the user gives to a semicontinuous column, those checked by which it is split."""
    params = {}
    for key in (column.kind, column.name):
        if isinstance(own := given.get(key, {}), dict):
            params |= own
            for name in ("atoms", "transform"):
                if name in own:
                    Semicontinuous.hyperparameters[name].check(key, name, own[name])
    return params
