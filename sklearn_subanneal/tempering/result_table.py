"""The result of a tempered sampler in words and a table, as it is printed."""

from __future__ import annotations

from itertools import islice, product
from math import prod

import numpy as np

from sklearn_subanneal.tempering.scale_reduction import potential_scale_reduction

# Elements of parameters that are listed, at most.
MOST_ELEMENTS = 20
LEVELS = {"powers": "powers of the likelihood", "subsets": "subsets of the rows"}


def result_table(result) -> str:
    """Chains, levels, the log evidence, and the moments of each parameter of a :class:`TemperingResult`."""
    n_chains, n_draws, n_coordinates = result.draws.shape
    lines = [f"{n_chains} chains of {n_draws} draws of {n_coordinates} coordinates, {_ladder(result)}"]
    if not np.isnan(result.log_evidence):
        lines.append(f"log evidence {result.log_evidence:.3f}, standard error {result.log_evidence_error:.2g}")
    parameters = result.parameters or {"theta": result.draws}
    elements = (
        (name + (f"[{', '.join(map(str, place))}]" if place else ""), np.asarray(values)[(..., *place)])
        for name, values in parameters.items()
        for place in product(*map(range, np.shape(values)[2:]))
    )
    shown = list(islice(elements, MOST_ELEMENTS)) if n_draws else []
    further = sum(prod(np.shape(values)[2:]) for values in parameters.values()) - len(shown)
    width = max([len(name) for name, _ in shown], default=0)
    lines.append(f"{'':<{width}} {'mean':>10} {'sd':>10} {'5 %':>10} {'95 %':>10} {'R-hat':>7}")
    lines += [f"{name:<{width}} {_moments(values)}" for name, values in shown]
    if further and n_draws:
        lines.append(f"and {further} more, in `parameters` and `draws`")
    return "\n".join(lines + result.problems)


def _ladder(result) -> str:
    n_levels = result.inverse_temperatures.shape[1]
    if n_levels == 1:
        return "without tempering"
    trips = result.round_trips
    made = "" if (trips < 0).any() else f", {trips.min()} to {trips.max()} round trips of a chain"
    return f"{n_levels} levels ({LEVELS[result.levels]}){made}"


def _moments(values) -> str:
    """Of the draws of one element, (n_chains, n_draws)."""
    low, high = np.quantile(values, [0.05, 0.95])
    enough = min(values.shape) > 1
    rhat = f"{float(potential_scale_reduction(values)[0]):>7.3f}" if enough else f"{'':>7}"
    return f"{values.mean():>10.4g} {values.std():>10.4g} {low:>10.4g} {high:>10.4g} {rhat}".rstrip()
