"""Figures of Obermeyer, Glidden and Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing."""

from __future__ import annotations

import numpy as np

from figures import strategies
from figures.figure import Claim, Figure, Found, Paper, Run, Table
from figures.style import LINE, colors, log_scale, subplots, ticks_at, title

LOG10 = np.log(10.0)


# ---- Figure 2 --------------------------------------------------------------------------------------------------


def draw_urns(found: Found):
    """A panel for each strategy, the posterior last."""
    document = found["two_urn"]
    errors = document["results"][str(document["n_balls"])]
    figure, axes = subplots(2, 4, (11.5, 6.2), sharex=True, sharey=True)
    for ax, (name, shares) in zip(axes.flat, document["shares"].items(), strict=True):
        ax.grid(visible=False)
        ax.imshow(np.sqrt(np.transpose(shares)), origin="lower", extent=(0, 1, 0, 1), vmin=0, cmap="magma")
        error = f"total variation {errors[name]['total_variation']:.3f}" if name in errors else "exact"
        title(ax, f"{name}\n{error}")
    for ax in axes[1]:
        ax.set_xlabel("red on the left")
    for ax in axes[:, 0]:
        ax.set_ylabel("blue on the left")
    return figure


def urn_claims(found: Found) -> list[Claim]:
    results, bars = found["two_urn"]["results"], found["two_urn"]["bars"]
    error = {name: [of[name]["total_variation"] for of in results.values()] for name in next(iter(results.values()))}
    gaps = {n: ", ".join(f"{gap:.1f}" for gap in of) for n, of in bars["gaps_in_floors"].items()}
    floors = [of["anneal subsample"]["floor"] for of in results.values()]

    def each(*names):
        return "; ".join(f"{name} " + ", ".join(f"{value:.3f}" for value in error[name]) for name in names)

    return [
        Claim(
            "The error falls from prior to sequential, sequential + Gibbs, and annealing of the subsample",
            "differences in noise floors: " + "; ".join(f"{n} balls: {text}" for n, text in gaps.items()),
            [gap > 2 for of in bars["gaps_in_floors"].values() for gap in of],
            "A difference below two noise floors could be due to the number of runs.",
        ),
        Claim(
            "The error of annealing the subsample does not grow with the data",
            f"total variation {each('anneal subsample', 'prior + Gibbs')} for {', '.join(results)} balls",
            [bars["annealed_stable"]],
            "Within two noise floors.",
        ),
        Claim(
            "Annealing of energies beats sequential + Gibbs (if the panels are in the order of the caption)",
            each("anneal energy", "sequential + Gibbs"),
            [hot < cold for hot, cold in zip(error["anneal energy"], error["sequential + Gibbs"], strict=True)],
            "This model has no energy barrier; a high temperature only destroys the start.",
        ),
        Claim(
            "Annealing of step sizes behaves like annealing of the subsample",
            each("anneal stepsize", "anneal subsample"),
            [
                abs(one - other) <= 2 * floor
                for one, other, floor in zip(error["anneal stepsize"], error["anneal subsample"], floors, strict=True)
            ],
            "The paper gives no rule for groups of balls that do not fit. Here they are rejected, and all steps leave "
            "the posterior invariant.",
        ),
    ]


def urn_table(found: Found) -> list[Table]:
    results = found["two_urn"]["results"]
    rows = [
        [name, *(f"{of[name]['total_variation']:.3f}" + exact(of[name]) for of in results.values())]
        for name in next(iter(results.values()))
    ]
    floors = [of["prior"]["floor"] for of in results.values()]
    heads = [f"{int(n):,} balls (noise floor {floor:.3f})" for n, floor in zip(results, floors, strict=True)]
    return [Table("Total variation from the exact posterior", ["strategy", *heads], rows)]


def exact(cell: dict) -> str:
    return f" (exact {cell['exact']:.4f})" if "exact" in cell else ""


# ---- Theorems 2 and 4 ------------------------------------------------------------------------------------------


def draw_mixing(found: Found):
    """Steps over sizes, both axes logarithmic."""
    results = found["mixing_time"]["results"]
    lines = {
        f"cold: relaxation time, exponent {results['exponents']['cold']:.2f}": {
            int(n): of["steps"] for n, of in results["cold"].items()
        },
        f"annealed, to a fixed error: exponent {results['exponents']['annealed']:.2f}": {
            int(n): int(n) * of["passes"] for n, of in results["annealed"].items()
        },
    }
    figure, ((ax,),) = subplots(1, 1, (6.4, 4.2))
    for (label, line), color in zip(lines.items(), colors(lines).values(), strict=True):
        ax.plot(list(line), list(line.values()), marker="o", color=color, label=label, **LINE)
    sizes = sorted({n for line in lines.values() for n in line})
    ticks_at(ax, "x", sizes)
    ax.tick_params(axis="x", rotation=45)
    log_scale(ax, "y")
    ax.set(xlabel="number of balls", ylabel="assignments")
    ax.legend(frameon=False)
    return figure


def mixing_claims(found: Found) -> list[Claim]:
    document = found["mixing_time"]
    exponents, bars = document["results"]["exponents"], document["bars"]
    return [
        Claim(
            "Inference without annealing takes a time of the order of N²",
            f"exponent {exponents['cold']:.3f} (reproduced if 2.0 ± 0.1)",
            [bars["cold"]],
            "Small sizes are not yet in the limit.",
        ),
        Claim(
            "Annealing takes a time of the order of N",
            f"exponent {exponents['annealed']:.3f} (reproduced if 1.0 ± 0.2, at an error that all sizes reach)",
            [bars["annealed"]],
            "Small sizes are not yet in the limit, and only a few numbers of passes were run.",
        ),
    ]


def draw_barrier(found: Found):
    """Logarithms of the times over the sizes."""
    document = found["energy_barrier"]
    results, sizes = document["results"], document["arguments"]["sizes"]
    figure, ((ax,),) = subplots(1, 1, (6.4, 4.2))
    color = colors(results)
    for name, of in results.items():
        if name != "cold":
            at = np.array(of["log_time"]) / LOG10
            ax.plot(sizes, at, marker="o", color=color[name], label=f"annealed, {name}", **LINE)
    curve = results["cold"]["curve"]
    times = np.array(curve["log_time"]) / LOG10
    ax.plot(curve["sizes"], times, color=color["cold"], label="cold", **LINE)
    top = 1.5 * max(max(of["log_time"]) for name, of in results.items() if name != "cold") / LOG10
    ticks_at(ax, "x", sizes)
    ax.set(xlabel="size of the data", ylabel="log10 of the time", ylim=(0, top))
    ax.legend(frameon=False, loc="upper left")
    return figure


def barrier_claims(found: Found) -> list[Claim]:
    results = found["energy_barrier"]["results"]
    annealed = {float(name.split()[1]): of for name, of in results.items() if name != "cold"}

    def near(values, wanted):
        return [abs(value - want) <= 0.05 * want for value, want in zip(values, wanted, strict=True)]

    rate, powers = results["cold"]["rate_over_delta"], [of["power_of_n"] for of in annealed.values()]
    of_error = [of["power_of_target"] for of in annealed.values()]
    return [
        Claim(
            "The time of inference without annealing grows as the exponential of the barrier δN",
            f"the logarithm grows by {rate:.4f} δ for each of N",
            near([rate], [1.0]),
            "Reproduced if within 5 %.",
        ),
        Claim(
            "Annealing takes a time of the order of N",
            "exponents " + ", ".join(f"{power:.3f}" for power in powers),
            near(powers, [1.0] * len(powers)),
            "Reproduced if within 5 %; the theorem needs energy differences γN well above log(2/ε).",
        ),
        Claim(
            "and of the inverse error to the power δ/γ",
            ", ".join(f"{power:.3f} for {ratio:g}" for ratio, power in zip(annealed, of_error, strict=True)),
            near(of_error, annealed),
            "The theorem has another factor log(1/ε), as an upper bound; it is not visible at errors this small.",
        ),
    ]


# ---- Figure 3 --------------------------------------------------------------------------------------------------

RESAMPLED = (
    "The census and the network log are smaller than in the paper: 99,762 persons × 42 of the Current Population "
    "Survey instead of the census of 1990 × 68, and the 10 % file of KDD Cup 1999, 494,021 × 41. The panels of 10⁶ "
    "rows learn rows drawn with replacement from seven eighths of these, and are scored on the other eighth: they show "
    "the cost of this number of rows, but not the gain by more data."
)

PAPER = Paper(
    "annealing",
    "Subsample annealing (Obermeyer, Glidden, Jonas 2014)",
    [
        Figure(
            "two_urn",
            "Figure 2: seven strategies on the two urns",
            "Distribution of the final states after ten assignments per ball (the sequential start has one, the prior "
            "none): square roots of the fractions of runs against the shares of red and of blue balls in the left urn, "
            "on a grid of 20 × 20, and the exact posterior.",
            [
                "2,000 balls and 20,000 runs instead of 20,000 and 10⁶: the work grows with both, and the paper's "
                "sizes would take half a day and gigabytes of memory. Two sizes suffice for the claim on growth.",
                "Shares are not smoothed. The table has the noise floor, the total variation of as many exact draws.",
            ],
            [Run("two_urn", "two_urn", minutes=2.5)],
            draw_urns,
            urn_claims,
            urn_table,
        ),
        Figure(
            "mixing_time",
            "Theorem 2: mixing time against the size of the data",
            "Steps against the number of balls in the same model: exact relaxation times of the transition matrix of "
            "Gibbs sampling, and the assignments in which annealing reaches a total variation of 0.12.",
            [
                "The paper proves bounds in a continuum limit and has no such figure. Here the exponent without "
                "annealing is from exact eigenvalues, and the annealed one from Monte Carlo, at a single error.",
            ],
            [Run("mixing_time", "mixing_time", minutes=1.5)],
            draw_mixing,
            mixing_claims,
        ),
        Figure(
            "energy_barrier",
            "Theorem 4: two modes and a barrier",
            "The shortest time at which the probability of the better mode is within 0.01 of its limit, in the paper's "
            "model of two states: without annealing (cold) in closed form, annealed by quadrature, for barriers of "
            "half, one and two times the energy difference.",
            [
                "The paper proves upper bounds and has no such figure. The figure shows the times themselves, checked "
                "by an integrator of stiff equations.",
            ],
            [Run("energy_barrier", "energy_barrier", minutes=0.2)],
            draw_barrier,
            barrier_claims,
        ),
        Figure(
            "crosscat_strategies",
            "Figure 3: strategies at equal time, by views",
            "Held-out log density per row of CrossCat chains after the given seconds, on tables of all sizes. "
            "Points are single chains and lines their means. Crosses are averages of several chains on the same split.",
            [
                RESAMPLED,
                "Nats per row with standardised reals, instead of scores scaled to variance 1 within a table, so that "
                "the size of a difference is visible.",
                "Bounds of 1 to 150 seconds, with one or two splits and one or two chains on each, so that the run "
                "ends in two hours; the paper gives its bounds only in the picture. The clock is checked between "
                "sweeps, and with 10⁶ rows the first sweeps take longer than the short bound: if a chain exceeded its "
                "bound, the table has its time.",
                "All strategies use split-merge moves and data-driven moves of columns, and hyperparameters start at "
                "fixed values; the next figure has the moves and starts of the paper.",
                "Columns are independent within a cluster, as in the paper; by default this package lets numbers be "
                "correlated if a trial speaks for it.",
                "“Accelerating” is not in the paper; it is omitted if it is the same as linear annealing because the "
                "table is small. The package's default, “auto”, has chains of several schedules and is not shown.",
            ],
            [
                Run(
                    "crosscat_10000",
                    "crosscat_strategies",
                    "--seeds 2 --chains 2 --set covariance_type=diag",
                    13,
                    "--chains 1 --bounds 0.2 0.5",
                ),
                Run(
                    "crosscat_100000",
                    "crosscat_strategies",
                    "--tables kdd_100000 census_income --seeds 2 --chains 1 --bounds 10 40 --set covariance_type=diag",
                    18,
                    "--bounds 0.2 0.5 --seeds 1",
                ),
                Run(
                    "crosscat_1000000",
                    "crosscat_strategies",
                    "--tables kdd_1000000 census_income_1000000 --seeds 1 --chains 1 --bounds 60 150 "
                    "--set covariance_type=diag",
                    36,
                    "--bounds 0.2 0.5",
                ),
            ],
            strategies.draw,
            strategies.claims,
            strategies.tables,
        ),
        Figure(
            "crosscat_paper",
            "Figure 3 at the paper's own setting",
            "The same for the hospitals table with the moves and starts of the paper: columns are proposed into views "
            "whose rows are drawn from the prior, the views start from the prior and the hyperparameters at random "
            "values of their grids, rows leave the subsample at random, and clusters are not split or merged.",
            ["Five splits, one bound; nats per row with standardised reals, as above."],
            [
                Run(
                    "crosscat_paper",
                    "crosscat_strategies",
                    "--paper --tables hospitals --strategies prior sequential anneal --bounds 8 --seeds 5 --chains 1",
                    2.5,
                    "--bounds 0.3 --seeds 1",
                ),
            ],
            strategies.draw,
            strategies.claims,
            strategies.tables,
        ),
        Figure(
            "strategies",
            "Figure 3 again: strategies at equal time, in a single mixture",
            "The same for a Pitman–Yor mixture of all columns, `SubsampleAnnealedDPMM`.",
            [
                "The paper shows cross-categorizations only, and states in its discussion that annealing improves "
                "mixtures, too. Reals are in their original units here.",
            ],
            [Run("strategies", "strategies", "--seeds 5 --jobs 1", 6)],
            strategies.draw,
            strategies.claims,
            strategies.tables,
        ),
    ],
    "Figure 1 is a sketch of an energy landscape.",
)
