"""The row kernel and held-out density against lace, with all columns in one view, where the models are comparable.

Both learn a Dirichlet- or Pitman-Yor-process mixture of the same mixed table, one chain each. lace's transitions are
limited to rows, their prior and the columns' hyperpriors; its columns stay in one view. pylace needs older versions of
pandas and polars than the tests of this package: install it in a separate environment.
"""

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report, skip, split, spread

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SequentialGibbs


def planted(n_rows: int, n_real: int, n_categorical: int, n_clusters: int, seed: int) -> pd.DataFrame:
    """A mixed table of well separated clusters; categories are strings."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n_rows)
    columns = {}
    for j in range(n_real):
        columns[f"real{j:02d}"] = rng.normal(size=n_rows) + 4.0 * rng.normal(size=n_clusters)[labels]
    for j in range(n_categorical):
        codes = (rng.integers(0, 5, n_clusters)[labels] + rng.integers(0, 2, n_rows)) % 5
        columns[f"kind{j:02d}"] = np.array(list("abcde"))[codes]
    frame = pd.DataFrame(columns)
    frame.index = pd.Index([f"row{i}" for i in range(n_rows)], name="ID")
    return frame


def run_lace(lace, train, test, seconds: int, n_sweeps: int, seed: int) -> dict:
    """Cells per second of Gibbs sweeps, and the held-out log density after ``seconds`` of learning."""
    engine = lace.Engine.from_df(train, n_states=1, rng_seed=seed, flat_columns=True)
    rows = lace.StateTransition.row_assignment(lace.RowKernel.gibbs())
    learn = [rows, lace.StateTransition.view_prior_process_params(), lace.StateTransition.feature_priors()]
    with Clock() as learning:
        engine.update(1_000_000, timeout=seconds, transitions=learn, quiet=True)
    with Clock() as sweeping:
        engine.update(n_sweeps, transitions=[rows], quiet=True)
    return {
        "million_cells_per_second": n_sweeps * train.size / sweeping.cpu / 1e6,
        "score": float(np.mean(np.asarray(engine.logp(test)))),
        "seconds": learning.wall,
        "n_clusters": len(set(engine.row_assignments(0)[0])),
    }


def run_ours(train, test, seconds: int, n_sweeps: int, seed: int) -> dict:
    """The same for this package; the sweeps are timed as the difference of two fits, one with more sweeps."""
    shared = {"covariance_type": "diag", "feature_types": "from_dtype", "n_chains": 1, "n_draws": 1}
    shared["random_state"] = seed
    model = SubsampleAnnealedDPMM(time_limit=seconds, **shared)
    with Clock() as learning:
        model.fit(train)
    times = []
    for extra in (0, n_sweeps):
        plain = SubsampleAnnealedDPMM(schedule=SequentialGibbs(10 + extra), learn_hyperparameters=False, **shared)
        with Clock() as clock:
            plain.fit(train)
        times.append(clock.cpu)
    return {
        "million_cells_per_second": n_sweeps * train.size / (times[1] - times[0]) / 1e6,
        "score": model.score(test),
        "seconds": learning.wall,
        "n_clusters": model.n_clusters_,
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--rows", type=int, default=20_000)
    given.add_argument("--seconds", type=int, default=10, help="time bound of learning")
    arguments = given.parse_args()
    try:
        import lace
    except ImportError:
        return skip("against_lace", arguments, "pylace is not installed; run: pip install pylace")
    shape, n_sweeps = (16, 16, 30), 20
    if arguments.quick:
        arguments.rows, arguments.seconds, shape = 1_000, 1, (4, 4, 5)
    runs: dict[str, list] = {"lace": [], "sklearn_subanneal": []}
    for seed in range(arguments.seeds):
        frame = planted(arguments.rows, *shape, seed)
        train, test = (frame.iloc[rows] for rows in split(len(frame), seed))
        runs["lace"].append(run_lace(lace, train, test, arguments.seconds, max(n_sweeps // 10, 1), seed))
        runs["sklearn_subanneal"].append(run_ours(train, test, arguments.seconds, n_sweeps, seed))
        for name, found in runs.items():
            note(f"seed {seed} {name}: " + ", ".join(f"{key} {value:.4g}" for key, value in found[-1].items()))
    results = {name: {key: spread([run[key] for run in found]) for key in found[0]} for name, found in runs.items()}
    report("against_lace", arguments, results, shape={"real": shape[0], "categorical": shape[1], "clusters": shape[2]})


if __name__ == "__main__":
    main()
