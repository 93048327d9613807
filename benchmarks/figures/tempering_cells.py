"""Cells of the paper on tempering by subsampling, by models, moves, rows and parameters: figures 1 and 3, tables."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from figures.figure import Claim, Found, Table, significant
from figures.style import LINE, colors, legend_below, log_scale, subplots, ticks_at, title

SAMPLERS = ("none", "STT", "TT", "SPT", "PT")
TEMPERED = SAMPLERS[1:]
DRAWN = (*SAMPLERS, "STT, printed")
MODELS = {"mean": "normal mean", "gp": "Gaussian process"}
CONVERGED = 1.1
# Run times relative to no tempering at the largest size, read from the paper; and what STT may cost by its theory.
PRINTED = {
    "mean": {"SPT": 3.51, "STT": 5.65, "PT": 7.48, "TT": 12.94},
    "gp": {"SPT": 1.73, "STT": 2.35, "PT": 6.03, "TT": 9.19},
}
DEAREST_STT = 2.6
# Tables 1 and 2 of the paper, in the order of SAMPLERS.
TABLES = {
    ("gp", "HMC", 512): {
        5: (0.1378, 0.1828, 0.0445, 0.0682, 0.0189),
        10: (0.0027, 0.0053, 0.0022, 0.0011, 0.0002),
        15: (0.0011, 0.0012, 0.0013, 0.0002, 0.0003),
        20: (0.0007, 0.0033, 0.0016, 0.0009, 0.0001),
    },
    ("gp", "MH", 512): {
        5: (0.0279, 0.0503, 0.0495, 0.0262, 0.0204),
        10: (0.0028, 0.0151, 0.0065, 0.0005, 0.0003),
        15: (0.0021, 0.0038, 0.0035, 0.0005, 0.0002),
        20: (0.0032, 0.0026, 0.0021, 0.0009, 0.0002),
    },
    ("mean", "HMC", 1024): {
        5: (0.7915, 0.1380, 0.0681, 0.2201, 0.1089),
        10: (0.3334, 0.1361, 0.0652, 0.2172, 0.1119),
        50: (0.0537, 0.0363, 0.0257, 0.0142, 0.0091),
        100: (0.0101, 0.0145, 0.0101, 0.0026, 0.0020),
    },
    ("mean", "MH", 256): {
        5: (0.9949, 0.4903, 3.1858, 0.0344, 0.1665),
        10: (0.1445, 0.2664, 0.7232, 0.0148, 0.0390),
        50: (0.0221, 0.0579, 0.0524, 0.0012, 0.0018),
        100: (0.0102, 0.0240, 0.0221, 0.0008, 0.0010),
    },
}
# The panels of figure 3: model, moves and parameters.
PANELS = (("mean", "HMC", 50), ("gp", "MH", 20), ("gp", "HMC", 15))


def cells(found: Found, setting: str) -> dict:
    """Samplers of all runs, by (model, moves, rows, parameters)."""
    out: dict = {}
    for document in found.values():
        if document["benchmark"] == "tempering_figures":
            for key, of in document["results"]["cells"].items():
                kind, inner, n, d = key.split()
                if setting in of:
                    out[kind, inner, int(n), int(d)] = of[setting]
    return dict(sorted(out.items()))


def line(found: Found, kind: str, inner: str, n_parameters: int) -> list[tuple[int, dict]]:
    """Rows and samplers at the paper's setting, of all numbers of rows."""
    of = cells(found, "paper")
    return [(n, of[k, i, n, d]) for k, i, n, d in of if (k, i, d) == (kind, inner, n_parameters)]


def column(found: Found, setting: str, kind: str, inner: str, n_rows: int) -> list[tuple[int, dict]]:
    """Parameters and samplers, of all numbers of parameters."""
    of = cells(found, setting)
    return [(d, of[k, i, n, d]) for k, i, n, d in of if (k, i, n) == (kind, inner, n_rows)]


def ess(of: dict, name: str) -> float:
    return of[name]["ess_a_second"]["median"]


def converged(of: dict, name: str) -> bool:
    return max(of[name]["rhat"]["values"]) < CONVERGED


def best(of: dict) -> str:
    return max((name for name in SAMPLERS if name in of), key=lambda name: ess(of, name))


def listed(values: dict, form: str = "{:.2f}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


# ---- Figure 1 --------------------------------------------------------------------------------------------------


def times(found: Found, kind: str) -> list[tuple[int, dict]]:
    """Rows, and seconds of a draw over those without tempering."""
    d = next(d for k, inner, d in PANELS if (k, inner) == (kind, "HMC"))
    return [
        (n, {name: of[name]["seconds_a_draw"]["median"] / of["none"]["seconds_a_draw"]["median"] for name in SAMPLERS})
        for n, of in line(found, kind, "HMC", d)
    ]


def draw_run_time(found: Found):
    """Plot the seconds of a draw, relative to no tempering, against the number of rows."""
    lines = {kind: of for kind in MODELS if (of := times(found, kind))}
    figure, axes = subplots(1, len(lines), (4.8 * len(lines), 4.2), sharey=True)
    color, handles = colors(SAMPLERS), {}
    for ax, (kind, of) in zip(axes[0], lines.items(), strict=True):
        sizes = [n for n, _ in of]
        for name in SAMPLERS:
            (handles[name],) = ax.plot(sizes, [each[name] for _, each in of], marker="o", color=color[name], **LINE)
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
    last = {kind: of[-1] for kind in MODELS if (of := times(found, kind))}
    ratios = {(kind, name): of[name] for kind, (_, of) in last.items() for name in TEMPERED}
    stt = [(n, of["STT"]) for n, of in times(found, "gp")]
    return [
        Claim(
            "Run times relative to no tempering (in brackets those of the paper)",
            "; ".join(
                f"{MODELS[kind]}, {n:,} rows: "
                + ", ".join(f"{name} {of[name]:.2f} ({PRINTED[kind][name]})" for name in TEMPERED)
                for kind, (n, of) in last.items()
            ),
            [abs(np.log(ratio / PRINTED[kind][name])) < np.log(1.25) for (kind, name), ratio in ratios.items()],
            "Reproduced if within 25 %. Transitions have a move at the posterior, and use the kernel "
            "of the level that is "
            "left; each move on another level evaluates its start once more; with few rows the "
            "overhead of Python counts.",
        ),
        Claim(
            f"A draw of STT costs at most {DEAREST_STT} times as much as one without tempering, Gaussian process with "
            "1,024 rows",
            ", ".join(f"{n:,} rows: {ratio:.2f}" for n, ratio in stt),
            [ratio <= DEAREST_STT for n, ratio in stt if n >= 1024],
            "By counts it is 1 + 2.4 times the sum of the cubes of the shares of levels 1 to 6, and "
            "one evaluation of the "
            "likelihood: 2.4. Smaller matrices cost more than the cube of their size says.",
        ),
        Claim(
            "Subsampling makes tempering cheaper",
            "; ".join(
                f"{MODELS[kind]}: SPT {of['SPT'] / of['PT']:.2f} of PT, STT {of['STT'] / of['TT']:.2f} of TT"
                for kind, (_, of) in last.items()
            ),
            [ratios[kind, sub] < ratios[kind, full] for kind in last for sub, full in (("SPT", "PT"), ("STT", "TT"))],
            "With few rows, the likelihood of a part of them takes as long as that of all.",
        ),
    ]


# ---- Figure 3 and the tables -----------------------------------------------------------------------------------


def draw_rows(found: Found):
    """Plot effective draws per second against rows, a panel for each model and kind of moves."""
    panels = [(panel, of) for panel in PANELS if (of := line(found, *panel))]
    figure, axes = subplots(1, len(panels), (4.2 * len(panels), 4.2))
    color, handles = colors(DRAWN), {}
    for ax, ((kind, inner, d), of) in zip(axes[0], panels, strict=True):
        sizes = [n for n, _ in of]
        for name in DRAWN:
            (handles[name],) = ax.plot(sizes, [ess(each, name) for _, each in of], color=color[name], **LINE)
            marked = [(n, ess(each, name)) for n, each in of if converged(each, name)]
            ax.plot(*zip(*marked, strict=True) if marked else ((), ()), "o", color=color[name])
        ticks_at(ax, "x", sizes)
        log_scale(ax, "y")
        ax.set_xlabel("rows")
        title(ax, f"{MODELS[kind]}, {inner}, {d} parameters")
    axes[0, 0].set_ylabel("effective draws a CPU second")
    legend_below(figure, handles)
    return figure


def rows_claims(found: Found) -> list[Claim]:
    lines = {f"{MODELS[kind]}, {inner}": of for kind, inner, d in PANELS if (of := line(found, kind, inner, d))}
    gains = {
        name: [max(ess(each, one) for one in TEMPERED) / ess(each, "none") for _, each in of]
        for name, of in lines.items()
        if len(of) > 1
    }
    last = {name: (of[-1][0], best(of[-1][1]), converged(of[-1][1], best(of[-1][1]))) for name, of in lines.items()}
    why = "Where chains have not converged, equation 8 gives them little less than one effective draw each."
    return [
        Claim(
            "The gain of tempering grows with the number of rows",
            "ratio of the best tempered sampler to none, from the fewest rows to the most: "
            + "; ".join(f"{name} " + ", ".join(f"{gain:.2f}" for gain in of) for name, of in gains.items()),
            [of[-1] > of[0] for of in gains.values()],
            why,
        ),
        Claim(
            "STT is best with many rows",
            "best: "
            + "; ".join(f"{name}, {n:,} rows: {one}{'' if done else '*'}" for name, (n, one, done) in last.items()),
            [one == "STT" for _, one, _ in last.values()],
            f"{why} (* not converged)",
        ),
    ]  # fmt: skip


def parameter_tables(found: Found) -> list[Table]:
    out = []
    for (kind, inner, n), printed in TABLES.items():
        adapted, rows = dict(column(found, "adapted", kind, inner, n)), []
        paper = column(found, "paper", kind, inner, n)
        for d, of in paper:
            entries = [
                significant(ess(of, name)) + ("" if converged(of, name) else "*") + (" ←" if name == best(of) else "")
                for name in DRAWN
            ]
            entries = [
                f"{entry} ({printed[d][at]:g})" if d in printed and at < len(SAMPLERS) else entry
                for at, entry in enumerate(entries)
            ]
            more = [significant(ess(adapted[d], name)) if d in adapted else "" for name in ("none", "STT", "SPT")]
            rows.append([str(d), *entries, *more])
        if rows:
            of = paper[0][1]
            lengths = {name: of[name]["n_draws"]["mean"] for name in DRAWN}
            caption = (
                f"{MODELS[kind]}, {n:,} rows, {inner}: effective draws a CPU second by equation 8, "
                "median over parameters "
                f"(in brackets the paper's; ← best of the first five; * R-hat not below {CONVERGED} for every table); "
                f"{len(of['none']['rhat']['values'])} tables; draws of a chain in the first line: "
                f"{listed(lengths, '{:.0f}')}"
            )
            heads = ["parameters", *DRAWN, "none, adapted", "STT, adapted", "SPT, adapted"]
            out.append(Table(caption, heads, rows))
    return out


def parameter_claims(found: Found) -> list[Claim]:
    columns = {
        f"{MODELS[kind]}, {inner}": (column(found, "paper", kind, inner, n), column(found, "adapted", kind, inner, n))
        for kind, inner, n in TABLES
    }
    gp = {name: paper for name, (paper, _) in columns.items() if paper and name.startswith(MODELS["gp"])}
    mean = {name: paper for name, (paper, _) in columns.items() if len(paper) > 1 and name.startswith(MODELS["mean"])}
    gains = {
        name: [max(ess(of, one) for one in TEMPERED) / ess(of, "none") for _, of in paper]
        for name, paper in mean.items()
    }
    falls = [
        ess(one, name) > ess(other, name)
        for paper, _ in columns.values()
        for (_, one), (_, other) in pairwise(paper)
        for name in SAMPLERS
    ]
    rhats = {
        name: [tuple(of[one]["rhat"]["median"] for one in ("none", "STT")) for _, of in paper]
        for name, paper in gp.items()
    }
    adapted = [
        (dict(paper)[d], of)
        for name, (paper, more) in columns.items()
        for d, of in more
        if name.endswith("HMC") and d in dict(paper)
    ]
    ratios = [ess(of, "none") / max(ess(paper, one) for one in SAMPLERS) for paper, of in adapted]
    return [
        Claim(
            "In the Gaussian process STT is best for nearly every number of parameters",
            "best: "
            + "; ".join(
                f"{name} " + ", ".join(best(of) + ("" if converged(of, best(of)) else "*") for _, of in paper)
                for name, paper in gp.items()
            ),
            [best(of) == "STT" for paper in gp.values() for _, of in paper],
            "Equation 8 has few degrees of freedom with three chains, and a floor where they have not converged (*).",
        ),
        Claim(
            "In the Gaussian process R-hat of STT is below that of no tempering, at equal work",
            "; ".join(
                f"{name} " + ", ".join(f"{stt:.2f} against {none:.2f}" for none, stt in pairs)
                for name, pairs in rhats.items()
            ),
            [stt < none for pairs in rhats.values() for none, stt in pairs],
            "Medians over tables and parameters.",
        ),
        Claim(
            "In the normal model the gain of tempering grows with the number of parameters",
            "ratio of the best tempered sampler to none: "
            + "; ".join(f"{name} " + ", ".join(f"{gain:.2f}" for gain in of) for name, of in gains.items()),
            [of[-1] > of[0] for of in gains.values()],
            "The posterior has one mode, and no sampler has to find others.",
        ),
        Claim(
            "Effective draws per second decrease with the number of parameters",
            f"in {sum(falls)} of {len(falls)} pairs of neighbours",
            falls,
            "Where chains have not converged, the estimate hardly depends on them.",
        ),
        *variance_claims(found),
        Claim(
            "Tempering at the paper's setting makes more effective draws than adapted Hamiltonian Monte Carlo without",
            "adapted over the best at the paper's setting: " + ", ".join(significant(ratio) for ratio in ratios),
            [ratio < 1.0 for ratio in ratios],
            "The warm-up does not count, nor the first half of the draws at the paper's setting.",
        ),
    ]


def variance_claims(found: Found) -> list[Claim]:
    """Of the normal model, whose posterior is known."""
    of = {d: each for d, each in column(found, "paper", "mean", "HMC", 1024) if "variance_ratio" in each["none"]}
    if not of:
        return []
    ratios = {name: [each[name]["variance_ratio"]["mean"] for each in of.values()] for name in DRAWN}
    right = [abs(np.log(ratio)) < np.log(1.25) for name in SAMPLERS for ratio in ratios[name]]
    return [
        Claim(
            "Chains that R-hat calls converged have the variance of the posterior (normal model, 1,024 rows, HMC)",
            "mean squared distance from the exact mean over the exact variance: "
            + "; ".join(f"{name} " + ", ".join(f"{ratio:.2f}" for ratio in of) for name, of in ratios.items()),
            right,
            "Within 25 %. Half and twice of a prior mean of 0 are 0: all chains start at one point, and R-hat sees no "
            "difference between them. Ten steps of 0.01 are about half a period of the posterior, after which a point "
            "is at its mirror image, so Hamiltonian Monte Carlo alone hardly forgets how far from the mean it was.",
        ),
        Claim(
            "Transitions with the kernels as printed have it, too",
            "STT, printed: " + ", ".join(f"{ratio:.2f}" for ratio in ratios["STT, printed"]),
            [abs(np.log(ratio)) < np.log(1.25) for ratio in ratios["STT, printed"]],
            "A path by these kernels is not the reverse of another, so detailed balance does not hold.",
        ),
    ]
