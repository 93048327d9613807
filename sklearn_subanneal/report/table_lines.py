"""What a command prints of a table: how it was read, its columns with their types, and what was set aside."""

from __future__ import annotations

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.column_tables import mark_text
from sklearn_subanneal.report.new_table import NewTable
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.wording import listed

# Columns listed on the screen; the report has all.
MOST_LISTED = 40
WIDEST_NAME = 32
MOST_UNREADABLE = 5


def print_columns(source: Source, say) -> None:
    """Print the columns of a table by ``say``, those that are set aside last."""
    n_missing = int(source.X.isna().to_numpy().sum())
    say(
        f"{source.name}: {len(source.frame):,} rows, {len(source.columns)} columns, {len(source.modelled)} of them "
        f"modelled; {n_missing:,} of their cells are missing ({n_missing / source.X.size:.1%})."
    )
    for note in source.notes:
        say(f"  ({note})")
    width = min(max(len(column.name) for column in source.columns), WIDEST_NAME)
    for column in source.modelled[:MOST_LISTED]:
        gaps = f"; {column.n_missing:,} missing" if column.n_missing else ""
        say(f"  {column.name[:WIDEST_NAME]:{width}}  {column.kind:11}  {column.reason}{gaps}")
    if len(source.modelled) > MOST_LISTED:
        say(f"  ... and {len(source.modelled) - MOST_LISTED} more, in the report")
    if source.set_aside:
        say(f"Set aside, not modelled ({len(source.set_aside)}):")
    for column in source.set_aside[:MOST_LISTED]:
        say(f"  {column.name[:WIDEST_NAME]:{width}}  {column.kind:11}  {column.reason}")
    if len(source.set_aside) > MOST_LISTED:
        say(f"  ... and {len(source.set_aside) - MOST_LISTED} more, in the report")
    marked = [column for column in source.columns if column.marks]
    if marked:
        say("Taken for missing, beside empty cells (if one is a value, pass it by --keep):")
    for column in marked[:MOST_LISTED]:
        say(f"  {mark_text(column)}")


def print_unreadable(new: NewTable, say) -> None:
    """Print by ``say`` what of the reading of a new table may surprise, its unreadable cells, and contradictions."""
    for remark in new.remarks:
        say(remark)
    for name, wrong in new.unreadable.items():
        texts = [f"{text!r} in {counted(count, 'cell')}" for text, count in wrong.items()]
        say(f"No values of column {name}, and taken for missing: {listed(texts, MOST_UNREADABLE)}")
    for name, (other, count) in new.contradictions.items():
        say(f"Column {name} contradicts {other}, of which it was a function, in {counted(count, 'row')}")
