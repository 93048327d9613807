"""Samplers of normalized random measure mixtures at equal CPU time, with the statistics of Lee and Choi's tables.

Data: "toy" (1,300 points in the plane, 13 clusters), "power-law" (10,000 x 6, labels by a Pitman-Yor process) or
"nips" (1,500 documents; the copy used here has only the 7,605 words, of 12,419, that occur more than 20 times). All
chains of a seed start from the same partition. "seconds_to_best" is the time until a chain is within 1 nat of the
highest log joint of all chains, or the time limit if it never is; "curve" is the mean log joint over time. The log
joint of an NGGP has u integrated out, at the current mass and sigma.

To compare settings, pass several values of ``--n-global`` or of ``--n-local``.
"""

import itertools

import numpy as np
from _common import note, parser, report, skip, spread
from _nrmm import (
    PROCESSES,
    SAMPLERS,
    blobs,
    curve,
    documents,
    gaussian_columns,
    multinomial_columns,
    power_law,
    run,
    seconds_to,
    summary,
)

DEFAULT = ["gibbs", "split-merge", "tree-guided", "tree-guided-similar", "tree-guided-paper"]


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--data", choices=("toy", "power-law", "nips"), default="toy")
    given.add_argument("--data-home", default=None, help="folder of the development data, for nips")
    given.add_argument("--process", choices=tuple(PROCESSES), default="dp")
    given.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=DEFAULT)
    given.add_argument("--seconds", type=float, default=10.0, help="CPU seconds of each chain")
    given.add_argument("--n-global", type=int, nargs="+", default=[20])
    given.add_argument("--n-local", type=int, nargs="+", default=[2])
    given.add_argument(
        "--share", type=float, default=0.1, help="fraction of the rows moved by Gibbs sampling in addition to proposals"
    )
    given.add_argument("--start", choices=("entering", "one"), default="entering")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.seconds = 1, 0.3
    data = {}
    if arguments.data == "nips":
        corpus = documents(arguments.data_home, 100 if arguments.quick else None)
        if corpus is None:
            return skip("nrmm_samplers", arguments, "the NIPS corpus was not found")
        columns, n_rows = multinomial_columns(corpus), corpus.shape[0]
    else:
        X, labels = blobs() if arguments.data == "toy" else power_law(500 if arguments.quick else 10_000)
        if arguments.data == "toy":
            data = {"points": X.round(2).tolist(), "labels": labels.tolist()}
        columns, n_rows = gaussian_columns(X), len(X)

    runs: dict[str, list] = {}
    for seed in range(arguments.seeds):
        for sampler, n_global, n_local in itertools.product(arguments.samplers, arguments.n_global, arguments.n_local):
            name = sampler
            if len(arguments.n_global) > 1:
                name += f", {n_global} global"
            if len(arguments.n_local) > 1:
                name += f", {n_local} local"
            found = run(
                [column.twin() for column in columns],
                n_rows,
                sampler,
                process=arguments.process,
                seconds=arguments.seconds,
                seed=seed,
                start=arguments.start,
                n_global=n_global,
                n_local=n_local,
                share=arguments.share,
            )
            runs.setdefault(name, []).append(found)
            note(f"seed {seed} {name}: " + ", ".join(f"{key} {value:.4g}" for key, value in summary(found).items()))
    best = max(found["trace"][:, 1].max() for chains in runs.values() for found in chains)
    results = {}
    for name, chains in runs.items():
        figures = [summary(found) for found in chains]
        results[name] = {key: spread([one[key] for one in figures]) for key in figures[0]}
        times = np.array([seconds_to(found, best - 1.0) for found in chains])
        results[name]["runs_that_reach_best"] = int(np.isfinite(times).sum())
        results[name]["seconds_to_best"] = spread(np.minimum(times, arguments.seconds))
        results[name]["curve"] = curve(chains, arguments.seconds)
    report("nrmm_samplers", arguments, results, best_log_joint=best, n_rows=n_rows, **data)


if __name__ == "__main__":
    main()
