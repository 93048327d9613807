"""Estimators with priors that do not depend on the data, and tiny tables, for simulation-based calibration."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing.schedules import PriorGibbs
from sklearn_subanneal.diagnostics import calibrate
from sklearn_subanneal.partitions import CRP, NGGP, NIG, PitmanYor

N_ROWS = 10
CONCENTRATIONS = [0.3, 1.0, 3.0]
PITMAN_YOR = PitmanYor(concentration_grid=CONCENTRATIONS, discount_grid=[0.0, 0.3, 0.6])
# Exact from the first draw on: all rows are in from the start, and some sweeps lead away from it.
CHAINS = {"schedule": PriorGibbs(passes=40), "n_chains": 1, "n_draws": 19, "thin": 20}

OF_REALS = {"mu": [30.0, 50.0, 60.0], "kappa": [0.1, 1.0], "sigma2": [10.0, 50.0, 200.0], "nu": [3.0, 10.0]}
GRIDS = {
    "real": OF_REALS,
    "categorical": {"alpha": [0.3, 1.0, 4.0]},
    "boolean": {"alpha": [0.3, 1.0, 4.0], "beta": [0.5, 2.0]},
    "count": {"shape": [1.0, 2.0, 4.0], "rate": [0.25, 0.5, 1.0]},
    "cyclic": {"mu": [3.0, 10.0, 20.0], "kappa": [0.5, 2.0, 8.0], "r": [0.2, 2.0]},
    "ordinal": {"location": [0.0, 1.5, 3.0], "spread": [0.5, 2.0], "free": [0.1, 0.5], "mass": [1.0, 8.0]},
    "semicontinuous": {"alpha": [0.3, 1.0, 4.0], **OF_REALS},
    "skewed": {"mu": [2.0, 3.0, 4.0], "kappa": [0.1, 1.0], "sigma2": [0.2, 0.5, 1.0], "nu": [3.0, 10.0]},
}
# The unseen value is not rare, so that drawn tables have it.
FIXED = {
    "categorical": {"unseen": 0.1},
    "cyclic": {"period": 24.0},
    "semicontinuous": {"atoms": [0.0]},
    "skewed": {"transform": "log"},
}
OF_BLOCK = {
    "mu": [[3.0, 7.0], [-4.0, -2.0], [0.0, 0.2]],
    "sigma2": [[1.0, 4.0, 16.0], [0.2, 1.0, 4.0], [0.002, 0.01, 0.05]],
    "kappa": [0.1, 1.0],
    "nu": [3.0, 6.0, 12.0],
}
NAMES = ["a", "b", "c"]
OF_JOINT_REALS = {
    "real": {"kappa": [0.1, 1.0], "nu": [1.0, 4.0, 10.0]},
    **{
        name: {"mu": mu, "sigma2": sigma2}
        for name, mu, sigma2 in zip(NAMES, OF_BLOCK["mu"], OF_BLOCK["sigma2"], strict=True)
    },
}


def table_of_all_types():
    """One column of each type, each with a missing cell."""
    rng = np.random.default_rng(0)
    letters, digits = list("abc"), list("1234")
    table = pd.DataFrame(
        {
            "real": rng.normal(50.0, 7.0, N_ROWS),
            "categorical": pd.Categorical(rng.choice(letters, N_ROWS), letters),
            "boolean": pd.array(rng.random(N_ROWS) < 0.5, "boolean"),
            "count": pd.array(rng.poisson(4.0, N_ROWS), "Int64"),
            "cyclic": rng.uniform(0.0, 24.0, N_ROWS),
            "ordinal": pd.Categorical(rng.choice(digits, N_ROWS), digits, ordered=True),
            "semicontinuous": np.where(rng.random(N_ROWS) < 0.5, 0.0, rng.normal(50.0, 7.0, N_ROWS)),
            "skewed": rng.lognormal(3.0, 1.0, N_ROWS),
        }
    )
    for j in range(table.shape[1]):
        table.iloc[j, j] = None
    return table


def table_of_reals(missing):
    cells = np.random.default_rng(0).normal([5.0, -3.0, 0.1], [2.0, 1.0, 0.1], (N_ROWS, 3))
    if missing:
        cells[[0, 2, 5, 5], [1, 0, 1, 2]] = np.nan
    return cells


def mixture_of_all_types(**chains):
    types = {kind: kind for kind in GRIDS}
    model = SubsampleAnnealedDPMM(PITMAN_YOR, feature_types=types, feature_params=FIXED, feature_grids=GRIDS, **CHAINS)
    return model.set_params(**chains), table_of_all_types()


def mixture_of_blocks(missing, **chains):
    grids = {"gaussian": OF_BLOCK}
    model = SubsampleAnnealedDPMM(PITMAN_YOR, covariance_type="full", feature_grids=grids, **CHAINS)
    return model.set_params(**chains), table_of_reals(missing)


def random_measure_mixture(partition, **chains):
    model = TreeGuidedNRMM(partition, feature_grids={"gaussian": OF_BLOCK}, **CHAINS)
    return model.set_params(**chains), table_of_reals(missing=False)


def cross_categorization(missing, **chains):
    """Three joint reals beside a boolean column and a count."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(table_of_reals(missing), columns=NAMES)
    table["flag"], table["number"] = rng.random(N_ROWS) < 0.5, rng.poisson(4.0, N_ROWS)
    grids = {**OF_JOINT_REALS, "boolean": GRIDS["boolean"], "count": GRIDS["count"]}
    types = {"number": "count"}
    model = CrossCat(PITMAN_YOR, PITMAN_YOR, covariance_type="full", feature_types=types, feature_grids=grids, **CHAINS)
    return model.set_params(**chains), table


MODELS = {
    "mixture": mixture_of_all_types,
    "blocks": lambda **chains: mixture_of_blocks(False, **chains),
    "blocks-missing": lambda **chains: mixture_of_blocks(True, **chains),
    "crosscat": lambda **chains: cross_categorization(False, **chains),
    "crosscat-missing": lambda **chains: cross_categorization(True, **chains),
    "crp": lambda **chains: random_measure_mixture(CRP(concentration_grid=CONCENTRATIONS), **chains),
    "nggp": lambda **chains: random_measure_mixture(NGGP(), **chains),
    "nig": lambda **chains: random_measure_mixture(NIG(), **chains),
}


def simulator_of(name, **chains):
    model, table = MODELS[name](**chains)
    return model.simulator(table)


def calibration_of(simulator, n_replications, draw_posterior=None, random_state=0):
    return calibrate(
        simulator.draw_prior,
        draw_posterior or simulator.draw_posterior,
        simulator.statistics,
        n_replications=n_replications,
        random_state=random_state,
    )
