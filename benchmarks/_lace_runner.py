"""Runs lace in a separate process: the request is a file of arrays, the results are JSON.

pylace needs older versions of pandas and polars than the tests of this package, hence an environment of its own.
Run as a script, this file is the process with lace, which imports nothing of this package.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

NEVER = 1_000_000


def interpreter(given: str | None) -> str | None:
    """The Python interpreter with pylace: the given one, or $LACE_PYTHON; None if neither is set."""
    return given or os.environ.get("LACE_PYTHON")


def run_lace(
    python: str,
    train: np.ndarray,
    kinds: list[str],
    checkpoints,
    *,
    test: np.ndarray | None = None,
    cells: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    transitions: str | None = "sams",
    n_states: int = 1,
    seed: int = 0,
) -> list[dict]:
    """Fit lace on one thread, and evaluate the model after each of the given numbers of CPU seconds.

    Parameters
    ----------
    python : str
        The interpreter that has pylace.
    train : ndarray of shape (n_rows, n_columns)
        Reals, and codes of categories; NaN is missing.
    kinds : list of str
        "real", "categorical" or "boolean" for each column.
    checkpoints : sequence of float
        Ascending CPU seconds of learning, all states together.
    test : ndarray of shape (n_test, n_columns), default=None
        Rows to score.
    cells : tuple of (rows, columns, truth), default=None
        Missing cells of ``train`` to score given the observed cells of their rows, and to impute.
    transitions : {"sams", "fast"} or None, default="sams"
        One of lace's named sets of transitions; None: its defaults.
    n_states : int, default=1
        Chains of lace.
    seed : int, default=0

    Returns
    -------
    found : list of dict
        For each checkpoint: "cpu", "wall", "sweeps", "column_labels" (a list for each state), "scores" (of the rows of
        ``test``), "cell_scores" and "imputed" (of ``cells``), "version" (of pylace).
    """
    request = {"train": train, "kinds": np.array(kinds), "checkpoints": np.asarray(checkpoints, dtype=float)}
    if test is not None:
        request["test"] = test
    if cells is not None:
        request |= dict(zip(("rows", "columns", "truth"), cells, strict=True))
    options = {"transitions": transitions, "n_states": n_states, "seed": seed}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "request.npz")
        np.savez(path, options=json.dumps(options), **request)
        found = subprocess.run(
            [python, __file__, str(path)],
            capture_output=True,
            text=True,
            env=os.environ | {"RAYON_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        )
    if found.returncode:
        raise RuntimeError(f"lace failed under {python}:\n{found.stderr[-2000:]}")
    return json.loads(found.stdout)


def _cell(value: float, kind: str):
    """A cell in lace's format: a number, or a string for a category."""
    if np.isnan(value):
        return None
    return float(value) if kind == "real" else f"v{int(value)}"


def _frame(values, kinds):
    """A polars table of named columns."""
    import polars as pl

    return pl.DataFrame(
        {
            f"c{j:03d}": pl.Series(
                [_cell(value, kind) for value in values[:, j]], dtype=pl.Float64 if kind == "real" else pl.Utf8
            )
            for j, kind in enumerate(kinds)
        }
    )


def _learn(engine, transitions, cpu: float, spent: float) -> tuple[float, int]:
    """Sweeps until ``cpu`` seconds are spent, in bursts that grow to about a tenth of what is left."""
    sweeps, burst = 0, 1
    while spent < cpu:
        started = time.process_time()
        engine.update(burst, transitions=transitions, quiet=True)
        used = time.process_time() - started
        spent, sweeps = spent + used, sweeps + burst
        burst = int(np.clip(0.1 * (cpu - spent) / max(used / burst, 1e-6), 1, 2 * burst))
    return spent, sweeps


def _score_cells(engine, train, kinds, rows, columns, truth) -> list[float]:
    """log p of each cell given the observed cells of its row."""
    import polars as pl

    given = {}
    for row in np.unique(rows):
        observed = np.flatnonzero(~np.isnan(train[row]))
        given[row] = {f"c{j:03d}": _cell(train[row, j], kinds[j]) for j in observed}
    return [
        float(engine.logp(pl.Series(f"c{column:03d}", [_cell(value, kinds[column])]), given=given[row]))
        for row, column, value in zip(rows, columns, truth, strict=True)
    ]


def _impute(engine, kinds, rows, columns) -> list[float]:
    """Codes and numbers that lace imputes for the cells."""
    out = np.empty(len(rows))
    for column in np.unique(columns):
        places = np.flatnonzero(columns == column)
        name = f"c{column:03d}"
        found = engine.impute(name, rows=[f"row{row}" for row in rows[places]], with_uncertainty=False)
        values = dict(zip(found["index"].to_list(), found[name].to_list(), strict=True))
        for place in places:
            value = values[f"row{rows[place]}"]
            out[place] = value if kinds[column] == "real" else int(value[1:])
    return out.tolist()


def main() -> None:
    import lace
    import polars as pl

    with np.load(sys.argv[1]) as archive:
        request = dict(archive)
    options, kinds = json.loads(str(request["options"])), request["kinds"].tolist()
    train = request["train"]
    frame = _frame(train, kinds)
    names = pl.Series("ID", [f"row{i}" for i in range(len(frame))])
    engine = lace.Engine.from_df(frame.insert_column(0, names), n_states=options["n_states"], rng_seed=options["seed"])
    test = _frame(request["test"], kinds) if "test" in request else None
    cells = [request[name] for name in ("rows", "columns", "truth")] if "rows" in request else None
    found, spent, sweeps, started = [], 0.0, 0, time.perf_counter()
    for cpu in request["checkpoints"]:
        spent, more = _learn(engine, options["transitions"], cpu, spent)
        sweeps += more
        record = {"version": version("pylace"), "cpu": spent, "wall": time.perf_counter() - started, "sweeps": sweeps}
        record["column_labels"] = [engine.column_assignment(state) for state in range(options["n_states"])]
        if test is not None:
            record["scores"] = np.asarray(engine.logp(test)).tolist()
        if cells is not None:
            looking = time.process_time()
            record["cell_scores"] = _score_cells(engine, train, kinds, *cells)
            record["query_cpu"] = time.process_time() - looking
            record["imputed"] = _impute(engine, kinds, *cells[:2])
        found.append(record)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
