"""Is what the page of `sklearn-subanneal report` says true? Real tables, each with several seeds.

Each table is written as CSV, the command makes a report, and its page is read as a user would:

- Pairs: each two modelled columns are tested by scipy in all rows in which both are observed (chi-square for two sets
  of categories, Spearman for two orders, Kruskal-Wallis for one of each). A pair with a p-value below 1e-10, times the
  number of pairs, must be in one view of the page or in its lists of pairs that a test finds dependent: otherwise the
  page calls it independent, or leaves it out.
- Views: those of each two seeds have an adjusted Rand index of at least 0.9, or the top of both pages says that the
  runs disagree.
- The Titanic: P(survived | class), asked of the model, is within 0.05 of the shares of the table.
"""

from __future__ import annotations

import html
import re
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report
from _frames import READERS, read
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal.report import Source, read_source
from sklearn_subanneal.report.cli import main as command
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.question import Question

LEVEL, LEAST_AGREEMENT, LARGEST_ERROR, LEAST_IN_LEVEL = 1e-10, 0.9, 0.05, 5
CATEGORICAL = {"categorical", "boolean"}
VIEWS, FURTHER = "Views: columns that go together", ("Further dependent pairs", "with larger p-values")


def p_value(one: pd.Series, other: pd.Series, kinds: tuple[str, str]) -> float:
    """Of a test of independence by scipy; levels of fewer than five rows are one level."""
    both = one.notna() & other.notna()
    one, other = one[both], other[both]
    if len(one) < 3:
        return 1.0
    if kinds[0] in CATEGORICAL:
        one = common(one)
    if kinds[1] in CATEGORICAL:
        other = common(other)
    if one.nunique() < 2 or other.nunique() < 2:
        return 1.0
    if kinds[0] in CATEGORICAL and kinds[1] in CATEGORICAL:
        return float(stats.chi2_contingency(pd.crosstab(one, other)).pvalue)
    if kinds[0] in CATEGORICAL or kinds[1] in CATEGORICAL:
        levels, values = (one, other) if kinds[0] in CATEGORICAL else (other, one)
        return float(stats.kruskal(*(rank(own) for _, own in values.groupby(levels.to_numpy()))).pvalue)
    return float(stats.spearmanr(rank(one), rank(other)).pvalue)


def common(series: pd.Series) -> pd.Series:
    """Categories as texts, rare ones taken together."""
    texts = series.astype(str)
    return texts.where(texts.map(texts.value_counts()) >= LEAST_IN_LEVEL, "(rare)")


def rank(series: pd.Series) -> np.ndarray:
    """Numbers, dates or texts in order as numbers."""
    if series.dtype.kind not in "iufb":
        return pd.to_datetime(series, errors="coerce").astype("int64").to_numpy(float)
    return series.to_numpy(float)


def strong_pairs(source: Source) -> set[frozenset]:
    """Names of the pairs of columns that are dependent beyond doubt."""
    kinds, X = source.feature_types, source.X
    pairs = list(combinations(kinds, 2))
    found = {(a, b): p_value(X[a], X[b], (kinds[a], kinds[b])) for a, b in pairs}
    return {frozenset(pair) for pair, p in found.items() if p * len(pairs) < LEVEL}


def tables_of(page: str) -> list[tuple[str, list[list[str]]]]:
    """Captions and cells of the tables of a page."""
    return [
        (
            html.unescape(re.search("<caption.*?>(.*?)</caption>", text, re.DOTALL)[1]),
            [
                [html.unescape(cell) for cell in re.findall("<td.*?>(.*?)</td>", row, re.DOTALL)]
                for row in re.findall("<tr>(.*?)</tr>", text.partition("<tbody>")[2], re.DOTALL)
            ],
        )
        for text in re.findall("<table.*?>(.*?)</table>", page, re.DOTALL)
    ]


def told_pairs(page: str, strong: set[frozenset]) -> set[frozenset]:
    """The strong pairs that are in one view of the page, or in its lists of further pairs."""
    views, further = [], set()
    for caption, rows in tables_of(page):
        if caption == VIEWS:
            views = [row[3] for row in rows]
        elif caption.startswith(FURTHER[0]):
            further |= {frozenset(row[:2]) for row in rows}
        elif FURTHER[1] in caption:
            further |= {frozenset((row[0], other)) for row in rows for other in row[1].split("; ")}
    # A column of which only a part is in the view has the part in parentheses.
    names = [{*view.split("; "), *(name.rpartition(" (")[0] for name in view.split("; "))} for view in views]
    return {pair for pair in strong if pair in further or any(pair <= view for view in names)}


def survival(folder: Path) -> list[float]:
    """P(survived | class) of the three classes."""
    model = open_model(folder).model
    return [Question.of(f"probability of survived == 1 given pclass == {k}").answer(model)[0][1] for k in (1, 2, 3)]


def run(path: Path, folder: Path, seed: int, options: list[str]) -> dict:
    """One report: its views, the text of its page, and whether its top says that the runs disagree."""
    with Clock() as clock:
        status = command(["report", str(path), "-o", str(folder), "-q", "--no-plots", "--seed", str(seed), *options])
    if status:
        raise RuntimeError(f"The command ended with {status}")
    text = (folder / "report.html").read_text(encoding="utf-8")
    caution = re.search('<p class="warning" id="caution">(.*?)</p>', text, re.DOTALL)
    return {
        "page": text,
        "columns": open_model(folder).model.column_labels_,
        "warns": caution is not None
        and re.search("columns otherwise|disagree on the groups|Only one run", caution[1]) is not None,
        "cpu": clock.cpu,
    }


def findings_of(name: str, frame: pd.DataFrame, seeds: range, options: list[str]) -> dict:
    """What is wrong on the pages of a table, by counts."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, f"{name}.csv")
        frame.to_csv(path, index=False)
        source = read_source(path)
        strong = strong_pairs(source)
        runs = [run(path, Path(scratch, str(seed)), seed, options) for seed in seeds]
        untold = [sorted(map(sorted, strong - told_pairs(own["page"], strong))) for own in runs]
        agreement = {
            (a, b): float(adjusted_rand_score(runs[a]["columns"], runs[b]["columns"]))
            for a, b in combinations(range(len(runs)), 2)
        }
        silent = [
            pair
            for pair, index in agreement.items()
            if index < LEAST_AGREEMENT and not all(runs[k]["warns"] for k in pair)
        ]
        out = {
            "rows": len(frame),
            "columns": len(source.feature_types),
            "strong": len(strong),
            "untold": [len(own) for own in untold],
            "examples": untold[0][:3],
            "agreement": list(agreement.values()),
            "warns": [own["warns"] for own in runs],
            "silent": len(silent),
            "kib": [len(own["page"].encode()) // 1024 for own in runs],
            "cpu": [own["cpu"] for own in runs],
        }
        if name == "titanic":
            shares = frame.groupby("pclass")["survived"].mean().to_numpy()
            asked = np.array([survival(Path(scratch, str(seed))) for seed in seeds])
            out["survival"] = asked.round(3).tolist()
            out["survival_wrong"] = int((np.abs(asked - shares).max(axis=1) > LARGEST_ERROR).sum())
        return out


def main() -> None:
    given = parser(__doc__, seeds=10)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=list(READERS), choices=list(READERS))
    given.add_argument("--rows", type=int, default=2000, help="of larger tables, so many rows (default 2000)")
    given.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    given.add_argument("--options", default="", help="further options of the command, such as '--time-limit 30'")
    arguments = given.parse_args()
    n_seeds = 2 if arguments.quick else arguments.seeds
    seeds = range(arguments.first, arguments.first + n_seeds)
    results = {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 150 if arguments.quick else arguments.rows)
        if frame is None:
            note(f"{name}: no file")
            continue
        found = results[name] = findings_of(name, frame, seeds, arguments.options.split())
        agreement = found["agreement"] or [np.nan]
        note(
            f"{name:15} {found['rows']:6} x {found['columns']:3}  strong pairs {found['strong']:6}, untold "
            f"{found['untold']}; views agree {min(agreement):5.2f} to {max(agreement):5.2f}, pages that warn "
            f"{sum(found['warns'])}, silent pairs of seeds {found['silent']} of {len(found['agreement'])}; "
            f"{max(found['kib'])} KiB, {np.mean(found['cpu']):.1f} CPU s"
            + (
                f"; P(survived | class) {found['survival']}, wrong {found['survival_wrong']}"
                if name == "titanic"
                else ""
            )
        )
        if any(found["untold"]):
            note(f"    untold, for example {found['examples']}")
    pages = [(found["strong"], n) for found in results.values() for n in found["untold"]]
    n_pairs = sum(len(found["agreement"]) for found in results.values())
    note(
        f"{len(results)} tables, {len(pages)} pages: {sum(strong for strong, _ in pages)} strong pairs, "
        f"{sum(n for _, n in pages)} untold; {n_pairs} pairs of seeds, "
        f"{sum(found['silent'] for found in results.values())} of them disagree in silence"
    )
    report("report_truth", arguments, results)


if __name__ == "__main__":
    main()
