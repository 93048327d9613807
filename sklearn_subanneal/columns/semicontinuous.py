"""Semicontinuous columns: each cell is one of a few atoms, or a real; zero-inflated amounts, capped measurements."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sklearn_subanneal.columns._cluster_parameters import SemicontinuousParameters
from sklearn_subanneal.columns._normal import NormalStatistics
from sklearn_subanneal.columns._semicontinuous import SemicontinuousData, SemicontinuousStatistics
from sklearn_subanneal.columns.atoms import find_atoms
from sklearn_subanneal.columns.categorical import ALPHA_GRID
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import Real, normal_prior
from sklearn_subanneal.columns.units import standard_units

# An atom of at least this probability is imputed in place of the mean. Of a variable that is an atom with probability
# p, the squared distance of the mean from the atom is at most (1 - p) / p of the variance: the root of the mean squared
# error is then at most 5.4 % above the least possible, and the imputed cell is one that the column has.
SURE = 0.9


@dataclass(frozen=True)
class Semicontinuous(Real):
    """A column of reals with atoms, values that many cells take exactly: amounts with many zeros, capped measurements.

    In a cluster, a cell is atom a with probability p_a, and otherwise normal. The probabilities of the atoms and of the
    rest have a symmetric Dirichlet prior with weight ``alpha`` each, the normal has the prior of :class:`Real`.

    **Densities are with respect to counting measure on the atoms plus Lebesgue measure**: the log score of a cell that
    is an atom is a log probability, which has no unit and is at most 0; that of another cell is a log density in the
    units of the data, its share included. Sums of the two depend on the unit through the cells of the rest alone;
    ``log_masses`` gives the part that is a probability.

    Atoms are found in the training data by :func:`find_atoms`, or given by ``feature_params``: ``"atoms"``, a number or
    a list. A column with a single value has that as its atom. Cells are compared with the atoms exactly, as float64,
    and ``sample`` gives atoms in the units of the data without rounding.

    Predictions are mean and standard deviation, atoms included. ``impute`` gives the mean; it gives an atom in place of
    it if its probability is at least 0.9.

    Attributes
    ----------
    atoms : ndarray of shape (n_atoms,)
        In the units of the data, sorted.
    """

    kind = "semicontinuous"
    hyperparameters = {
        "alpha": Hyperparameter(),
        **Real.hyperparameters,
        "atoms": Hyperparameter("finite", one_each=True, learned=False),
    }
    data_class, statistics_class = SemicontinuousData, SemicontinuousStatistics
    parameters_class = SemicontinuousParameters

    atoms: np.ndarray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        atoms = atoms_of(name, cells, given)
        rest = np.where(np.isin(cells, atoms), np.nan, cells)
        # The units are those of the rest; without any, those of the atoms.
        rest = cells if np.isnan(rest).all() else rest
        center, scale = standard_units(rest[:, None], learn, grids)
        own = {key: value for key, value in given.items() if key in Real.hyperparameters}
        start, axes = normal_prior(name, (rest - center[0]) / scale[0], center[0], scale[0], own, learn, grids)
        places = (atoms - center[0]) / scale[0]
        for v in range(1, len(places)):
            # Atoms that are next to one another compared with the scale stay apart.
            places[v] = max(places[v], np.nextafter(places[v - 1], np.inf))
        start = {"alpha": float(given.get("alpha", 1.0)), **start, "atoms": places}
        axes = {"alpha": ALPHA_GRID, **axes} if learn else {}
        return cls(name, sources, start, axes, center, scale, atoms=atoms)

    @property
    def places(self) -> np.ndarray:
        """The atoms in standard units."""
        return self.parameters["atoms"]

    def data(self, arrays):
        return self.kept_data(self.values(arrays)[:, 0])

    def kept_data(self, array):
        return SemicontinuousData(array, self.places)

    def values(self, arrays):
        cells, values = self._cells(arrays), super().values(arrays)
        for v, atom in enumerate(self.atoms):
            values[cells == atom] = self.places[v]
        # Rounding may bring another cell to the place of an atom, of which it is not: it goes to the next number.
        rest = ~np.isin(cells, self.atoms)
        while (taken := rest & np.isin(values, self.places)).any():
            values[taken] = np.nextafter(values[taken], np.inf)
        return values

    def restore(self, values):
        cells = super().restore(values)
        for v, atom in enumerate(self.atoms):
            cells[values == self.places[v]] = atom
        return cells

    def log_jacobian(self, values):
        is_density = ~np.isnan(values) & ~np.isin(values, self.places)
        return np.where(is_density, -np.log(self.scale), 0.0).sum(axis=1)

    def units(self, arrays):
        return self.log_jacobian(self.values(arrays))

    def report(self, parameters):
        return {"alpha": parameters["alpha"], **super().report(parameters), "atoms": self.atoms}

    def expectations(self, column, values, weights):
        """First moment and probabilities of the atoms; second moment."""
        first, second = super().expectations(column, values, weights)
        return np.column_stack([first, weights @ column.shares(weights.shape[1])[:, 1:]]), second

    def summary(self, first, second):
        return super().summary(first[:, :1], second)

    def imputed(self, value, first):
        """The mean, or an atom that is almost sure."""
        sure = sure_atoms(first[:, 1:])
        return np.where(sure[:, None] < 0, value, self.atoms[sure][:, None])

    def interval_probabilities(self, column, intervals, n_clusters):
        state, shares = column.get_state(n_clusters), column.shares(n_clusters)
        rest = NormalStatistics(None, state["parameters"])
        rest.set_state(state)
        out = shares[:, 0] * super().interval_probabilities(rest, intervals, n_clusters)
        return out + np.array([own.contains(self.atoms) for own in intervals]) @ shares[:, 1:].T

    def log_masses(self, column, values, n_clusters):
        return column.log_masses(values, n_clusters)


def sure_atoms(probabilities: np.ndarray) -> np.ndarray:
    """Which atom is almost sure, given the probabilities (n_rows, n_atoms) of all; -1 where none is."""
    best = probabilities.argmax(axis=1)
    return np.where(np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0] >= SURE, best, -1)


def atoms_of(name: str, cells: np.ndarray, given: dict) -> np.ndarray:
    """The atoms of a column, sorted: those that the user gives, or those of its training cells.

    Raises
    ------
    ValueError
        If there are none.
    """
    if "atoms" in given:
        atoms = np.unique(np.atleast_1d(np.asarray(given["atoms"], np.float64)))
        remedy = "give at least one"
    else:
        atoms, values = find_atoms(cells), np.unique(cells[~np.isnan(cells)])
        atoms = values if len(values) == 1 else atoms
        remedy = (
            "no value is that of more than 1 % of the rows, and of more than 20, while most others hardly repeat. "
            f"Give the atoms by feature_params[{name!r}]['atoms'], or declare the column 'real' (or 'categorical', if "
            "it has few values) in feature_types"
        )
    if not len(atoms):
        raise ValueError(f"Column {name!r} is semicontinuous but has no atoms: {remedy}.")
    return atoms
