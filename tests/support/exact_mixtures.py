"""Exact posteriors of the tables of ``enumerated_chains``, and of their hyperparameters."""

from __future__ import annotations

from functools import cache

import numpy as np
from oracles.enumeration import fixed_mixture, grid_mixture, log_eppf, partitions
from oracles.reference_chain import effective_draws, noise_floor, total_variation
from support.enumerated_chains import N_ROWS, PRIOR_GRIDS, PRIORS, TABLES


@cache
def exact_mixture(table, prior, learned, beta):
    columns = TABLES[table]
    if learned:
        return grid_mixture([(c.kind, c.scored, c.grids) for c in columns], PRIOR_GRIDS[prior], beta)
    return fixed_mixture([(c.kind, c.scored, c.params) for c in columns], *PRIORS[prior], beta)


@cache
def exact_law(table, prior, learned, beta=1.0):
    if not TABLES[table]:
        states = list(partitions(N_ROWS))
        laws = [[log_eppf(np.bincount(state), *PRIORS[prior]) for state in states]]
        if learned:
            grid = PRIOR_GRIDS[prior]
            laws = [[log_eppf(np.bincount(s), a, d) for s in states] for a in grid["alpha"] for d in grid["d"]]
        return dict(zip(states, np.exp(laws).mean(axis=0), strict=True))
    return exact_mixture(table, prior, learned, beta).posterior()


def check_hyperparameters(case, history):
    """Every hyperparameter's marginal; a law of two points has wide tails, so that the bar is a higher quantile."""
    exact, rng = exact_mixture(case.table, case.prior, True, case.beta), np.random.default_rng(2)
    grid, parameters = PRIOR_GRIDS[case.prior], [own[0] for own in history]
    a = np.searchsorted(grid["alpha"], [p["concentration"] - 1e-9 for p in parameters])
    d = np.searchsorted(grid["d"], [p["discount"] - 1e-9 for p in parameters])
    laws = [("(alpha, d)", exact.prior_posterior().ravel(), a * len(grid["d"]) + d)]
    for j, example in enumerate(TABLES[case.table]):
        marginals = exact.hyperparameter_posteriors(j)
        parameters = [example.reference_params(own[1 + j]) for own in history]
        for name, laws_of_coordinates in marginals.items():
            values = np.array([own[name] for own in parameters])
            lines = np.atleast_2d(example.grids[name])
            for i, law in enumerate(laws_of_coordinates):
                laws.append(
                    (f"{name}[{i}]", law, np.searchsorted(lines[i], values.reshape(len(history), -1)[:, i] - 1e-9))
                )
    # What has a single value is not learned.
    for name, law, codes in (own for own in laws if len(own[1]) > 1):
        law = dict(enumerate(law))
        counts = dict(enumerate(np.bincount(codes, minlength=len(law))))
        floor = noise_floor(law, effective_draws(codes), 0.999, rng=rng)
        # A hyperparameter that is not learned has one value.
        assert total_variation(law, counts) <= 1.3 * floor + 1e-12, name
