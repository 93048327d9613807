"""Semicontinuous columns: each cell is one of a few atoms, or a real; zero-inflated amounts, capped measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_subanneal.columns._cluster_parameters import SemicontinuousParameters
from sklearn_subanneal.columns._normal import NormalStatistics
from sklearn_subanneal.columns._semicontinuous import SemicontinuousData, SemicontinuousStatistics
from sklearn_subanneal.columns.atoms import find_atoms, single_atom
from sklearn_subanneal.columns.categorical import ALPHA_GRID
from sklearn_subanneal.columns.cell_ranges import limits_of_drawn, standard_limits
from sklearn_subanneal.columns.few_levels import are_whole, few_levels
from sklearn_subanneal.columns.number_values import NumberValues
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.skewed import Skewed, checked_transform, median_and_spread, points_between
from sklearn_subanneal.columns.t_boxes import t_interval_probabilities
from sklearn_subanneal.columns.transforms import IDENTITY
from sklearn_subanneal.columns.type_choice import LEAST_EVIDENCE, LEAST_GAIN
from sklearn_subanneal.columns.type_evidence import TypeEvidence

# An atom of at least this probability is imputed in place of the mean. Of a variable that is an atom with probability
# p, the squared distance of the mean from the atom is at most (1 - p) / p of the variance: the root of the mean squared
# error is then at most 5.4 % above the least possible, and the imputed cell is one that the column has.
SURE = 0.9
# The mean of a column of few numbers is none of them, and the atom need not be as sure.
PROBABLE = 0.5
# Of the first atom that a logarithm does not take.
FIRST_PLACE = -1e6


@dataclass(frozen=True)
class Semicontinuous(Real):
    """A column of reals with atoms, values that many cells take exactly: amounts with many zeros, capped measurements.

    In a cluster, a cell is atom a with probability p_a, and otherwise one of the rest, which is normal, or normal after
    a transformation. The probabilities of the atoms and of the rest have a symmetric Dirichlet prior with weight
    ``alpha`` each, the normal has the prior of :class:`Real`.

    The rest is transformed as a column of type :class:`Skewed` is, if that has clearly more evidence than "real", for
    one cluster or for two (:func:`is_skewed`). ``feature_params`` may decide it: ``"transform"`` is "identity", "log"
    or "yeo-johnson". "mu" and "sigma2" are in the units of the transformed data.

    **Densities are with respect to counting measure on the atoms plus Lebesgue measure**: the log score of a cell that
    is an atom is a log probability, which has no unit and is at most 0; that of another cell is a log density in the
    units of the data, its share included. Sums of the two depend on the unit through the cells of the rest alone;
    ``log_masses`` gives the part that is a probability.

    Atoms are found in the training data by :func:`find_atoms`, or given by ``feature_params``: ``"atoms"``, a number or
    a list. Where none is found, the most frequent value is the atom, if at least three cells have it, and twice as many
    as any other value. A column with a single value has that as its atom. If the rows of a stream come to have none,
    the atoms stay those that they had. Cells are compared with the atoms exactly, as float64, and ``sample`` gives
    atoms in the units of the data without rounding.

    Predictions are mean and standard deviation, atoms included. Of a transformed rest, whose mean may be infinite, the
    median takes the place of the mean, and half the distance between the quantiles 0.159 and 0.841 that of the standard
    deviation. ``impute`` gives the mean; it gives an atom in place of it if its probability is at least 0.9. Of
    at most 20 numbers that repeat it gives an atom with a probability of 0.5, or else the number nearest to the mean.

    Attributes
    ----------
    atoms : ndarray of shape (n_atoms,)
        In the units of the data, sorted.
    points : ndarray of shape (n_points,)
        Where distribution functions of a transformed rest are averaged, in standard units.
    """

    kind = "semicontinuous"
    hyperparameters = {
        "alpha": Hyperparameter(),
        **Real.hyperparameters,
        "atoms": Hyperparameter("finite", one_each=True, learned=False),
        "transform": Skewed.hyperparameters["transform"],
    }
    data_class, statistics_class = SemicontinuousData, SemicontinuousStatistics
    parameters_class = SemicontinuousParameters

    atoms: np.ndarray = field(default_factory=lambda: np.empty(0))
    points: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def has_moments(self) -> bool:
        """Whether a cell has a mean and a variance: after a transformation they may be infinite."""
        return self.transform == IDENTITY

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        atoms = atoms_of(name, cells, given)
        transform, rest = _transform_of(name, rest_of(cells, atoms), given), _measured_by(cells, atoms)
        own = {key: value for key, value in given.items() if key in Real.hyperparameters}
        model = cls._bound(name, sources, rest, own, learn, grids, transform)
        start = {"alpha": float(given.get("alpha", 1.0)), **model.parameters, "atoms": model._places_of(atoms)}
        axes = {"alpha": ALPHA_GRID, **model.grids} if learn else {}
        points = model.points if model.has_moments else points_between(model._standard(rest))
        found = {"levels": (few_levels(cells),), "whole": (are_whole(cells),)}
        # Of a column that is always the same, nothing else is drawn: of the rest only the prior is known.
        values = np.unique(cells[~np.isnan(cells)])
        found["drawn_between"] = np.tile(values, (2, 1)) if len(values) == 1 else limits_of_drawn(cells)
        return replace(model, parameters=start, grids=axes, atoms=atoms, points=points, **found)

    def with_grids(self, given, cells):
        return super().with_grids(given, _measured_by(cells, self.atoms))

    def _standard(self, rest: np.ndarray) -> np.ndarray:
        return (self.transform.forward(rest) - self.center[0]) / self.scale[0]

    def _places_of(self, atoms):
        """Numbers that stand for the atoms in standard units: any, but different from one another."""
        has_place = atoms > self.transform.lowest
        places = np.empty(len(atoms))
        places[has_place] = self._standard(atoms[has_place])
        # The logarithm has no place for these, which are the first.
        places[~has_place] = FIRST_PLACE + np.arange(np.count_nonzero(~has_place))
        for v in range(1, len(places)):
            # Atoms that are next to one another compared with the scale stay apart.
            places[v] = max(places[v], np.nextafter(places[v - 1], np.inf))
        return places

    @property
    def places(self) -> np.ndarray:
        """The atoms in standard units."""
        return self.parameters["atoms"]

    def data(self, arrays):
        return self.kept_data(self.values(arrays)[:, 0])

    def kept_data(self, array):
        return SemicontinuousData(array, self.places)

    def values(self, arrays):
        cells = self._cells(arrays)
        values = super().values([rest_of(cells[:, 0], self.atoms)] * (self.sources[0] + 1))
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
        slope = self.transform.log_slope(values * self.scale + self.center) - np.log(self.scale)
        return np.where(is_density, slope, 0.0).sum(axis=1)

    def units(self, arrays):
        return self.log_jacobian(self.values(arrays))

    def report(self, parameters):
        return {"alpha": parameters["alpha"], **super().report(parameters), "atoms": self.atoms}

    def cluster_expectations(self, column, n_clusters):
        """First moment and probabilities of the atoms; second moment.

        Of a transformed rest, in place of the moments: the probabilities that a cell is one of the rest and at most
        each of the ``points``.
        """
        shares = column.shares(n_clusters)
        if self.has_moments:
            first, second = super().cluster_expectations(column, n_clusters)
        else:
            first, second = shares[:, :1] * self._rest(column, n_clusters).cumulative(self.points, n_clusters), None
        return np.column_stack([first, shares[:, 1:]]), second

    def summary(self, first, second):
        if self.has_moments:
            return super().summary(first[:, :1], second)
        atoms = first[:, -len(self.atoms) :]
        shares = np.column_stack([1.0 - atoms.sum(axis=1), atoms])
        # The last point is so far that no cell is beyond it.
        median, spread = median_and_spread(self, first[:, : len(self.points)] / first[:, len(self.points) - 1, None])
        value, deviation = mixed_moments(shares, self.atoms, median[:, 0], spread[:, 0])
        return value[:, None], deviation[:, None]

    def imputed(self, value, first):
        """The mean, or an atom that is almost sure; of few numbers the nearest, or an atom that is probable."""
        sure = sure_atoms(first[:, -len(self.atoms) :], next(iter(self.levels), None))
        return np.where(sure[:, None] < 0, super().imputed(value, first), self.atoms[sure][:, None])

    def interval_probabilities(self, column, intervals, n_clusters):
        shares, rest = column.shares(n_clusters), self._rest(column, n_clusters)
        out = shares[:, 0] * super().interval_probabilities(rest, intervals, n_clusters)
        return out + np.array([own.contains(self.atoms) for own in intervals]) @ shares[:, 1:].T

    def draws_between(self, column, slots, generator):
        n_clusters = int(slots.max()) + 1
        rest, shares = self._rest(column, n_clusters), column.shares(n_clusters)[slots]
        low, high = standard_limits(self.drawn_between, self.transform, self.center, self.scale)
        shares[:, 0] *= t_interval_probabilities(*self._t_in_slots(rest, slots), low, high)
        shares[:, 1:] *= (self.atoms >= self.drawn_between[0]) & (self.atoms <= self.drawn_between[1])
        ends = shares.cumsum(axis=1)
        chosen = (ends <= generator.random((len(slots), 1)) * ends[:, -1:]).sum(axis=1)
        # Where a single value is left, and is none of the atoms, all shares are 0.
        atom = np.where(chosen < shares.shape[1], chosen, 0) - 1
        drawn = super().draws_between(rest, slots, generator)
        return np.where(atom[:, None] < 0, drawn, self.places[atom][:, None])

    def _rest(self, column, n_clusters):
        """The statistics of the rest alone."""
        state = column.get_state(n_clusters)
        rest = NormalStatistics(None, state["parameters"])
        rest.set_state(state)
        return rest

    def log_masses(self, column, values, n_clusters):
        return column.log_masses(values, n_clusters)


def sure_atoms(probabilities: np.ndarray, levels: np.ndarray | None) -> np.ndarray:
    """Which atom is imputed, given the probabilities (n_rows, n_atoms) of all: an almost sure one; -1 where none is.

    In a column of few ``levels`` it is one that is more probable than not.
    """
    best = probabilities.argmax(axis=1)
    least = SURE if levels is None else PROBABLE
    return np.where(np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0] >= least, best, -1)


def mixed_moments(
    shares: np.ndarray, atoms: np.ndarray, mean: np.ndarray, deviation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (n_rows,) of atoms and the rest together.

    ``shares`` are the probabilities (n_rows, 1 + n_atoms) of the rest and of each atom; ``mean`` and ``deviation`` are
    those of the rest.
    """
    values = np.column_stack([mean, np.broadcast_to(atoms, (len(mean), len(atoms)))])
    first = (shares * values).sum(axis=1)
    # Around the mean itself: a difference of squares would cancel where the column has an offset. Squares of cells in
    # huge or tiny units are none of floating point.
    roots = np.sqrt(np.maximum(shares, 0.0))
    parts = np.column_stack([roots * (values - first[:, None]), roots[:, 0] * deviation])
    return first, np.hypot.reduce(parts, axis=1)


def rest_of(cells: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """The cells that are no atoms; NaN in place of the atoms."""
    return np.where(np.isin(cells, atoms), np.nan, cells)


def is_skewed(rest: np.ndarray, given: dict) -> bool:
    """Whether the cells that are no atoms are modelled after a transformation, NaN being a missing cell.

    If ``given`` has no "transform", the evidence decides, as it does between the types "real" and "skewed".
    """
    if "transform" in given:
        return given["transform"] != IDENTITY.name
    evidence = TypeEvidence(NumberValues.of(rest))
    least = max(LEAST_EVIDENCE, LEAST_GAIN * evidence.numbers.n_cells)
    if len(evidence.numbers.values) < 2 or evidence.skewed - evidence.real <= least:
        return False
    # A mixture of two clusters is skewed, though they are not, unless these are skewed, too.
    gains = evidence.skewed - evidence.two_normals, evidence.two_skewed - evidence.two_normals
    return bool(gains[0] > LEAST_EVIDENCE or gains[1] > least)


def _measured_by(cells, atoms):
    """The cells by whose scale a column is measured: the rest, or without any, the atoms."""
    rest = rest_of(cells, atoms)
    return cells if np.isnan(rest).all() else rest


def _transform_of(name, rest, given):
    if np.isnan(rest).all() or not is_skewed(rest, given):
        return IDENTITY
    return checked_transform(name, rest, given.get("transform"))


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
        atoms = _found_atoms(cells)
        remedy = (
            "no value is that of three rows, and at least twice as frequent as any other. "
            f"Give the atoms by feature_params[{name!r}]['atoms'], or declare the column 'real' (or 'categorical', if "
            "it has few values) in feature_types"
        )
    if not len(atoms):
        raise ValueError(f"Column {name!r} is semicontinuous but has no atoms: {remedy}.")
    return atoms


def _found_atoms(cells: np.ndarray) -> np.ndarray:
    values, atoms = np.unique(cells[~np.isnan(cells)]), find_atoms(cells)
    return values if len(values) == 1 else atoms if len(atoms) else single_atom(cells)


def with_former_atoms(given: dict, cells: np.ndarray, former: Sequence[float]) -> dict:
    """Hyperparameters that the user gives to a column; with the atoms that it had, if its cells have none any more.

    The type of a column in a stream is that of the first rows: a number that they all have may be one of many later.
    """
    if not former or "atoms" in given or len(_found_atoms(cells)):
        return given
    return {**given, "atoms": list(former)}
