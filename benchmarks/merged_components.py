"""Are groups of any shape found? Merged components of ten skewed, heavy-tailed or Gaussian groups, and of two moons.

The adjusted Rand index of the components of a ``SubsampleAnnealedDPMM``, and of the groups that ``merge_components``
makes of them: with their defaults, but for the type of the covariance, which is given.
"""

from __future__ import annotations

import warnings

import numpy as np
from _common import Clock, note, parser, report, spread
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import SubsampleAnnealedDPMM

N_GROUPS, N_ROWS, N_COLUMNS = 10, 3000, 4
SHAPES = ("skewed", "heavy tails", "gaussian", "two moons")


def shaped(shape: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table, and the group of each row; the centres of groups are at least nine units apart."""
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    if shape == "two moons":
        return make_moons(2000, noise=0.07, random_state=seed)
    centres, signs = np.zeros((N_GROUPS, N_COLUMNS)), np.sign(rng.normal(size=(N_GROUPS, N_COLUMNS)))
    while np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(N_GROUPS, 1)].min() < 9.0:
        centres = 10.0 * rng.normal(size=(N_GROUPS, N_COLUMNS))
    group, size = rng.integers(N_GROUPS, size=N_ROWS), (N_ROWS, N_COLUMNS)
    if shape == "skewed":
        noise = rng.gamma(1.0, 2.0, size) * signs[group]
    elif shape == "heavy tails":
        noise = rng.standard_t(3, size)
    else:
        noise = rng.normal(size=size) @ np.linalg.cholesky(np.full((N_COLUMNS,) * 2, 0.5) + 0.5 * np.eye(N_COLUMNS))
    return centres[group] + noise, group


def one(shape: str, covariance: str, seed: int) -> dict:
    X, truth = shaped(shape, seed)
    model = SubsampleAnnealedDPMM(covariance_type=covariance, random_state=seed).fit(X)
    with Clock() as clock:
        merged = model.merge_components(random_state=seed)
    return {
        "components": model.n_clusters_,
        "groups": merged.n_groups_,
        "ARI of components": adjusted_rand_score(truth, model.labels_),
        "ARI of groups": adjusted_rand_score(truth, merged.predict(X)),
        "cpu seconds of merging": clock.cpu,
    }


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = {}
    for covariance in ("diag", "full"):
        for shape in SHAPES:
            runs = [one(shape, covariance, 100 + seed) for seed in range(1 if options.quick else options.seeds)]
            results[f"{shape}, {covariance}"] = {key: spread([run[key] for run in runs]) for key in runs[0]}
            note(
                f"{shape}, {covariance}: " + str({k: v["values"] for k, v in results[f"{shape}, {covariance}"].items()})
            )
    report("merged_components", options, results)


if __name__ == "__main__":
    main()
