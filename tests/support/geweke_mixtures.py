"""The joint distribution of a mixture with everything it learns, for tests by successive conditional simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from oracles import reference
from oracles.enumeration import draw_partition
from support.column_examples import BY_NAME, CLASSES, data_of

N_ROWS = 6
CONCENTRATIONS, DISCOUNTS = [0.4, 1.0, 2.5], [0.0, 0.3, 0.6]
DTYPES = {
    "real": np.float32,
    "categorical": np.int8,
    "boolean": np.int8,
    "count": np.int32,
    "cyclic": np.float64,
    "ordinal": np.int8,
    "semicontinuous": np.float64,
    "gaussian": np.float64,
}
MISSING = {kind: np.nan if np.issubdtype(dtype, np.floating) else -1 for kind, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Feature:
    """A column of the joint model: an example with its kind and its grids, and which cells are never seen."""

    name: str
    gaps: tuple = ()

    @property
    def example(self):
        return BY_NAME[self.name]

    @property
    def kind(self):
        return self.example.kind

    def draw_params(self, rng):
        """One point of every grid, as the reference takes it."""
        params = {}
        for name, grid in self.example.grids.items():
            lines = np.atleast_2d(grid)
            point = np.array([rng.choice(line) for line in lines])
            params[name] = point if np.ndim(grid) == 2 else point[0]
        return params

    def with_gaps(self, cells):
        cells = cells.copy()
        for cell in self.gaps:
            cells[cell] = MISSING[self.kind]
        return cells


TABLES = {
    "real": [Feature("real", (2,))],
    "categorical": [Feature("categorical", (1,))],
    "unseen": [Feature("categorical-unseen", (1,))],
    "boolean": [Feature("boolean", (5,))],
    "count": [Feature("count", (0,))],
    "count-dispersed": [Feature("count-dispersed", (0,))],
    "cyclic": [Feature("cyclic", (3,))],
    "semicontinuous": [Feature("semicontinuous", (4,))],
    "ordinal": [Feature("ordinal", (3,))],
    "gaussian": [Feature("gaussian")],
    "gaussian-missing": [Feature("gaussian", ((1, 0), (3, 1), (4, slice(None))))],
    "mixed": [
        Feature("real", (2,)),
        Feature("categorical-unseen", (1,)),
        Feature("count-dispersed"),
        Feature("semicontinuous", (4,)),
        Feature("gaussian", ((1, 0),)),
    ],
}


@dataclass(frozen=True)
class Joint:
    """Everything that the joint distribution is of; ``cells`` are complete, those in the gaps included."""

    labels: np.ndarray
    concentration: float
    discount: float
    params: list
    cells: list


def draw_prior(features, rng):
    """An independent draw, by the plain-Python reference alone."""
    alpha, d = rng.choice(CONCENTRATIONS), rng.choice(DISCOUNTS)
    labels = np.array(draw_partition(N_ROWS, alpha, d, rng))
    params, cells = [feature.draw_params(rng) for feature in features], []
    for feature, own in zip(features, params, strict=True):
        column = np.empty((N_ROWS, 2) if feature.kind == "gaussian" else N_ROWS, DTYPES[feature.kind])
        for k in range(labels.max() + 1):
            column[labels == k] = reference.draw_from_prior(feature.kind, own, int(np.sum(labels == k)), rng)[1]
        cells.append(column)
    return Joint(labels, alpha, d, params, cells)


def statistics_of(feature, cells, params):
    kernel, parameters = CLASSES[feature.kind][1], feature.example.kernel_parameters(params)
    return kernel(data_of(feature.kind, cells, params), parameters, feature.example.kernel_grids())


def redrawn(feature, params, labels, rng):
    """New cells given the partition and the hyperparameters, row by row from the kernel's predictive draws."""
    cells = np.zeros((N_ROWS, 2) if feature.kind == "gaussian" else N_ROWS, DTYPES[feature.kind])
    statistics = statistics_of(feature, cells, params)
    for row, k in enumerate(labels):
        cells[row] = statistics.draws(np.array([k], np.int32), np.full((1, statistics.width), np.nan), rng)[0].squeeze()
        if feature.kind == "semicontinuous":
            # Its data are codes of the cells, not the cells themselves.
            statistics = statistics_of(feature, cells, params)
            statistics.rebuild(np.where(np.arange(N_ROWS) <= row, labels, -1))
        else:
            statistics.add_row(row, k)
    return cells


def statistics(state):
    """Bounded functions of everything: data have heavy tails."""
    sizes = np.bincount(state.labels)
    together = state.labels[:, None] == state.labels
    out = {
        "n_clusters": len(sizes),
        "largest": sizes.max(),
        "pairs": together.sum(),
        "log concentration": np.log(state.concentration),
        "discount": state.discount,
        "concentration n_clusters": np.log(state.concentration) * len(sizes),
    }
    for j, (params, cells) in enumerate(zip(state.params, state.cells, strict=True)):
        x = np.arctan(cells.astype(float).reshape(N_ROWS, -1) / 2.0)
        out[f"{j} mean"], out[f"{j} square"] = x.mean(), (x**2).mean()
        out[f"{j} within"] = np.mean((x @ x.T)[together])
        out[f"{j} clusters"] = (x**2).mean() * len(sizes)
        if x.shape[1] > 1:
            out[f"{j} product"] = (x[:, 0] * x[:, 1]).mean()
        if "atoms" in params:
            zeros = x[:, 0] == 0.0
            out[f"{j} zeros"], out[f"{j} zeros within"] = zeros.mean(), np.mean(np.outer(zeros, zeros)[together])
        for name, value in params.items():
            if name in {"atoms", "unseen", "cuts"}:
                # They are not learned: constants, of which a test would see the rounding.
                continue
            value = np.atleast_1d(value)
            place = value if name in ("mu", "location", "dispersion") else np.log(value)
            for i, own in enumerate(place):
                out[f"{j} {name}[{i}]"] = own
            out[f"{j} {name} square"] = place.mean() * (x**2).mean()
    return out
