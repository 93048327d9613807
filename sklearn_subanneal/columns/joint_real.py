"""JointReal: columns of reals that form a Gaussian block with others of their view; the rule of "auto" covariance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_subanneal.columns._normal import NormalData
from sklearn_subanneal.columns._reals import RealTable
from sklearn_subanneal.columns.cell_ranges import cell_range, limits_of_missing, restored_moments, standard_limits
from sklearn_subanneal.columns.gaussian import MOST_DISTANCE, Gaussian, draw_vectors
from sklearn_subanneal.columns.parameters import draw_on_grid
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.skewed import Skewed
from sklearn_subanneal.columns.tied_values import TiedValues, spread_ties
from sklearn_subanneal.columns.units import check_reach

# Up to so many columns, and products of two cells of a row in all rows, full covariance is the default.
MOST_JOINT_REALS, MOST_PRODUCTS = 128, 1e8
# In blocks of more columns, each cluster costs much: what has many clusters, or many chains, is left out.
WIDE_BLOCK = 64


@dataclass(frozen=True)
class JointReal(Real):
    """A real column of a cross-categorization with full covariance.

    In a view with the joint reals B, a cluster's mean and covariance follow a normal-inverse-Wishart prior with the
    scale matrix psi_ij = nu sqrt(sigma2_i sigma2_j) R_ij and nu + |B| - 1 degrees of freedom: the prior of fewer
    columns is then the marginal of that of more columns, and a single column is a `Real`. `kappa` and `nu` belong to
    the view, `mu` and `sigma2` to the column, and so does a vector from which the correlations R follow
    (`correlation_of`). Where values repeat, the ``transform`` is that of :class:`TiedValues`, and training cells are
    jittered (`modelled_cells`).

    Attributes
    ----------
    vector : ndarray of shape (n_coordinates,)
        At the start of a chain.
    n_shared : int
        Number of coordinates that columns share; 0: no correlations, and none are learned.
    spread : float
        Standard deviation of the other coordinates.
    low, high : float
        Range of the training cells, in standard units of the transformed data; at least one unit wide.
    """

    joint = True

    vector: np.ndarray = field(default_factory=lambda: np.ones(1))
    n_shared: int = 0
    spread: float = 1.0
    low: float = -np.inf
    high: float = np.inf

    def limits_of_means(self, far):
        if far:
            return standard_limits(self.drawn_between, self.transform, self.center, self.scale)
        return np.array([[self.low], [self.high]])

    def with_grids(self, given, cells):
        model = super().with_grids(given, cells)
        if given:
            z, grids = (self.transform.forward(cells) - self.center[0]) / self.scale[0], model.grids
            # Of a grid that is not given, chains choose what suits the others.
            widths = (grids[key].min() if key in given else grids[key].max() for key in ("sigma2", "nu"))
            _check_block_reach(self.name, z, np.abs(grids["mu"]).max(), *widths)
            _check_block_reach(self.name, z, *(model.parameters[key] for key in ("mu", "sigma2", "nu")))
        return model

    def summary(self, first, second):
        return restored_moments(self.restore, first, second)

    def typed(self, values):
        (cells,) = super().typed(values)
        if isinstance(self.transform, TiedValues):
            cells = self.transform.snapped(values[:, 0] * self.scale[0] + self.center[0], cells)
        return [cells]

    def _ends(self, intervals):
        out = super()._ends(intervals)
        if isinstance(self.transform, TiedValues):
            for i, own in enumerate(intervals):
                # A tied value is in an interval with the whole image of its own one, or not at all.
                ends = (
                    self.transform.image_end(own.low, own.has_low),
                    self.transform.image_end(own.high, not own.has_high),
                )
                for side, end in enumerate(ends):
                    if end is not None:
                        out[side, i] = (end - self.center[0]) / self.scale[0]
        return out

    def jittered(self, arrays: list[np.ndarray], generator: np.random.Generator) -> np.ndarray:
        """Training cells in standard units, (n_rows, 1), tied ones spaced evenly over their intervals."""
        values = self.values(arrays)
        if isinstance(self.transform, TiedValues):
            spread = self.transform.jittered(values[:, 0] * self.scale[0] + self.center[0], generator)
            return ((spread - self.center) / self.scale)[:, None]
        return values

    def left_out_log_jacobian(self, values):
        out = self.log_jacobian(values)
        if isinstance(self.transform, TiedValues):
            losses = self.transform.left_out_loss(values * self.scale + self.center)
            out = out + np.where(np.isnan(values), 0.0, losses).sum(axis=1)
        return out

    def units(self, arrays):
        # Missing cells are part of the state, and so of its density: in the units of the transformed data.
        slope = self.transform.log_slope(self.transform.forward(arrays[self.sources[0]]))
        return np.nan_to_num(slope) - np.log(self.scale[0])


@dataclass(frozen=True)
class JointSkewed(JointReal):
    """A skewed column of a cross-categorization with full covariance: a :class:`JointReal` after a transformation.

    The transformation is that of :class:`Skewed`. Predictions and imputations are those of the transformed data,
    transformed back: the mean of their logarithms becomes a geometric mean. The uncertainty is half the distance
    between the points that are one standard deviation below and above the mean of the transformed data, or where the
    range of the training cells ends.
    """

    kind = "skewed"
    hyperparameters = Skewed.hyperparameters

    def summary(self, first, second):
        return restored_moments(self.restore, first, second, self.low, self.high)


JOINT = {"real": (Real, JointReal), "skewed": (Skewed, JointSkewed)}


def bind_joint_reals(
    names: list[str],
    kinds: list[str],
    sources: tuple[int, ...],
    cells: np.ndarray,
    given: list[dict],
    *,
    learn: bool,
    grids: str,
) -> list[JointReal]:
    """The models of all joint reals of a table.

    Parameters
    ----------
    names, kinds, sources : list of str, list of str, tuple of int
        Name, type ("real" or "skewed") and place in the table of each.
    cells : ndarray of shape (n_rows, n_joint)
    given : list of dict
        Hyperparameters that the user gives for each, in the units of the data.
    learn, grids
        See :meth:`ColumnModel.bind`.

    Raises
    ------
    ValueError
        If kappa or nu, which belong to views, differ between columns, or a prior is too far from its cells.
    """
    models = [
        JOINT[kind][0].bind(name, (j,), x, own, n_categories=0, learn=learn, grids=grids)
        for name, kind, j, x, own in zip(names, kinds, sources, cells.T, given, strict=True)
    ]
    for key in ("kappa", "nu"):
        if len(found := {model.parameters[key] for model in models}) > 1:
            raise ValueError(
                f"feature_params gives {key} = {sorted(found)} to real columns, but with full covariance the columns "
                f"of a view share it: give one value by feature_params={{'real': {{{key!r}: ...}}}}, or set "
                "covariance_type='diag'"
            )
    models = [
        replace(model, transform=spread_ties(model.transform, x)) for model, x in zip(models, cells.T, strict=True)
    ]
    cells = np.column_stack([model.transform.forward(x) for model, x in zip(models, cells.T, strict=True)])
    # The prior of the block is that of no column, unless the columns learn theirs.
    block = Gaussian.bind("gaussian", sources, cells, {}, n_categories=0, learn=True, grids=grids) if learn else None
    stateful, out = bool(np.isnan(cells).any()), []
    for i, (model, own) in enumerate(zip(models, given, strict=True)):
        parameters, axes, more = dict(model.parameters), dict(model.grids), {}
        if learn:
            # Starts and grids of variances suit blocks of many columns.
            if "sigma2" not in own:
                parameters["sigma2"] = block.parameters["psi"][i, i] / (block.parameters["nu"] - len(sources) + 1)
            axes["mu"], axes["sigma2"] = block.grids["mu"][i], block.grids["sigma2"][i]
            axes["nu"] = block.grids["nu"] - len(sources) + 1
            axes["spread"] = block.grids["spread"]
            more = {key: block.parameters[key] for key in ("n_shared", "spread")}
            more["vector"] = block.parameters["vectors"][i]
        z = (cells[:, [i]] - model.center) / model.scale
        _check_block_reach(model.name, z[:, 0], *(parameters[key] for key in ("mu", "sigma2", "nu")))
        more["low"], more["high"] = cell_range(z)[:, 0].tolist()
        if learn and grids == "data":
            more["limits"] = limits_of_missing(z)
        out.append(
            JOINT[model.kind][1](
                model.name,
                model.sources,
                parameters,
                axes,
                center=model.center,
                scale=model.scale,
                stateful=stateful,
                transform=model.transform,
                levels=model.levels,
                whole=model.whole,
                drawn_between=model.drawn_between,
                **more,
            )
        )
    return out


def _check_block_reach(name, z, mu, sigma2, nu):
    # A column's diagonal element of psi.
    check_reach(f"column {name!r}", z, mu, sigma2 * nu, MOST_DISTANCE, ", or set covariance_type='diag'")


def require_common_grids(models: list[JointReal]) -> None:
    """Raise ValueError if grids of kappa or nu, which belong to views, differ between columns."""
    for key in ("kappa", "nu"):
        if any(key in model.grids and not np.array_equal(model.grids[key], models[0].grids[key]) for model in models):
            raise ValueError(
                f"feature_grids gives different grids of {key} to real columns, but with full covariance the columns "
                f"of a view share it: give one grid by feature_grids={{'real': {{{key!r}: ...}}}}, or set "
                "covariance_type='diag'"
            )
    for key in ("mu", "sigma2"):
        if len(lengths := {len(model.grids[key]) for model in models if key in model.grids}) > 1:
            raise ValueError(
                f"feature_grids gives grids of {key} with {sorted(lengths)} values to real columns, but with full "
                "covariance all of them need as many: give each real column a grid, of the same length, or set "
                "covariance_type='diag'"
            )


def affordable_covariance(n_rows: int, kinds: list[str]) -> str:
    """The covariance type of the real and skewed columns of a view for which a chain takes a minute or two at most.

    Examples
    --------
    >>> from sklearn_subanneal.columns.joint_real import affordable_covariance
    >>> affordable_covariance(300, ["real"] * 100), affordable_covariance(500_000, ["real"] * 30)
    ('full', 'diag')
    """
    n_joint = sum(kind in (*JOINT, "semicontinuous") for kind in kinds)
    return "full" if n_joint <= MOST_JOINT_REALS and n_rows * n_joint**2 <= MOST_PRODUCTS else "diag"


def draw_real_parameters(models: list[JointReal], generator: np.random.Generator) -> dict:
    """Hyperparameters of joint reals from their priors, those of views apart, as :class:`RealTable` has them."""
    first, drawn = models[0], [model.draw_parameters(generator) for model in models]
    out = {key: np.array([own[key] for own in drawn]) for key in ("mu", "sigma2")}
    out |= {"vectors": np.array([model.vector for model in models])}
    out |= {"n_shared": first.n_shared, "spread": first.spread}
    if first.n_shared and first.grids:
        out["spread"] = draw_on_grid(first.grids["spread"], generator)
        out["vectors"] = draw_vectors(*out["vectors"].shape, first.n_shared, out["spread"], generator)
    return out


def real_table(models: list[JointReal], places: list[int], arrays: list[np.ndarray], order: np.ndarray) -> RealTable:
    """The joint reals of a table for the kernels.

    Parameters
    ----------
    models : list of JointReal
    places : list of int
        Place in the table of each.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of the table.
    order : ndarray of int, shape (n_rows,)
        The order in which a chain visits the rows.
    """
    first = models[0]
    parameters = {key: np.array([model.parameters[key] for model in models]) for key in ("mu", "sigma2")}
    parameters |= {key: first.parameters[key] for key in ("kappa", "nu")}
    parameters |= {"vectors": np.array([model.vector for model in models])}
    parameters |= {"n_shared": first.n_shared, "spread": first.spread}
    grids = {}
    if first.grids:
        grids = {key: np.array([model.grids[key] for model in models]) for key in ("mu", "sigma2")}
        grids |= {key: first.grids[key] for key in ("kappa", "nu", "spread")}
    limits = None if first.limits is None else np.column_stack([model.limits for model in models])
    return RealTable(places, modelled_cells(models, arrays)[order], parameters, grids, limits)


def single_reals(reals: RealTable) -> list[NormalData]:
    """The columns of a table of reals one by one, by which moves of columns allocate rows: the same, jittered cells."""
    return [NormalData(cells) for cells in reals.observed.T]


def modelled_cells(models: list[JointReal], arrays: list[np.ndarray]) -> np.ndarray:
    """The cells of the joint reals of a training table as chains see them: in standard units, tied values jittered.

    Parameters
    ----------
    models : list of JointReal
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of the table.

    Returns
    -------
    cells : ndarray of shape (n_rows, n_joint)
    """
    generator = np.random.Generator(np.random.PCG64(0))
    return np.hstack([np.empty((len(arrays[0]), 0)), *(model.jittered(arrays, generator) for model in models)])
