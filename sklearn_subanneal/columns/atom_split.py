"""AtomSplit: a semicontinuous column beside joint reals, as two: which atom a cell is, and the real otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sklearn_subanneal.columns.categorical import Boolean, Categorical
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.semicontinuous import Semicontinuous, atoms_of, sure_atoms
from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.column import Column, refuse_equal_names
from sklearn_subanneal.tables.schema import Table

# Code of the cells that are no atom; that of atom v is v + 1.
REST = 0
# Weight of an unseen category, of which there is none: the probabilities of the atoms and the rest are one altogether.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class AtomSplit:
    """The :class:`~sklearn_subanneal.tables.column.Split` of a semicontinuous column.

    The parts are "name (atom)", boolean, or categorical if there are several atoms, and "name (rest)", real, which is
    missing where the cell is an atom. The rest joins the Gaussian blocks, and the density of a cell is as that of
    :class:`Semicontinuous`: the probability of the atom, or the probability of the rest times a normal density. The two
    parts may be in different views.

    Attributes
    ----------
    parts : tuple of Column
    params : dict of str to dict
    atoms : ndarray of shape (n_atoms,)
        Sorted.

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
        if len(np.unique(cells[~np.isnan(cells) & ~np.isin(cells, atoms)])) < 2:
            return None
        which, rest = (f"{name} ({part})" for part in cls.named)
        if len(atoms) == 1:
            part, params = Column(which, Boolean, np.array(Boolean.categories), "bool"), {}
        else:
            categories = np.array(["rest", *atoms.tolist()], dtype=object)
            part, params = Column(which, Categorical, categories, "object"), {which: {"unseen": NEGLIGIBLE}}
        return cls((part, Column(rest, Real)), params, atoms)

    def assigned(self, given: dict) -> dict[str, dict]:
        """Hyperparameters of the column by the parts to which they belong."""
        which, rest = self.parts
        own = {key: value for key, value in given.items() if key not in ("alpha", "atoms")}
        if unknown := own.keys() - Real.hyperparameters.keys():
            raise ValueError(
                f"feature_params or feature_grids gives {sorted(unknown)} to the semicontinuous columns; the "
                f"hyperparameters of such columns are {', '.join(Semicontinuous.hyperparameters)}"
            )
        keys = ("alpha", "beta") if which.kind == "boolean" else ("alpha",)
        return {
            which.name: {key: given["alpha"] for key in keys if "alpha" in given},
            rest.name: own,
        }

    def separate(self, cells: Cells) -> list[np.ndarray]:
        return self.separated(cells.numbers(Semicontinuous))

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
        """The mean and the standard deviation of each cell, or an atom in place of the mean if it is almost sure."""
        shares, _ = predict(0, {})
        mean, spread = predict(1, {0: np.zeros(len(filled[0]), np.int32)})
        values = np.column_stack([mean, np.broadcast_to(self.atoms, (len(mean), len(self.atoms)))])
        first = (shares * values).sum(axis=1)
        second = (shares * values**2).sum(axis=1) + shares[:, REST] * spread**2
        sure = sure_atoms(shares[:, 1:])
        deviation = np.sqrt(np.maximum(second - first**2, 0.0))
        return [np.where(sure < 0, REST, sure + 1).astype(np.int32), first], [deviation, deviation]


def split_atoms(table: Table, arrays: list[np.ndarray], given: dict) -> tuple[Table, list[np.ndarray]]:
    """A table whose semicontinuous columns are split, and its typed columns.

    Parameters
    ----------
    table : Table
        As read, not split.
    arrays : list of ndarray of shape (n_rows,)
        Its typed columns.
    given : dict
        ``feature_params``, for the atoms that the user gives.

    Raises
    ------
    ValueError
        If a column has no atoms, the atoms given are no numbers, or a part has the name of another column.
    """
    columns, out = list(table.columns), []
    for j, (column, at) in enumerate(zip(table.columns, table.places, strict=True)):
        own = [arrays[p] for p in at]
        if column.kind == Semicontinuous.kind:
            params = {}
            for key in (column.kind, column.name):
                if isinstance(own_params := given.get(key, {}), dict):
                    params |= own_params
                    if "atoms" in own_params:
                        Semicontinuous.hyperparameters["atoms"].check(key, "atoms", own_params["atoms"])
            split = AtomSplit.of(column.name, own[0], params)
            if split is not None:
                columns[j] = replace(column, split=split)
                own = [*split.separated(own[0]), *own[1:]]
        out += own
    refuse_equal_names(columns)
    return replace(table, columns=columns), out
