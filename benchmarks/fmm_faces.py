"""Factorial mixtures of faces (Extended Yale B): held-out bounds and components by VI, annealing and tempering."""

import numpy as np
from _common import Clock, find_data, note, parser, report, skip, spread
from _fmm import course

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.variational import LinearCooling

# The 28 subjects of the extended set, and the variances and schedules of the paper: from T = 6 in 5 and 50 iterations.
FIRST_SUBJECT = 11
VARIANCE, PROBABILITY = 0.5, 0.3
MAX_ITER = 100
N_SHOWN = 8
METHODS = {
    "VI": {"tempering": "none"},
    "AVI, 5 iterations": {"tempering": "annealed", "temperature_schedule": LinearCooling(6.0, 5 / MAX_ITER)},
    "AVI, 50 iterations": {"tempering": "annealed", "temperature_schedule": LinearCooling(6.0, 50 / MAX_ITER)},
    "VT": {"tempering": "global"},
}
GIVEN = {
    "init": "random",
    "noise_variance": VARIANCE,
    "component_variance": VARIANCE,
    "activation_probability": PROBABILITY,
}
RUNS = {
    **{name: {**method, **GIVEN} for name, method in METHODS.items()},
    "VI, learned variances": {"init": "random", "tempering": "none"},
    "default": {},
}
BARS = {"held-out bound": "VI < VT, VT about the best AVI"}


def faces(path) -> np.ndarray:
    """Images (n, 1024) of the extended set, by rows, with mean 0 and deviation 1 of all pixels."""
    from scipy.io import loadmat

    table = loadmat(path)
    X = table["fea"][table["gnd"].ravel() >= FIRST_SUBJECT].astype(np.float32)
    X = X.reshape(-1, 32, 32).transpose(0, 2, 1).reshape(-1, 1024)
    return (X - X.mean()) / X.std()


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--components", type=int, default=20)
    given.add_argument("--data", help="folder that holds yaleb/YaleB_32x32.mat")
    arguments = given.parse_args()
    path = find_data(arguments.data, "yaleb", "YaleB_32x32.mat")
    if path is None:
        skip("fmm_faces", arguments, "yaleb/YaleB_32x32.mat was not found; pass its folder by --data")
        return
    X = faces(path)
    if arguments.quick:
        X = X[::8]
    runs: dict = {name: [] for name in RUNS}
    first: dict = {}
    for seed in range(arguments.seeds):
        order = np.random.default_rng(seed).permutation(len(X))
        held_out, train = X[order[: len(X) // 4]], X[order[len(X) // 4 :]]
        for name, parameters in RUNS.items():
            model = VariationalTemperingFMM(arguments.components, max_iter=MAX_ITER, random_state=seed, **parameters)
            with Clock() as clock:
                model.fit(train)
            runs[name].append(
                {
                    "held_out": model.score(held_out),
                    "bound": model.bound_ / len(train),
                    "iterations": model.n_iter_,
                    "cpu_seconds": clock.cpu,
                }
            )
            if seed == 0:
                # The components most used first, and no more than a figure shows.
                order = np.argsort(-model.transform(held_out).mean(axis=0))[:N_SHOWN]
                first[name] = course(model, model.components_[order])
        note(f"seed {seed}: " + ", ".join(f"{name} {run[-1]['held_out']:.1f}" for name, run in runs.items()))
    results = {name: {key: spread([run[key] for run in of]) for key in of[0]} for name, of in runs.items()}
    baseline = np.array(results["VI"]["held_out"]["values"])
    for name in METHODS:
        # On the same split and seed, because the spread between splits is larger than the gain of tempering.
        gain = np.array(results[name]["held_out"]["values"]) - baseline
        results[name]["held_out_over_VI"] = spread(gain)
        note(f"{name}: held-out over VI {gain.mean():+.2f} +- {gain.std(ddof=1) / len(gain) ** 0.5:.2f}")
    report("fmm_faces", arguments, results, bars=BARS, first_seed=first)


if __name__ == "__main__":
    main()
