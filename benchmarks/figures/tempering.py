"""Figures and tables of van de Meent, Paige and Wood (2014), Tempering by Subsampling."""

from __future__ import annotations

from figures import gaussian_process, tempering_cells, tempering_convergence
from figures.figure import Figure, Found, Paper, Run, Table


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


OWN = (
    "The paper's setting: three chains from the mean of the prior, its half and its double; steps of "
    "0.01 and five or ten "
    "leapfrogs, or random walks of 0.1 over the root of the inverse temperature; seven levels to "
    "1/8. The first half of the "
    "draws is left out, and R-hat and effective draws are those of its equations 4 to 8."
)
EXACT = (
    "The printed errors are put right: transitions have a move at the posterior, and use the kernel "
    "of the level that is "
    "left. “STT, printed” has that of the level that is entered, with which the algorithm may have been run; it is not "
    "exact. To the letter, as printed, a chain never moves."
)
SHORT = (
    "The paper does not say how long its chains are. Here all samplers have the same work, counted in gradients of all "
    "rows: from 1,000 (512 rows) to 2,000 a chain, 400 with 1,024 rows, which are few draws where a draw of TT "
    "takes many gradients. Two tables for each cell, with 1,024 rows of the "
    "Gaussian process, and where rows of the normal model are compared, one."
)
TIMES = "Effective draws are divided by CPU seconds of the draws that are kept, of all chains together."
COLUMNS = [
    Run("tempering_gp_20", "tempering_figures", "--rows 512 --parameters 20 --settings paper adapted --work 1500", 8),
    *(
        Run(
            f"tempering_gp_{n}",
            "tempering_figures",
            f"--rows 512 --parameters {n} --settings paper adapted --work 1000",
            5,
        )
        for n in (5, 10, 15)
    ),
    Run(
        "tempering_gp_mh",
        "tempering_figures",
        "--inner MH --rows 512 --parameters 5 10 15 20 --settings paper adapted --work 250",
        5,
    ),
    Run(
        "tempering_mean_hmc",
        "tempering_figures",
        "--model mean --rows 1024 --parameters 5 10 50 100 --settings paper adapted --work 2000",
        2,
    ),
    Run(
        "tempering_mean_mh",
        "tempering_figures",
        "--model mean --inner MH --rows 256 --parameters 5 10 50 100 --settings paper adapted --work 6000 --draws 1000",
        3,
    ),
]
ROWS = [
    Run("tempering_gp_hmc_rows", "tempering_figures", "--rows 64 128 256 --parameters 15 --work 2000", 3),
    Run("tempering_gp_1024", "tempering_figures", "--rows 1024 --parameters 15 --seeds 1 --work 400", 4),
    Run("tempering_gp_mh_rows", "tempering_figures", "--inner MH --rows 64 128 256 --parameters 20 --work 500", 2),
    Run("tempering_gp_mh_1024", "tempering_figures", "--inner MH --rows 1024 --parameters 20 --seeds 1 --work 100", 1),
    Run(
        "tempering_mean_rows",
        "tempering_figures",
        "--model mean --rows 64 128 256 512 2048 --parameters 50 --work 1500 --seeds 1",
        2,
    ),
]
ABLATION = Run(
    "tempering_ablation",
    "tempering_figures",
    "--rows 256 --parameters 20 --settings ablation --seeds 3 --work 2500",
    5,
)

PAPER = Paper(
    "tempering",
    "Tempering by subsampling (van de Meent, Paige, Wood 2014)",
    [
        Figure(
            "tempering_run_time",
            "Figure 1: run time against the size of the data",
            "CPU seconds of a draw relative to Hamiltonian Monte Carlo alone. Dotted: the paper's "
            "values at its largest "
            "size.",
            [OWN, EXACT],
            [*ROWS, *COLUMNS],
            tempering_cells.draw_run_time,
            tempering_cells.run_time_claims,
        ),
        Figure(
            "tempering_convergence",
            "Figure 2: convergence",
            "The median R-hat over the parameters of a Gaussian process, from the second half of the "
            "draws so far, against "
            "draws, gradients of all rows, and CPU seconds: a line for each of two tables. The "
            "dashed line is the paper's "
            "bar of 1.1.",
            [OWN, EXACT, SHORT],
            COLUMNS[:4],
            tempering_convergence.draw_convergence,
            tempering_convergence.convergence_claims,
        ),
        Figure(
            "tempering_ablation",
            "Why transitions by subsets converge faster with steps of 0.01",
            "R-hat of Hamiltonian Monte Carlo and of tempered transitions, each with one thing changed.",
            [OWN, "256 rows, where a run is short enough for three tables and nine samplers."],
            [ABLATION],
            claims=tempering_convergence.ablation_claims,
            tables=tempering_convergence.ablation_tables,
        ),
        Figure(
            "tempering_rows",
            "Figure 3: effective draws against the size of the data",
            "Effective draws per CPU second, median over parameters; points where R-hat is below 1.1.",
            [OWN, EXACT, SHORT, TIMES],
            [*ROWS, *COLUMNS],
            tempering_cells.draw_rows,
            tempering_cells.rows_claims,
        ),
        Figure(
            "tempering_parameters",
            "Tables 1 and 2: effective draws against the number of parameters",
            "Effective draws per CPU second, median over parameters, at the paper's setting; and of "
            "samplers whose steps, "
            "metric and ladder are adapted in a warm-up that does not count.",
            [OWN, EXACT, SHORT, TIMES],
            COLUMNS,
            claims=tempering_cells.parameter_claims,
            tables=tempering_cells.parameter_tables,
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
