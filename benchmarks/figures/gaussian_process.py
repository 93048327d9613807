"""Figures of Gaussian processes: gain by subsets, a posterior with two modes, regression tables."""

from __future__ import annotations

from figures.figure import Claim, Figure, Found, Run, Table, significant


def guided_tables(found: Found) -> list[Table]:
    out = []
    for name, of in found["tempering_guided"]["results"].items():
        rows = []
        for sampler, figures in of["summary"].items():
            ratio = figures.get("ratio", {}).get("ess_min_a_second")
            rows.append(
                [
                    sampler,
                    significant(figures["ess_min_a_second"]["median"]),
                    f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})" if ratio else "",
                    f"{figures['rhat']['max']:.3f}",
                ]
            )
        heads = ["sampler", "effective draws a CPU second, least", "over none, seed by seed", "largest R-hat"]
        rows_of = found["tempering_guided"]["arguments"]["rows"]
        out.append(Table(f"{rows_of} rows, {name.split('_')[1]} features", heads, rows))
    return out


def regression_tables(found: Found) -> list[Table]:
    rows = []
    for name, of in found["gp_regression"]["results"].items():
        ours, theirs = of["ours"], of["scikit-learn"]
        rows.append(
            [
                f"{name}, {of['rows']['training']} × {of['rows']['features']}",
                *(f"{one['log_density']['mean']:.3f}" for one in (ours, theirs)),
                f"{of['gain']['mean']:+.3f} ({of['gain']['sd']:.3f})",
                *(f"{one['coverage']['mean']:.2f}" for one in (ours, theirs)),
                *(significant(one["cpu_seconds"]["median"]) for one in (ours, theirs)),
            ]
        )
    heads = [
        "table, rows to "
        "learn", "log density, sampled", "optimised", "gain", "coverage of 90 % intervals, sampled", "optimised",
        "CPU seconds, sampled", "optimised",
    ]  # fmt: skip
    return [Table("Held-out rows, means over splits (standard deviations)", heads, rows)]


def modes_claims(found: Found) -> list[Claim]:
    modes = found["gp_convergence"]["results"]["modes"]
    exact = modes["share_of_the_short_by_a_grid"]
    samplers = {name: of for name, of in modes.items() if isinstance(of, dict)}
    stuck = {name: of["chains_in_one_mode"]["mean"] for name, of in samplers.items()}
    shares = {name: of["share_of_the_short"]["mean"] for name, of in samplers.items()}
    return [
        Claim(
            "Tempering crosses between modes where a plain sampler stays in one",
            "chains of a run that never cross: " + ", ".join(f"{name} {mean:.1f}" for name, mean in stuck.items()),
            [stuck[name] < stuck["none, as long"] for name in ("pt", "spt")],
            "A ladder must reach levels at which both modes are one; subsets with a quarter of thirty rows may not.",
        ),
        Claim(
            "Tempering finds the probabilities of the modes",
            f"share of the short length scale, by a grid {exact:.2f}: "
            + ", ".join(f"{name} {mean:.2f}" for name, mean in shares.items()),
            [abs(shares[name] - exact) < 0.1 for name in ("pt", "spt")],
            "Reproduced if within 0.1; subsets of thirty rows carry little information about a ripple.",
        ),
    ]


FIGURES = [
    Figure(
        "tempering_guided",
        "Gaussian processes with 512 rows",
        "Hyperparameters by samplers that use subsets of the rows, against Hamiltonian Monte Carlo alone (none). "
        "“Guided” follows the gradients of a quarter of the rows and of a quadratic fitted to the others, with an "
        "acceptance step on all rows; “guided-no-rows” uses the quadratic alone.",
        ["Beyond the paper, where subsets flatten the posterior; here they guide on it."],
        [
            Run(
                "tempering_guided",
                "tempering_guided",
                "--features 3 --seeds 2 --samplers none guided guided-no-rows SPT",
                10,
            )
        ],
        tables=guided_tables,
    ),
    Figure(
        "gp_modes",
        "A posterior with two modes",
        "Thirty points of a slow wave with a ripple, which is explained either by a short length scale or as noise.",
        ["Not in the paper, whose posteriors have one mode and do not need tempering."],
        [Run("gp_convergence", "gp_convergence", "--sizes --seeds 2", 4, "--seeds 1")],
        claims=modes_claims,
    ),
    Figure(
        "gp_regression",
        "Regression with sampled and with optimised hyperparameters",
        "Held-out log density of regression tables by `TemperedGaussianProcessRegressor` and by scikit-learn's "
        "Gaussian process with five restarts of the optimiser.",
        ["Beyond the paper, which samples hyperparameters of data drawn from the model."],
        [Run("gp_regression", "gp_regression", "--rows 200 --seeds 3", 7, "--seeds 1")],
        tables=regression_tables,
    ),
]
