"""Figures of Mandt, McInerney, Abrol, Ranganath and Blei (2016), Variational Tempering."""

from __future__ import annotations

import numpy as np

from figures import factorial
from figures.figure import Claim, Figure, Found, Paper, Run, Table
from figures.style import LINE, colors, legend_below, log_scale, subplots, title

CORPORA = {"kos": "KOS", "nips": "NIPS", "arxiv": "arXiv abstracts"}
# The paper's methods, and annealing with the best of several schedules.
METHODS = ("SVI", "AVI", "AVI, tuned", "VT", "LVT")
SYSTEMS = ("default", "two passes", "scikit-learn", "gensim", "tomotopy")
# Difference in nats per word up to which VT counts as equal to the best schedule.
NEAR = 0.02


# ---- Figure 1 --------------------------------------------------------------------------------------------------


def draw_two_gaussians(found: Found):
    """Plot the bound against both means for each temperature, with the paths of both ascents in the last panel."""
    results = found["two_gaussians"]["results"]
    grid, surfaces = results["grid"], results["surfaces"]
    figure, axes = subplots(1, len(surfaces), (3.4 * len(surfaces), 3.8), sharex=True, sharey=True)
    for ax, (temperature, of) in zip(axes[0], surfaces.items(), strict=True):
        bound = np.transpose(of["bound"])
        # Only the part of the surface near the maximum is visible.
        low, high = np.quantile(bound, 0.35), bound.max()
        ax.contourf(grid, grid, np.maximum(bound, low), levels=np.linspace(low, high, 24), cmap="Blues", extend="both")
        row, column = np.unravel_index(bound.argmax(), bound.shape)
        ax.plot(grid[column], grid[row], "o", color="#D55E00", markersize=7, label="global optimum")
        ax.grid(visible=False)
        optima = f"{of['maxima']} optim{'um' if of['maxima'] == 1 else 'a'}"
        ax.set(xlabel="mean of component 0", aspect="equal")
        title(ax, f"T = {float(temperature):g}: {optima}")
    # At T = 1 the means stay close to their start.
    for name, color, marker in (("T = 1", "#000000", "o"), ("annealed", "#009E73", "")):
        path = np.transpose(results["ascents"][name]["path"])
        axes[0, -1].plot(*path, color=color, marker=marker, label=f"ascent, {name}", **LINE)
    axes[0, 0].set_ylabel("mean of component 1")
    handles, labels = axes[0, -1].get_legend_handles_labels()
    legend_below(figure, dict(zip(labels, handles, strict=True)))
    return figure


def two_gaussians_claims(found: Found) -> list[Claim]:
    results = found["two_gaussians"]["results"]
    maxima = [of["maxima"] for of in results["surfaces"].values()]
    listed = ", ".join(f"{of['maxima']} at T = {float(t):g}" for t, of in results["surfaces"].items())
    bounds = {name: of["bound"] for name, of in results["ascents"].items()}
    return [
        Claim(
            "There is one optimum at high temperatures, and there are two at T = 1",
            f"optima: {listed}",
            [maxima[0] == 1, maxima[-1] == 2],
            "The temperature at which the second one appears depends on the data, which the paper does not give.",
        ),
        Claim(
            "Annealing leads to the better optimum",
            f"from the poorer optimum: bound {bounds['annealed']:.1f} annealed, {bounds['T = 1']:.1f} at T = 1",
            [bounds["annealed"] > bounds["T = 1"]],
            "With few rows the weights hardly distinguish the components.",
        ),
    ]


# ---- Figure 2 --------------------------------------------------------------------------------------------------


def families(found: Found) -> dict[tuple[str, str], dict]:
    results = found["lda_temperatures"]["results"]
    return {(corpus, family): of for corpus, result in results.items() for family, of in result.items()}


def draw_temperatures(found: Found):
    """Top: nats against seconds for the first seed; bottom: traces of E[1/T]; a column for each corpus and family."""
    columns = families(found)
    figure, axes = subplots(2, len(columns), (3.4 * len(columns), 6.2))
    color, handles = colors(METHODS), {}
    for (above, below), ((corpus, family), of) in zip(axes.T, columns.items(), strict=True):
        for method, curves in of["curves"].items():
            points = curves[0]
            style = LINE | {"color": color[method], "markersize": 3}
            above.plot([p["cpu"] for p in points], [p["nats"] for p in points], marker="o", **style)
            values = points[-1]["inverse_temperature"]
            (handles[method],) = below.plot(np.linspace(0, 1, len(values)), values, **style)
        title(above, f"{CORPORA[corpus]}, {family}")
        above.set_xlabel("CPU seconds")
        below.set(xlabel="share of the passes", ylim=(0.35, 1.03))
    axes[0, 0].set_ylabel("nats a held-out word")
    axes[1, 0].set_ylabel("E[1/T]")
    legend_below(figure, handles)
    return figure


def temperature_claims(found: Found) -> list[Claim]:
    columns = families(found)
    nats = {
        f"{CORPORA[corpus]}, {family}": {method: of[method]["nats"]["mean"] for method in METHODS if method in of}
        for (corpus, family), of in columns.items()
    }

    def gaps(ours, others):
        return {
            name: min(of[one] for one in ours) - max(of[other] for other in others if other in of)
            for name, of in nats.items()
            if all(one in of for one in ours) and any(other in of for other in others)
        }

    over, near, local = gaps(["AVI"], ["SVI"]), gaps(["VT"], ["AVI", "AVI, tuned"]), gaps(["LVT"], ["AVI", "VT"])
    ends = {
        f"{CORPORA[corpus]}, {family}": of["curves"]["VT"][0][-1]["inverse_temperature"][-1]
        for (corpus, family), of in columns.items()
        if "VT" in of["curves"]
    }

    def listed(values):
        return "; ".join(f"{name} {value:+.3f}" for name, value in values.items())

    return [
        Claim(
            "Annealing predicts held-out words better than SVI",
            f"AVI minus SVI, nats per word: {listed(over)}",
            [gain > 0.0 for gain in over.values()],
            "With this package's plug-in topics, which start apart, and larger steps there may be little left to gain.",
        ),
        Claim(
            "VT is as good as the best schedule",
            f"VT minus the best AVI: {listed(near)} (reproduced if at least −{NEAR})",
            [gap >= -NEAR for gap in near.values()],
            "The tuned AVI is the best of twelve schedules.",
        ),
        Claim(
            "LVT is better than AVI and VT",
            f"LVT minus the better of both: {listed(local)}",
            [gain > 0.0 for gain in local.values()],
            "Differences of a hundredth of a nat are within the spread over seeds. The printed local temperatures "
            "are applied twice, and were not run here.",
        ),
        Claim(
            "VT cools by itself",
            "E[1/T] in the end: " + "; ".join(f"{name} {end:.3f}" for name, end in ends.items()),
            [end > 0.99 for end in ends.values()],
            "This run has the corrected energies; those that are printed were not run here.",
        ),
    ]


def temperature_table(found: Found) -> list[Table]:
    rows = []
    for (corpus, family), of in families(found).items():
        cells = [
            f"{of[m]['nats']['mean']:.3f} ({of[m]['nats']['sd']:.3f}), {of[m]['cpu']['median']:.3g} s"
            if m in of
            else ""
            for m in METHODS
        ]
        rows.append([f"{CORPORA[corpus]}, {family}, {of['passes']} passes", *cells])
    caption = "Nats a held-out word: means (standard deviations) over seeds, and median CPU seconds"
    return [Table(caption, ["corpus and updates", *METHODS], rows)]


# ---- Beside other packages -------------------------------------------------------------------------------------


def draw_completion(found: Found):
    """Plot nats against seconds, a panel for each corpus; means over seeds."""
    results = found["lda_completion"]["results"]
    figure, axes = subplots(1, len(results), (4.4 * len(results), 4.2))
    color, handles = colors(SYSTEMS), {}
    for ax, (corpus, result) in zip(axes[0], results.items(), strict=True):
        for method, curves in result["curves"].items():
            line = [np.mean([[point[key] for point in curve] for curve in curves], axis=0) for key in ("cpu", "nats")]
            (handles[method],) = ax.plot(*line, marker="o", color=color[method], **LINE)
        log_scale(ax, "x")
        ax.set_xlabel("CPU seconds of training")
        title(ax, f"{CORPORA[corpus]}, {result['documents']:,} documents, {result['topics']} topics")
    axes[0, 0].set_ylabel("nats a held-out word")
    legend_below(figure, handles)
    return figure


def completion_table(found: Found) -> list[Table]:
    results = found["lda_completion"]["results"]
    rows = []
    for method in SYSTEMS:
        last = [result["last"].get(method) for result in results.values()]
        if any(last):
            rows.append(
                [method, *(f"{of['nats']['median']:.3f} at {of['cpu']['median']:.3g} s" if of else "" for of in last)]
            )
    caption = "Nats a held-out word and CPU seconds, medians over seeds"
    return [Table(caption, ["", *(CORPORA[corpus] for corpus in results)], rows)]


PAPER = Paper(
    "variational",
    "Variational tempering (Mandt and others 2016)",
    [
        Figure(
            "two_gaussians",
            "Figure 1: the annealed bound of two Gaussians",
            "The bound as a function of the two means with everything else at its optimum, at four temperatures; the "
            "last panel also has the paths of coordinate ascent from the poorer optimum.",
            [
                "The paper gives neither data nor weights. Here: 200 observations, weights 0.7 and 0.3, means −3 and "
                "3, variance 1.",
            ],
            [Run("two_gaussians", "two_gaussians", minutes=0.2)],
            draw_two_gaussians,
            two_gaussians_claims,
        ),
        Figure(
            "lda_temperatures",
            "Figure 2: topics at equal passes",
            "Held-out document completion against CPU seconds for one seed, and below it E[1/T] during the run (median "
            "over documents for LVT). “Paper's steps” are coordinate updates with the paper's start, minibatches and "
            "step sizes; “default” are the package's defaults; “AVI, tuned” is the best of twelve schedules, chosen "
            "on a tenth of the training documents.",
            [
                "The New York Times (1.7 million articles), 640,000 arXiv abstracts and Wikipedia are not available. "
                "Here: 1,350 NIPS papers with 50 topics, and 36,000 arXiv abstracts with 100, instead of 500 topics.",
                "Energies and partition functions are corrected, and temperatures reach up to 1.6 (2.5 for short "
                "documents), not 10: the printed version compares two different models, and does not cool "
                "(`global-paper` and `local-paper`; the theory pages derive this).",
                "Lengths of schedules are fractions of the run, because with so few documents 0.01 passes are one "
                "minibatch.",
            ],
            [Run("lda_temperatures", "lda_temperatures", "--seeds 2 --grid-seeds 1", 18)],
            draw_temperatures,
            temperature_claims,
            temperature_table,
        ),
        *factorial.FIGURES,
        Figure(
            "lda_completion",
            "Topics of this and of other packages",
            "Held-out document completion against CPU seconds of training, one thread, the same evaluator for all; "
            "means over seeds.",
            [
                "Not in the paper. gensim and tomotopy are drawn if they are installed: pip install gensim "
                "tomotopy, then run again with --fresh.",
            ],
            [Run("lda_completion", "lda_completion", "--seeds 2 --peer-seeds 1", 13)],
            draw_completion,
            tables=completion_table,
        ),
    ],
)
