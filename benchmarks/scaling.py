"""Growth of CPU time and memory with rows, columns and clusters; exponents are slopes of the logarithms."""

import numpy as np
from _common import note, parser, report, spread
from _fit import timed_fit

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import make_gaussian_mixture

BASE = {"n_features": 10, "n_clusters": 20}
AXES = {
    "n_samples": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "n_features": (5, 10, 20, 40, 80),
    "n_clusters": (5, 10, 20, 40, 80),
}
# With --defaults the estimator is that of a user: it chooses types and the number of chains, and makes ten draws each.
DEFAULTS = {
    "n_samples": (10_000, 100_000, 1_000_000),
    "n_features": (10, 100, 300, 1_000),
    "n_clusters": (5, 20, 80),
}
QUICK = {"n_samples": (500, 1_000), "n_features": (2, 4), "n_clusters": (2, 4)}
BARS = {"n_samples": 1.1}
BARS_OF_DEFAULTS = {"n_samples": 1.0, "n_features": 1.1}


def main() -> None:
    given = parser(__doc__, seeds=3)
    given.add_argument("--axes", nargs="+", choices=list(AXES), default=list(AXES))
    given.add_argument("--largest", type=int, default=1_000_000, help="maximum number of rows")
    given.add_argument("--schedule", default="anneal")
    given.add_argument("--draws", type=int, default=1)
    given.add_argument("--defaults", action="store_true", help="no parameters but the seed; 10,000 rows, wider tables")
    arguments = given.parse_args()
    base = {**BASE, "n_samples": 1_000 if arguments.quick else 10_000 if arguments.defaults else 20_000}
    results = {}
    for axis in arguments.axes:
        sizes = (QUICK if arguments.quick else DEFAULTS if arguments.defaults else AXES)[axis]
        if axis == "n_samples":
            sizes = tuple(size for size in sizes if size <= arguments.largest)
        points = []
        for size in sizes:
            runs = []
            for seed in range(arguments.seeds):
                X, _, _ = make_gaussian_mixture(**{**base, axis: size}, covariance_type="diag", random_state=seed)
                given_parameters = {
                    "covariance_type": "diag",
                    "schedule": arguments.schedule,
                    "feature_types": "from_dtype",
                    "n_chains": 1,
                    "n_draws": arguments.draws,
                }
                parameters = {} if arguments.defaults else given_parameters
                model = SubsampleAnnealedDPMM(**parameters, random_state=seed)
                runs.append(timed_fit(model, X, X.nbytes, X[:10_000]))
            point = {key: spread([run[key] for run in runs]) for key in runs[0] if runs[0][key] is not None}
            note(f"{axis} {size}: {point['cpu_seconds']['median']:.3g} CPU seconds")
            points.append({axis: size, **point})
        medians = [point["cpu_seconds"]["median"] for point in points]
        slope = float(np.polyfit(np.log(sizes), np.log(medians), 1)[0]) if len(sizes) > 1 else None
        results[axis] = {"exponent_of_cpu_seconds": slope, "points": points}
    bars = BARS_OF_DEFAULTS if arguments.defaults else BARS
    report("scaling", arguments, results, base=base, exponents_at_most=bars)


if __name__ == "__main__":
    main()
