"""Bias of the tree-guided sampler as printed, against the exact posterior over all partitions of a few rows.

"floor" is the 95 % quantile of the total variation of as many independent draws; that of correlated draws is somewhat
larger. "n_clusters" is printed with its exact expectation.
"""

import numpy as np
from _common import note, parser, report
from _nrmm import GLOBAL, SAMPLERS, WHOLE

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP


def partitions(n_rows: int) -> list[tuple[int, ...]]:
    """All partitions, clusters numbered by their first rows."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(n_rows):
        found = [(*head, label) for head in found for label in range(max(head, default=-1) + 2)]
    return found


def canonical(labels: np.ndarray) -> tuple[int, ...]:
    names: dict[int, int] = {}
    return tuple(names.setdefault(label, len(names)) for label in labels.tolist())


def draw(mixture: Mixture, sampler: str, n_draws: int, generator) -> list[tuple[int, ...]]:
    """Partitions, one for each iteration."""
    n_rows = mixture.n_rows
    rows, out = np.arange(n_rows, dtype=np.int32), []
    whole = WHOLE[sampler](mixture.columns, n_rows) if sampler in WHOLE else None
    moves = GLOBAL[sampler](mixture.columns, n_rows) if sampler not in WHOLE and GLOBAL[sampler] else None
    for _ in range(n_draws):
        if whole is not None:
            whole.sweep(mixture, 1.0, generator)
        else:
            if moves is not None:
                moves.propose(mixture, 5, 1.0, generator, rows)
            churn(mixture, rows, rows, 1.0, generator)
        out.append(canonical(mixture.labels))
    return out


def main() -> None:
    given = parser(__doc__, seeds=3)
    given.add_argument("--rows", type=int, default=6)
    given.add_argument("--draws", type=int, default=100_000)
    arguments = given.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.draws = 1, 2000
    results: dict[str, list] = {}
    for seed in range(arguments.seeds):
        # Rows without clear clusters, so that the number of clusters is uncertain.
        X = 1.5 * np.random.default_rng(seed).normal(size=(arguments.rows, 2))
        prior = {"mu": np.zeros(2), "kappa": 0.3, "psi": np.eye(2), "nu": 5.0}
        generator = np.random.Generator(np.random.PCG64(seed))
        mixture = Mixture([GaussianStatistics(GaussianData(X), prior)], CRP(1.0).bind(), len(X))
        space = partitions(len(X))
        log_p = []
        for labels in space:
            mixture.set_labels(np.array(labels, np.int32), generator)
            log_p.append(mixture.log_joint())
        p = np.exp(log_p - np.logaddexp.reduce(log_p))
        counts = generator.multinomial(arguments.draws, p, size=1000) / arguments.draws
        floor = float(np.quantile(0.5 * np.abs(counts - p).sum(axis=1), 0.95))
        exact = float(sum(chance * (max(labels) + 1) for chance, labels in zip(p, space, strict=True)))
        for sampler in SAMPLERS:
            seen = draw(mixture, sampler, arguments.draws, generator)
            index = {labels: i for i, labels in enumerate(space)}
            share = np.bincount([index[labels] for labels in seen], minlength=len(space)) / len(seen)
            found = {
                "total_variation": float(0.5 * np.abs(share - p).sum()),
                "floor": floor,
                "n_clusters": float(np.mean([max(labels) + 1 for labels in seen])),
                "exact_n_clusters": exact,
            }
            note(f"seed {seed} {sampler}: " + ", ".join(f"{key} {value:.4g}" for key, value in found.items()))
            results.setdefault(sampler, []).append(found)
    report("nrmm_bias", arguments, results)


if __name__ == "__main__":
    main()
