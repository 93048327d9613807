"""describe_contradictions: the pairs of columns that are dependent beyond the model, as HTML."""

from __future__ import annotations

from sklearn_subanneal.report.contradictions import Contradictions
from sklearn_subanneal.report.markup import Markup, counted, join_markup, paragraph, table

# Pairs with a line of their own; those with larger p-values are listed by their first columns.
MOST_LINES = 100


def describe_contradictions(tests: Contradictions) -> Markup:
    """All pairs of columns that the model keeps apart although a test finds them dependent."""
    if not tests.n_tested:
        return paragraph("No two columns are in different views in most draws.")
    if not tests.pairs:
        return paragraph(
            f"Tests of {counted(tests.n_tested, 'pair')} of columns in different views found none that is dependent."
        )
    lines = [
        (pair.one, pair.other, pair.test, f"{pair.p_value:.1g}", f"{pair.share:.0%}")
        for pair in tests.pairs[:MOST_LINES]
    ]
    further: dict[str, list[str]] = {}
    for pair in tests.pairs[MOST_LINES:]:
        further.setdefault(pair.one, []).append(pair.other)
    n_further = len(tests.pairs) - len(lines)
    return join_markup(
        paragraph(
            "These pairs of columns are in different views in most draws, and yet dependent by a test: other columns "
            "explain each of them better, or their dependence is too weak or of a kind that clusters do not describe. "
            "Do not take them as independent; a report on these columns alone tells more."
        ),
        table(
            "Pairs that are dependent beyond the model, p-values multiplied by the number of tests",
            ("column", "column", "test", "p-value", "share of draws in one view"),
            lines,
            (3, 4),
        ),
        table(
            f"{counted(n_further, 'more pair')} with larger p-values",
            ("column", "columns that it depends on"),
            [(one, "; ".join(others)) for one, others in further.items()],
        )
        if further
        else Markup(""),
    )
