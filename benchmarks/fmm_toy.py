"""Recovery of the components of 4 x 4 images by VI, annealing and tempering, with both updates of components."""

import numpy as np
from _common import Clock, note, parser, report, spread
from _fmm import course

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.variational import LinearCooling

SHAPES = (
    "1111000000000000",
    "0000111100000000",
    "0000000011110000",
    "0000000000001111",
    "1000100010001000",
    "0001001001001000",
    "1001000000001001",
    "0110011001100110",
)
NOISE, PRIOR, PROBABILITY = 0.1, 0.35, 0.3
MAX_ITER = 200
# The schedules of the paper: from T = 10 to 1 in 10 and in 100 iterations.
METHODS = {
    "VI": {"tempering": "none"},
    "AVI, 10 iterations": {"tempering": "annealed", "temperature_schedule": LinearCooling(10.0, 10 / MAX_ITER)},
    "AVI, 100 iterations": {"tempering": "annealed", "temperature_schedule": LinearCooling(10.0, 100 / MAX_ITER)},
    "VT": {"tempering": "global"},
}
GIVEN = {"init": "random", "noise_variance": NOISE, "component_variance": PRIOR, "activation_probability": PROBABILITY}
RUNS = {
    **{
        f"{name}, cyclic": {**method, **GIVEN, "component_update": "cyclic", "n_sweeps": 1}
        for name, method in METHODS.items()
    },
    **{name: {**method, **GIVEN} for name, method in METHODS.items()},
    "default": {},
}
BARS = {"recovered by AVI, cyclic": ">= 7 where VI, cyclic, recovers 4 to 5", "recovered by VT": ">= 6, goal 7"}


def images(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 16), which are sums of components with noise, and the components (8, 16)."""
    generator = np.random.default_rng(1000 + seed)
    components = np.array([[float(cell) for cell in shape] for shape in SHAPES]) * generator.uniform(0.5, 1, (8, 1))
    active = generator.random((n, 8)) < PROBABILITY
    return active @ components + np.sqrt(NOISE) * generator.standard_normal((n, 16)), components


def cosines(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Cosine of each true component and each found one."""
    lengths = np.linalg.norm(found, axis=1)[:, None] * np.linalg.norm(truth, axis=1)
    return found @ truth.T / np.maximum(lengths, 1e-12)


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--rows", type=int, default=10_000)
    arguments = given.parse_args()
    n = 500 if arguments.quick else arguments.rows
    runs: dict = {name: [] for name in RUNS}
    first: dict = {}
    for seed in range(arguments.seeds):
        X, truth = images(n, seed)
        first.setdefault("truth", {"components": truth.round(3).tolist()})
        held_out, _ = images(2 * n, seed)
        for name, parameters in RUNS.items():
            model = VariationalTemperingFMM(8, max_iter=MAX_ITER, random_state=seed, **parameters)
            with Clock() as clock:
                model.fit(X)
            runs[name].append(
                {
                    "recovered": int((cosines(model.components_, truth).max(axis=0) > 0.98).sum()),
                    "bound": model.bound_ / n,
                    "held_out": model.score(held_out[n:]),
                    "iterations": model.n_iter_,
                    "cpu_seconds": clock.cpu,
                }
            )
            if seed == 0:
                # Components in the order of the true ones.
                order = cosines(model.components_, truth).argmax(axis=0)
                first[name] = course(model, model.components_[order])
        note(f"seed {seed}: " + ", ".join(f"{name} {run[-1]['recovered']}" for name, run in runs.items()))
    results = {name: {key: spread([run[key] for run in of]) for key in of[0]} for name, of in runs.items()}
    for name, result in results.items():
        note(f"{name}: recovered {result['recovered']['median']:g}, bound {result['bound']['mean']:.3f}")
    report("fmm_toy", arguments, results, bars=BARS, first_seed=first)


if __name__ == "__main__":
    main()
