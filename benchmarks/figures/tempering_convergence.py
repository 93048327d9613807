"""Figure 2 of the paper on tempering by subsampling, and what of the transitions by subsets makes the difference."""

from __future__ import annotations

import numpy as np

from figures.figure import Claim, Found, Table, significant
from figures.style import LINE, colors, legend_below, log_scale, subplots, ticks_at
from figures.tempering_cells import CONVERGED, DRAWN, cells, column, listed

AXES = {"draws": "draws", "work": "gradients of all rows", "seconds": "CPU seconds of a chain"}


def largest(found: Found) -> tuple[tuple, dict]:
    """The cell of figure 2: a Gaussian process with HMC, with the most parameters at the rows of the tables."""
    of = {key: each for key, each in cells(found, "paper").items() if key[:3] == ("gp", "HMC", 512)}
    key = max(of, key=lambda key: key[3])
    return key, of[key]


def draw_convergence(found: Found):
    """Plot the median R-hat against draws, work and seconds, a line for each table."""
    _, of = largest(found)
    figure, axes = subplots(1, 3, (12.0, 4.0), sharey=True)
    color, handles = colors(DRAWN), {}
    for ax, (key, label) in zip(axes[0], AXES.items(), strict=True):
        for name in DRAWN:
            for trace in of[name]["traces"]:
                (handles[name],) = ax.plot(trace[key], trace["rhat"], color=color[name], **LINE)
        ax.axhline(CONVERGED, color="#333333", linewidth=1, linestyle="--")
        log_scale(ax, "x")
        log_scale(ax, "y")
        ticks_at(ax, "y", [1.1, 2, 4, 8])
        ax.set_xlabel(label)
    axes[0, 0].set_ylabel("median R-hat")
    legend_below(figure, handles)
    return figure


def at_equal(of: dict, names, key: str) -> dict[str, list[float]]:
    """R-hat of each table where all samplers have as many draws, as much work or as many seconds."""
    n_tables = len(of[names[0]]["traces"])
    ends = [min(of[name]["traces"][table][key][-1] for name in names) for table in range(n_tables)]
    return {
        name: [
            float(np.interp(end, trace[key], trace["rhat"]))
            for end, trace in zip(ends, of[name]["traces"], strict=True)
        ]
        for name in names
    }


def convergence_claims(found: Found) -> list[Claim]:
    (_, _, n, d), of = largest(found)
    out = []
    for key, label in AXES.items():
        for name in ("STT", "TT"):
            pair = at_equal(of, ("none", name), key)
            out.append(
                Claim(
                    f"{name} converges faster than Hamiltonian Monte Carlo, at equal {label}",
                    f"{n} rows, {d} parameters, R-hat where the shorter of the two ends: "
                    + "; ".join(f"{one} " + ", ".join(f"{value:.2f}" for value in pair[one]) for one in pair),
                    [after < before for before, after in zip(pair["none"], pair[name], strict=True)],
                    "The table of what makes the difference says why.",
                )
            )
    best_rhat = {name: of[name]["rhat"]["min"] for name in DRAWN}
    out.append(
        Claim(
            f"STT and TT reach R-hat below {CONVERGED}",
            f"least of all tables at the end: {listed(best_rhat)}",
            [best_rhat[name] < CONVERGED for name in ("STT", "TT")],
            "The chains are short: the paper does not say how long its are.",
        )
    )
    return [*out, *adapted_claims(found, n, of, d)]


def adapted_claims(found: Found, n_rows: int, of: dict, n_parameters: int) -> list[Claim]:
    """What becomes of it with steps, metric and ladder that are adapted."""
    every = dict(column(found, "adapted", "gp", "HMC", n_rows))
    if n_parameters not in every:
        return []
    fastest = max(of[name]["ranked_ess_a_second"]["median"] for name in DRAWN)
    sizes = {name: one["ranked_ess_a_second"]["median"] for name, one in every[n_parameters].items()}
    worst = {
        name: [value for samplers in every.values() for value in samplers[name]["largest_rhat"]["values"]]
        for name in every[n_parameters]
    }
    return [
        Claim(
            "Adapted, tempering makes more effective draws than Hamiltonian Monte Carlo alone",
            "rank-normalised, a second, median over parameters: "
            f"{listed(sizes)}; best at the paper's setting {significant(fastest)}",
            [sizes[name] > sizes["none"] for name in sizes if name != "none"],
            "Steps and a metric that suit the posterior leave little for a ladder to mend in most parameters.",
        ),
        Claim(
            "Adapted, Hamiltonian Monte Carlo alone converges in every parameter",
            f"{n_rows} rows, largest rank-normalised R-hat of each table, for all numbers of parameters: "
            + "; ".join(f"{name} " + ", ".join(f"{value:.2f}" for value in values) for name, values in worst.items()),
            [value < CONVERGED for value in worst["none"]],
            f"Below {CONVERGED}; chains are short.",
        ),
    ]


# ---- What makes the difference ---------------------------------------------------------------------------------


def ablation_tables(found: Found) -> list[Table]:
    out = []
    for (_, _, n, d), of in cells(found, "ablation").items():
        names = tuple(of)
        draws, work = at_equal(of, names, "draws"), at_equal(of, names, "work")
        end = min(of[name]["traces"][0]["draws"][-1] for name in names)
        spent = min(of[name]["traces"][0]["work"][-1] for name in names)
        rows = [
            [
                name,
                *(", ".join(f"{value:.2f}" for value in values[name]) for values in (draws, work)),
                significant(of[name]["work_a_draw"]["mean"]),
                f"{of[name]['transition_rate']['mean']:.2f}" if "TT" in name else "",
            ]
            for name in names
        ]
        heads = [
            "sampler", f"R-hat after {end} draws", f"after {spent:.0f} gradients of all rows", "gradients of a draw",
            "transitions accepted",
        ]  # fmt: skip
        out.append(Table(f"Gaussian process, {n} rows, {d} parameters: a value for each table", heads, rows))
    return out


def ablation_claims(found: Found) -> list[Claim]:
    ((_, of),) = list(cells(found, "ablation").items())[:1]
    names = tuple(of)
    draws, work = at_equal(of, names, "draws"), at_equal(of, names, "work")

    def compared(text, values, one, other, why):
        said = "; ".join(f"{name} " + ", ".join(f"{value:.2f}" for value in values[name]) for name in (one, other))
        held = [first < second for first, second in zip(values[one], values[other], strict=True)]
        return Claim(text, f"R-hat: {said}", held, why)

    return [
        compared("Per draw STT is ahead", draws, "STT", "none", "A draw of STT has thirteen moves."),
        compared(
            "Per draw as many moves on all rows do as well",
            draws, "none, 13 moves a draw", "STT",
            "If so, the gain per draw is that of more moves.",
        ),
        compared("Per gradient STT is ahead", work, "STT", "none", "Moves on subsets cost the cube of their rows."),
        compared(
            "It is by transitions that are accepted",
            work, "STT", "STT, never accepted",
            "Short steps hardly move within a transition, so it is accepted far more often than in equilibrium.",
        ),
        compared(
            "Per gradient longer steps without tempering do better",
            work, "none, steps of the lowest level", "STT",
            "Steps of 0.01 are too short for these posteriors, which is what transitions make up for.",
        ),
    ]  # fmt: skip
