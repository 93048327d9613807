"""Does CrossCat end in shards where it ends in one piece? The same tables, both ways, with independent real columns.

For each table and seed, two chains of ``CrossCat(covariance_type="diag")`` are fitted to the table, and two to a
``ShardedTable`` of it, whose chains start on a quarter of the rows at most, and have to find what the others say.
Both start with the same random numbers, and see no test rows, an eighth. The log joint densities cannot be compared
where real columns are chosen to be transformed, or numbers to be counts, from fewer rows; held-out densities can.
"""

from __future__ import annotations

import numpy as np
from _common import Clock, note, parser, report, split, spread
from _frames import READERS, read
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat
from sklearn_subanneal.datasets import make_planted_views
from sklearn_subanneal.shards import ShardedTable

N_CHAINS = 2


def planted(n_rows: int, seed: int):
    """Twenty columns of three types in four views."""
    return make_planted_views(n_rows, 20, missing=0.05, as_frame=True, random_state=seed).data


def figures(model: CrossCat, test, seconds: float) -> dict:
    """Of one fit."""
    return {
        "log_joint": float(model.log_joint_.mean()),
        "held_out": float(model.score(test)),
        "n_views": model.n_views_,
        "cpu_seconds": seconds,
    }


def compare(frame, seed: int) -> dict:
    """Both fits, and the adjusted Rand index of their views."""
    train, test = (frame.iloc[rows].reset_index(drop=True) for rows in split(len(frame), seed))
    settings = {"covariance_type": "diag", "n_chains": N_CHAINS, "random_state": seed}
    with Clock() as clock:
        whole = CrossCat(**settings).fit(train)
    out = {f"whole {name}": value for name, value in figures(whole, test, clock.cpu).items()}
    with Clock() as clock:
        shards = CrossCat(**settings).fit(ShardedTable(train, n_start_rows=min(20_000, len(train) // 4)))
    out |= {f"shards {name}": value for name, value in figures(shards, test, clock.cpu).items()}
    views = [model.posterior_column_labels_[:, -1] for model in (whole, shards)]
    out["view_ari"] = float(np.mean([adjusted_rand_score(a, b) for a in views[0] for b in views[1]]))
    out["view_ari_of_whole"] = float(adjusted_rand_score(*views[0]))
    return out


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    names = ["planted", "hospitals", "kdd", "adult"]
    given.add_argument("--tables", nargs="+", default=names, choices=["planted", *READERS])
    given.add_argument("--rows", type=int, default=100_000, help="of the planted table")
    arguments = given.parse_args()
    results = {}
    for name in arguments.tables:
        frame = None if name == "planted" else read(name, arguments.data, 300 if arguments.quick else None)
        if frame is None and name != "planted":
            note(f"{name}: no file")
            continue
        seeds = range(1 if arguments.quick else arguments.seeds)
        n_rows = 2000 if arguments.quick else arguments.rows
        runs = [compare(planted(n_rows, seed) if frame is None else frame, seed) for seed in seeds]
        results[name] = {key: spread([own[key] for own in runs]) for key in runs[0]}
        note(f"{name}: " + ", ".join(f"{key} {found['median']:.5g}" for key, found in results[name].items()))
    report("shards_crosscat", arguments, results)


if __name__ == "__main__":
    main()
