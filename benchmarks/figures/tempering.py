"""Figures and tables of van de Meent, Paige and Wood (2014), Tempering by Subsampling."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from figures import gaussian_process
from figures.figure import Claim, Figure, Found, Paper, Run, Table, significant
from figures.style import LINE, colors, legend_below, log_scale, subplots, ticks_at, title

SAMPLERS = ("none", "STT", "TT", "SPT", "PT")
MODELS = {"mean": "normal mean", "gp": "Gaussian process"}
# Run times relative to no tempering at the largest size, read from the paper.
PRINTED = {
    "mean": {"SPT": 3.51, "STT": 5.65, "PT": 7.48, "TT": 12.94},
    "gp": {"SPT": 1.73, "STT": 2.35, "PT": 6.03, "TT": 9.19},
}
CONVERGED = 1.1


def parts(found: Found, key: str) -> dict:
    """One part of the results, merged over all runs."""
    out: dict = {}
    for document in found.values():
        if document["benchmark"] == "tempering_figures":
            out |= document["results"].get(key, {})
    return out


def moves(cell: str) -> str:
    """The name of a cell such as "gp HMC" in words."""
    kind, inner = cell.split()
    return f"{MODELS[kind]}, {inner}"


def by_size(line: dict) -> list[tuple[int, dict]]:
    return sorted((int(size), of) for size, of in line.items())


# ---- Figure 1 --------------------------------------------------------------------------------------------------


def draw_run_time(found: Found):
    """Plot the seconds of a draw, relative to no tempering, against the number of rows."""
    results = parts(found, "run_time")
    figure, axes = subplots(1, len(results), (4.8 * len(results), 4.2), sharey=True)
    color, handles = colors(SAMPLERS), {}
    for ax, (kind, line) in zip(axes[0], results.items(), strict=True):
        sizes = [n for n, _ in by_size(line)]
        for name in SAMPLERS:
            ratios = [of["ratio"][name] for _, of in by_size(line)]
            (handles[name],) = ax.plot(sizes, ratios, marker="o", color=color[name], **LINE)
            if name in PRINTED[kind]:
                ax.axhline(PRINTED[kind][name], color=color[name], linewidth=0.9, linestyle=":")
        ticks_at(ax, "x", sizes)
        log_scale(ax, "y")
        ax.set_xlabel("rows")
        title(ax, MODELS[kind])
    axes[0, 0].set_ylabel("seconds of a draw, over those without tempering")
    legend_below(figure, handles)
    return figure


def run_time_claims(found: Found) -> list[Claim]:
    last = {kind: by_size(line)[-1] for kind, line in parts(found, "run_time").items()}
    text = "; ".join(
        f"{MODELS[kind]}, {n:,} rows: "
        + ", ".join(f"{name} {of['ratio'][name]:.2f} ({PRINTED[kind][name]})" for name in PRINTED[kind])
        for kind, (n, of) in last.items()
    )
    ratios = {(kind, name): of["ratio"][name] for kind, (_, of) in last.items() for name in PRINTED[kind]}
    return [
        Claim(
            "Run times relative to no tempering (in brackets those of the paper)",
            text,
            [abs(np.log(ratio / PRINTED[kind][name])) < np.log(1.25) for (kind, name), ratio in ratios.items()],
            "Reproduced if within 25 %. Here a draw has one more kernel, that of the posterior itself, and "
            "transitions use the kernel of the level that is left, because the printed versions are not exact. On "
            "small problems the overhead of Python dominates.",
        ),
        Claim(
            "Subsampling makes tempering cheaper",
            "; ".join(
                f"{MODELS[kind]}: SPT {of['ratio']['SPT'] / of['ratio']['PT']:.2f} of PT, "
                f"STT {of['ratio']['STT'] / of['ratio']['TT']:.2f} of TT"
                for kind, (_, of) in last.items()
            ),
            [ratios[kind, sub] < ratios[kind, full] for kind in last for sub, full in (("SPT", "PT"), ("STT", "TT"))],
            "With few rows, the likelihood of a part of them takes as long as that of all.",
        ),
    ]


# ---- Figure 2 --------------------------------------------------------------------------------------------------


def draw_convergence(found: Found):
    """Plot the largest R-hat against draws and against seconds."""
    results = parts(found, "convergence")
    figure, axes = subplots(1, 2, (9.4, 4.0), sharey=True)
    color, handles = colors(SAMPLERS), {}
    for ax, (key, label) in zip(axes[0], {"draws": "draws", "seconds": "CPU seconds of a chain"}.items(), strict=True):
        for name, of in results.items():
            (handles[name],) = ax.plot(of[key], of["rhat"], marker="o", color=color[name], **LINE)
        ax.axhline(CONVERGED, color="#333333", linewidth=1, linestyle="--")
        log_scale(ax, "x")
        ticks_at(ax, "y", [1, 1.1, 1.3, 2, 4])
        ax.set_xlabel(label)
    axes[0, 0].set_ylabel("largest R-hat")
    legend_below(figure, handles)
    return figure


def needed(of: dict, key: str) -> float:
    """Draws or seconds after which R-hat stays below its bar; infinite if it never does."""
    below = np.array(of["rhat"]) < CONVERGED
    if not below[-1]:
        return np.inf
    return of[key][len(below) - np.argmin(below[::-1]) if not below.all() else 0]


def convergence_claims(found: Found) -> list[Claim]:
    results = parts(found, "convergence")
    draws, seconds = ({name: needed(of, key) for name, of in results.items()} for key in ("draws", "seconds"))

    def listed(values, form):
        return ", ".join(f"{name} {form.format(at) if at < np.inf else 'never'}" for name, at in values.items())

    return [
        Claim(
            "TT and STT converge far faster than Hamiltonian Monte Carlo alone",
            f"draws to R-hat below {CONVERGED:g}: {listed(draws, '{:g}')}; seconds: {listed(seconds, '{:.2g}')}",
            [of[name] < of["none"] for of in (draws, seconds) for name in ("STT", "TT") if name in of and "none" in of],
            "With adapted step sizes Hamiltonian Monte Carlo mixes about as fast per draw as with transitions, which "
            "take several times as long. The paper's step sizes are fixed at 0.01, where it is slow.",
        )
    ]


# ---- Figure 3 and the tables -----------------------------------------------------------------------------------


def draw_rows(found: Found):
    """Plot effective draws per second against rows, a panel for each model and kind of moves."""
    results = parts(found, "rows")
    figure, axes = subplots(1, len(results), (3.7 * len(results), 4.2))
    color, handles = colors(SAMPLERS), {}
    for ax, (cell, line) in zip(axes[0], results.items(), strict=True):
        sizes = [n for n, _ in by_size(line)]
        for name in SAMPLERS:
            ess = [of[name]["ess_median_a_second"]["median"] for _, of in by_size(line)]
            (handles[name],) = ax.plot(sizes, ess, marker="o", color=color[name], **LINE)
        ticks_at(ax, "x", sizes)
        log_scale(ax, "y")
        ax.set_xlabel("rows")
        title(ax, moves(cell))
    axes[0, 0].set_ylabel("effective draws a CPU second")
    legend_below(figure, handles)
    return figure


def ess(of: dict, name: str) -> float:
    return of[name]["ess_median_a_second"]["median"]


def best(of: dict) -> str:
    return max((name for name in SAMPLERS if name in of), key=lambda name: ess(of, name))


def rows_claims(found: Found) -> list[Claim]:
    results = {cell: by_size(line) for cell, line in parts(found, "rows").items()}
    gains = {
        cell: [max(ess(of, name) for name in SAMPLERS[1:]) / ess(of, "none") for _, of in line]
        for cell, line in results.items()
        if len(line) > 1
    }
    last = {cell: (line[-1][0], best(line[-1][1])) for cell, line in results.items()}
    return [
        Claim(
            "The gain of tempering grows with the number of rows",
            "ratio of the best tempered sampler to none, from the fewest rows to the most: "
            + "; ".join(f"{moves(cell)} " + ", ".join(f"{gain:.2f}" for gain in of) for cell, of in gains.items()),
            [of[-1] > of[0] for of in gains.values()],
            "Samplers are compared with step sizes adapted to each number of rows; the paper's are fixed, and suit "
            "only some sizes.",
        ),
        Claim(
            "STT is best with many rows",
            "best: " + "; ".join(f"{moves(cell)}, {n:,} rows: {name}" for cell, (n, name) in last.items()),
            [name == "STT" for _, name in last.values()],
            "The acceptance rate of a transition by subsets decreases with the numbers of parameters and of levels, "
            "and posteriors with one mode need no tempering.",
        ),
    ]


def parameter_tables(found: Found) -> list[Table]:
    out = []
    for cell, line in parts(found, "parameters").items():
        rows = []
        for size, of in by_size(line):
            n_seeds = max(len(of[name]["rhat"]["values"]) for name in SAMPLERS)
            marks = {name: "" if of[name]["converged"] == n_seeds else "*" for name in SAMPLERS}
            cells = [significant(ess(of, name)) + marks[name] + (" ←" if name == best(of) else "") for name in SAMPLERS]
            rows.append([str(size + 2 if cell.startswith("gp") else size), *cells])
        caption = f"{moves(cell)}: effective draws a CPU second, median over parameters (← best; * not converged)"
        out.append(Table(caption, ["parameters", *SAMPLERS], rows))
    return out


def parameter_claims(found: Found) -> list[Claim]:
    results = {cell: by_size(line) for cell, line in parts(found, "parameters").items()}
    gp = {cell: [best(of) for _, of in line] for cell, line in results.items() if cell.startswith("gp")}
    mean = {cell: line for cell, line in results.items() if cell.startswith("mean") and len(line) > 1}
    gains = {
        cell: [max(ess(of, name) for name in SAMPLERS[1:]) / ess(of, "none") for _, of in line]
        for cell, line in mean.items()
    }
    falls = [
        ess(one, name) > ess(other, name)
        for line in results.values()
        for (_, one), (_, other) in pairwise(line)
        for name in SAMPLERS
    ]
    return [
        Claim(
            "In the Gaussian process STT is best for nearly every number of parameters",
            "best: " + "; ".join(f"{moves(cell)} " + ", ".join(names) for cell, names in gp.items()),
            [name == "STT" for names in gp.values() for name in names],
            "The acceptance rate of a transition by subsets is about 0.02 with five parameters and 0.001 with ten, for "
            "any number of levels; plain Hamiltonian Monte Carlo with adapted step sizes has no such loss.",
        ),
        Claim(
            "In the normal model the gain of tempering grows with the number of parameters",
            "ratio of the best tempered sampler to none: "
            + "; ".join(f"{moves(cell)} " + ", ".join(f"{gain:.2f}" for gain in of) for cell, of in gains.items()),
            [of[-1] > of[0] for of in gains.values()],
            "The posterior has one mode, and adapted step sizes suit its correlations.",
        ),
        Claim(
            "Effective draws per second decrease with the number of parameters",
            f"in {sum(falls)} of {len(falls)} pairs of neighbours",
            falls,
            "With adapted step sizes Hamiltonian Monte Carlo is almost independent of it.",
        ),
    ]


# ---- Mixtures --------------------------------------------------------------------------------------------------


def mixture_table(found: Found) -> list[Table]:
    rows = []
    for name, result in found["tempered_mixtures"]["results"].items():
        for sampler, of in result.items():
            rates = [rate for run in of["runs"] for rate in run["swap_rates"]]
            swaps = f"{min(rates):.2f} to {max(rates):.2f}" if rates else ""
            less = f"{of['less_one']['mean']:+.3f} ({of['less_one']['sd']:.3f})" if rates else ""
            rows.append([f"{name}: {sampler}", f"{of['held_out']['mean']:.3f}", less, swaps])
    seconds = found["tempered_mixtures"]["arguments"]["seconds"]
    heads = ["table and chains", "held-out log density a row", "over one chain, same split", "swaps accepted"]
    return [Table(f"{seconds:g} CPU seconds a run, means over splits (standard deviations)", heads, rows)]


FIXED = "The paper's models, HMC and MH, each alone and in PT, TT, SPT and STT, with the printed errors put right."
ADAPTED = (
    "Step sizes, metrics and ladders are adapted during warm-up, which does not count; the paper fixes the ladder and "
    "the step sizes (0.01). R-hat is rank-normalised, of four chains, and the largest of all parameters, not the "
    "median of three."
)
SIZES = (
    "Up to 256 rows in the Gaussian process instead of 1,024, because the work of a draw grows with the third power. "
    "In the normal model up to 1,024 instead of 2,048, and run times up to 4,096."
)
RUNS = [
    Run("tempering_mean", "tempering_figures", "--models mean --draws 200", 10),
    Run("tempering_gp", "tempering_figures", "--models gp --draws 100", 20),
]

PAPER = Paper(
    "tempering",
    "Tempering by subsampling (van de Meent, Paige, Wood 2014)",
    [
        Figure(
            "tempering_run_time",
            "Figure 1: run time against the size of the data",
            "CPU seconds of a draw relative to Hamiltonian Monte Carlo alone, with the paper's ladder of seven levels "
            "down to 1/8 and its fixed step sizes. Dotted: the paper's values at its largest size.",
            [FIXED, SIZES],
            RUNS,
            draw_run_time,
            run_time_claims,
        ),
        Figure(
            "tempering_convergence",
            "Figure 2: convergence",
            "The largest R-hat against draws, and against CPU seconds of a chain, in a Gaussian process with ten "
            "parameters, from the second half of the draws so far, as in the paper. The dashed line is its bar of 1.1.",
            [FIXED, ADAPTED, "256 rows and 10 parameters in place of 512 and 20."],
            RUNS[1:],
            draw_convergence,
            convergence_claims,
        ),
        Figure(
            "tempering_rows",
            "Figure 3: effective draws against the size of the data",
            "Effective draws per CPU second, median over parameters, after warm-up.",
            [FIXED, ADAPTED, SIZES],
            RUNS,
            draw_rows,
            rows_claims,
        ),
        Figure(
            "tempering_parameters",
            "Tables 1 and 2: effective draws against the number of parameters",
            "Effective draws per CPU second, median over parameters, after warm-up, with 256 rows.",
            [FIXED, ADAPTED, "256 rows in place of 512 (Gaussian process) and 1,024 (normal model with HMC)."],
            RUNS,
            claims=parameter_claims,
            tables=parameter_tables,
        ),
        *gaussian_process.FIGURES,
        Figure(
            "tempered_mixtures",
            "Mixtures: partitions instead of parameters",
            "Parallel tempering of the partition of a mixture, by powers of the likelihood and by subsets of the "
            "rows, against one chain with the same total time.",
            ["Beyond the paper, which has continuous parameters alone."],
            [Run("tempered_mixtures", "tempered_mixtures", "--seeds 3 --seconds 8", 4)],
            tables=mixture_table,
        ),
    ],
)
