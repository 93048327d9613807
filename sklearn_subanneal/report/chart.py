"""Chart: the geometry of a small picture of one column by groups of rows, which a template writes as SVG.

Pictures are SVG made here, and sorting and searching a page of vanilla JavaScript: a library of charts would add one to
four megabytes to each report, and its canvas has no text that a screen reader or a printer could use.
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_subanneal.report.distributions import ALL, OTHERS, Distribution, GroupCells

# In units of the picture: places of the names and of the plot, and the heights of a row and of the axis.
WIDTH, LEFT, ROW, GAP, AXIS = 320, 66, 24, 5, 18
# Narrower parts of a bar have no text.
LEAST_FOR_TEXT = 30


@dataclass(frozen=True)
class Bar:
    """A part of a stacked bar: one category.

    Attributes
    ----------
    x, width : float
    colour : int
        Index of the category.
    text : str
        Its share, if there is room.
    title : str
        What a pointer shows.
    """

    x: float
    width: float
    colour: int
    text: str
    title: str


@dataclass(frozen=True)
class ChartRow:
    """One group of rows.

    Attributes
    ----------
    name : str
    colour : str
        Name of a colour of the style sheet: "all", "others", or "0", "1", ...
    y : float
    path : str
        Of the outline of a histogram; empty of categories.
    bars : list of Bar
    title : str
    """

    name: str
    colour: str
    y: float
    path: str
    bars: list[Bar]
    title: str


@dataclass(frozen=True)
class Chart:
    """A small picture.

    Attributes
    ----------
    height : float
    rows : list of ChartRow
    ticks : list of (x, text, anchor)
    alt : str
    """

    height: float
    rows: list[ChartRow]
    ticks: list[tuple[float, str, str]]
    alt: str


def chart_of(column: Distribution) -> Chart:
    """The picture of a column: a histogram for each group, or a bar of the shares of its categories."""
    rows = [_row(column, group, k) for k, group in enumerate(column.groups)]
    below = len(rows) * (ROW + GAP)
    span = WIDTH - LEFT
    ticks = [
        (_short(LEFT + span * at), text, "start" if at == 0.0 else "end" if at == 1.0 else "middle")
        for at, text in column.ticks
    ]
    what = "Shares of the categories" if column.categories else "Histograms"
    by = f" in {len(rows) - 1} groups of rows and in all rows" if len(rows) > 1 else ""
    return Chart(below + (AXIS if ticks else 0), rows, ticks, f"{what} of {column.name}{by}; the numbers are below")


def _row(column: Distribution, group: GroupCells, k: int) -> ChartRow:
    y = k * (ROW + GAP)
    # Colours go by the order of the groups, which is that of their size.
    colour = {ALL: "all", OTHERS: "others"}.get(group.name, str(k - 1))
    name = group.name if colour in ("all", "others") else f"group {group.name}"
    title = f"{name}: {group.n_rows:,} rows"
    if column.categories:
        return ChartRow(name, colour, y, "", _bars(column, group), title)
    if group.quartiles and group.quartiles[1]:
        title += f", median {group.quartiles[1]}"
    return ChartRow(name, colour, y, _outline(group, y + ROW), [], title)


def _bars(column: Distribution, group: GroupCells) -> list[Bar]:
    x, out = float(LEFT), []
    for colour, (category, share) in enumerate(zip(column.categories, group.shares.tolist(), strict=True)):
        width = share * (WIDTH - LEFT)
        text = f"{share:.0%}" if width >= LEAST_FOR_TEXT else ""
        if width > 0.05:
            out.append(Bar(_short(x), _short(width), colour, text, f"{category}: {share:.1%}"))
        x += width
    return out


def _outline(group: GroupCells, bottom: float) -> str:
    """The outline of a histogram; its highest interval has the height of the row."""
    highest, step = group.shares.max(), (WIDTH - LEFT) / len(group.shares)
    if not highest > 0.0:
        return ""
    heights = [_short(ROW * share / highest) for share in group.shares.tolist()]
    parts, before = [f"M{LEFT} {_short(bottom)}"], 0.0
    for height in heights:
        # Relative coordinates are short; of equal heights there is one line.
        parts.append(f"v{_short(before - height)}h{_short(step)}" if height != before else f"h{_short(step)}")
        before = height
    return "".join([*parts, f"v{_short(before)}z"])


def _short(number: float) -> float | int:
    """With one decimal, which is a fraction of a pixel."""
    out = round(number, 1)
    return int(out) if out == int(out) else out
