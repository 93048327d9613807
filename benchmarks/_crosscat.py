"""Helpers of the CrossCat benchmarks: the model from command-line parameters, and results of lace for comparison."""

from __future__ import annotations

import argparse
import ast

import numpy as np
from _common import note, parser, spread
from _lace_runner import interpreter, run_lace
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import schedules
from sklearn_subanneal.posterior import log_mean_exp
from sklearn_subanneal.views import ColumnPacing

LACE_TRANSITIONS = {"sams": "sams", "defaults": None}


def crosscat_parser(description: str, seeds: int, engines=("ours",), lace_seconds=None) -> argparse.ArgumentParser:
    """Arguments of a CrossCat benchmark; arguments of lace only if ``lace_seconds`` are given."""
    given = parser(description, seeds=seeds)
    given.add_argument("--engines", nargs="+", choices=engines, default=list(engines), help="engines to run")
    given.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="parameters of CrossCat, also schedule=accelerating schedule__passes=16 column_pacing__patience=4",
    )
    if lace_seconds is not None:
        given.add_argument("--lace-python", help="interpreter that has pylace (default: $LACE_PYTHON)")
        given.add_argument(
            "--lace-seconds", type=float, nargs="+", default=lace_seconds, help="CPU seconds at which lace is evaluated"
        )
        given.add_argument(
            "--lace-transitions", nargs="+", choices=list(LACE_TRANSITIONS), default=list(LACE_TRANSITIONS)
        )
    return given


def crosscat(arguments: argparse.Namespace, **parameters):
    """One chain on one thread unless `--chains` or `--set` change this, with the parameters of the command line."""
    model = CrossCat(**({"n_chains": 1, "n_jobs": 1, "column_pacing": ColumnPacing()} | parameters))
    chosen = dict(pair.split("=", 1) for pair in arguments.set)
    if "schedule" in chosen:
        model.schedule = schedules.resolve_schedule(chosen.pop("schedule"))
    return model.set_params(**{name: _literal(text) for name, text in chosen.items()})


def lace_python(arguments: argparse.Namespace) -> str | None:
    """The interpreter for lace, or None with a note if lace is not requested or not installed."""
    if "lace" not in arguments.engines:
        return None
    python = interpreter(arguments.lace_python)
    if python is None:
        note("lace: skipped; name an interpreter that has pylace by --lace-python or LACE_PYTHON")
    return python


def lace_curves(python, arguments, train, test, kinds, seed: int, columns=None, origin: float = 0.0) -> dict:
    """Held-out density of one state of lace over CPU seconds, by each set of transitions.

    ``columns`` are the true views, ``origin`` is subtracted from the mean log densities. "averaged" is the density of
    the mean of the states at the checkpoints of the second half.
    """
    curves = {}
    for name in arguments.lace_transitions:
        found = run_lace(
            python, train, kinds, arguments.lace_seconds, test=test, transitions=LACE_TRANSITIONS[name], seed=seed
        )
        curves[name] = []
        for number, record in enumerate(found):
            scores = np.array([later["scores"] for later in found[number // 2 : number + 1]])
            labels = record["column_labels"][0]
            point = {
                "cpu_seconds": record["cpu"],
                "sweeps": record["sweeps"],
                "held_out": float(scores[-1].mean() - origin),
                "held_out_median_row": float(np.median(scores[-1])),
                "held_out_averaged": float(log_mean_exp(scores, axis=0).mean() - origin),
                "n_views": len(set(labels)),
            }
            if columns is not None:
                point["view_ari"] = adjusted_rand_score(columns, labels)
            curves[name].append(point)
        note(f"seed {seed} lace {name}: " + "; ".join(described(point) for point in curves[name]))
    return curves


def described(figures: dict) -> str:
    """The results in one line."""
    return ", ".join(f"{key} {value:.4g}" for key, value in figures.items() if value is not None)


def summarize_curves(curves: list[dict]) -> dict:
    """Spread of the results over seeds, for each checkpoint."""
    return {
        name: [
            {key: spread([curve[name][number][key] for curve in curves]) for key in point}
            for number, point in enumerate(points)
        ]
        for name, points in curves[0].items()
    }


def _literal(text: str):
    """The text as a Python literal if it is one, else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
