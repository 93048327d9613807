"""Does a user learn of every strong dependence between two columns? CrossCat with its defaults on ten real tables.

Each pair of columns is tested on all rows in which both are observed: rank correlation for two ordered columns,
chi-square for two categorical ones, Kruskal-Wallis for one of each. Of the pairs with a p-value below 1e-10, times the
number of pairs: how many are in one view in at least half of the draws, how many are not, and how many of these are
silent, that is, the fit did not warn and the report does not list the pair.
"""

import warnings
from itertools import combinations

import numpy as np
from _common import Clock, note, parser, report
from _frames import READERS, read
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import CrossCat
from sklearn_subanneal.report.contradictions import CATEGORICAL, ORDERED, dependence_test, find_contradictions

TABLES = "titanic adult census_income satellites animals gapminder wheat gvhd kdd hospitals"
LEVEL = 1e-10


def strong_pairs(model: CrossCat, frame) -> list[tuple[int, int]]:
    """Pairs of columns that a test finds dependent; of a column of several parts, the first."""
    kinds = list(model.part_types_.values())
    parts = np.unique(model.part_columns_, return_index=True)[1]
    kinds, cells = [kinds[p] for p in parts], model.typed_columns(frame)
    cells = [np.where(cells[p] < 0, np.nan, cells[p]) if cells[p].dtype.kind != "f" else cells[p] for p in parts]
    tested = [j for j, kind in enumerate(kinds) if kind in CATEGORICAL | ORDERED]
    pairs = list(combinations(tested, 2))
    return [
        (i, j)
        for i, j in pairs
        if dependence_test(cells[i], cells[j], kinds[i] in CATEGORICAL, kinds[j] in CATEGORICAL)[1] * len(pairs) < LEVEL
    ]


def run(frame, seed: int) -> dict:
    """One fit to the whole table."""
    model = CrossCat(random_state=seed)
    with Clock() as clock, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(frame)
    has_warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    strong = strong_pairs(model, frame)
    apart = [(i, j) for i, j in strong if model.dependence_[i, j] < 0.5]
    found = find_contradictions(model, frame, frame.shape[1])
    names = list(model.feature_types_)
    listed = {(pair.one, pair.other) for pair in found.pairs}
    unlisted = [(i, j) for i, j in apart if (names[i], names[j]) not in listed]
    return {
        "strong": len(strong),
        "apart": len(apart),
        "unlisted": len(unlisted),
        "silent": 0 if has_warned else len(unlisted),
        "has_warned": has_warned,
        "cpu_seconds": clock.cpu,
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--rows", type=int, default=10_000, help="of larger tables, so many rows (default 10,000)")
    arguments = given.parse_args()
    results = {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 100 if arguments.quick else arguments.rows)
        if frame is None:
            note(f"{name}: no file")
            continue
        results[name] = [run(frame, seed) for seed in range(1 if arguments.quick else arguments.seeds)]
        columns = {key: [own[key] for own in results[name]] for key in results[name][0]}
        note(f"{name}: " + ", ".join(f"{key} {[round(value, 1) for value in own]}" for key, own in columns.items()))
    report("dependence_tests", arguments, results)


if __name__ == "__main__":
    main()
