"""The demo: hospital regions learned by three strategies under equal time bounds; first panel of the paper's figure 3.

F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing, AISTATS,
section 4.
"""

import argparse
import json
import time
from pathlib import Path

from _common import machine
from _strategies import compare, show_progress, summarize, table
from figures.strategies import panels

from sklearn_subanneal.datasets import load_hospitals

BOUNDS = (0.1, 0.25, 0.5, 1.2)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bounds", type=float, nargs="+", default=BOUNDS, help="seconds of a chain")
    arguments.add_argument("--seeds", type=int, default=8)
    arguments.add_argument("--jobs", type=int, default=2, help="number of chains run in parallel")
    arguments.add_argument("--output", type=Path, default=Path("output"), help="folder of figure and JSON")
    given = arguments.parse_args()

    X = load_hospitals(as_frame=False).data
    n_rows, n_columns = X.shape
    fits = 3 * len(given.bounds) * given.seeds
    expected = 3 * given.seeds * sum(given.bounds) / given.jobs
    print(f"Dartmouth Atlas 2008: {n_rows} hospital regions, {n_columns} real columns.")
    print(f"{fits} fits of one chain each, on 7/8 of the regions; scored on the other 1/8. About {expected:.0f} s.")
    started = time.perf_counter()
    records = compare(X, given.bounds, given.seeds, n_jobs=given.jobs, progress=show_progress)
    summary = summarize(records)
    print(f"\nHeld-out log density per row (nats), {given.seeds} seeds\n\n{table(summary)}")
    print('"sd, split" is the standard deviation without the differences between easy and difficult splits.')
    given.output.mkdir(parents=True, exist_ok=True)
    figure, data = given.output / "hospitals.png", given.output / "hospitals.json"
    title = f"Hospitals, {n_rows} × {n_columns}: {given.seeds} splits, one chain each"
    panels([(title, records)]).savefig(figure, dpi=150)
    document = {"machine": machine(), "summary": summary, "runs": records}
    data.write_text(json.dumps(document, indent=1))
    print(f"Figure: {figure}   data: {data}   {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
