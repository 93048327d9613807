"""Files of all kinds of columns: missing cells, numbers with signs, times, dates, keys and texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from files.analyst_file import (
    AGE,
    AMOUNT,
    COLOUR,
    DAYS,
    GROUP,
    HEIGHT,
    INCOME,
    N_ROWS,
    RNG,
    VISITS,
    WHOLE,
    AnalystFile,
    comma,
    grouped,
    lines,
    text,
    with_mark,
)

SOME = list(range(3, N_ROWS, 11))
MANY = list(range(1, N_ROWS, 3))
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
TIMES = [f"{7 + minutes // 60:02d}:{minutes % 60:02d}" for minutes in RNG.integers(0, 800, size=N_ROWS)]
HALVES = [pd.Timestamp(f"2020-01-01 {time}").strftime("%I:%M %p").lstrip("0") for time in TIMES]
SECONDS = RNG.integers(600, 200_000, size=N_ROWS)
CLOCKS = [f"{own // 3600}:{own // 60 % 60:02d}:{own % 60:02d}" for own in SECONDS]
WORDS = [f"{own // 3600}h {own // 60 % 60}m" for own in SECONDS]
DAY_TIMES = pd.to_datetime(DAYS) + pd.to_timedelta(RNG.integers(0, 86_400, N_ROWS), unit="s")


def dates(style: str) -> list[str]:
    return [day.strftime(style) for day in pd.to_datetime(DAYS)]


def column(name: str, cells, kind: str, file: str = "", separator: str = ",", **details) -> AnalystFile:
    """A file of some cells beside a column of numbers."""
    table = {name: cells, "height": comma(HEIGHT, 1) if details.pop("with_commas", False) else HEIGHT}
    return AnalystFile(f"{file or name}.csv", text(lines(table, separator)), {name: kind, "height": AMOUNT}, **details)


FILES_OF_COLUMNS = [
    # Missing cells.
    column("weight", with_mark(HEIGHT, "-999", SOME), AMOUNT, "minus-999", marks={"weight": {"-999": len(SOME)}}),
    column("score", with_mark(AGE, "9999", SOME), WHOLE, "9999", marks={"score": {"9999": len(SOME)}}),
    column(
        "answer",
        with_mark(with_mark(1 + VISITS % 5, "99", SOME), "98", SOME[::3]),
        f"{WHOLE}|categorical",
        "99",
        marks={"answer": {"99": len(SOME) - len(SOME[::3]), "98": len(SOME[::3])}},
    ),
    column("weight", with_mark(HEIGHT, "n/a", SOME), AMOUNT, "not-available", marks={"weight": {"n/a": len(SOME)}}),
    column("weight", with_mark(HEIGHT, "-", MANY), AMOUNT, "dashes", marks={"weight": {"-": len(MANY)}}),
    column("weight", with_mark(HEIGHT, ".", MANY), AMOUNT, "points", marks={"weight": {".": len(MANY)}}),
    column(
        "weight",
        with_mark(with_mark(HEIGHT, "#DIV/0!", SOME), "#N/A", [2, 4]),
        AMOUNT,
        "errors",
        marks={"weight": {"#DIV/0!": len(SOME), "#N/A": 2}},
    ),
    column(
        "weight",
        with_mark(HEIGHT, "not measured", SOME),
        AMOUNT,
        "words",
        marks={"weight": {"not measured": len(SOME)}},
    ),
    column("colour", with_mark(COLOUR, "N/A", SOME), "categorical", "colours", marks={"colour": {"N/A": len(SOME)}}),
    column(
        "country",
        np.array("NA DE FR US GB ES IT PL SE NO".split())[RNG.integers(10, size=N_ROWS)],
        "categorical",
        "countries",
    ),
    column(
        "since",
        with_mark(dates("%Y-%m-%d"), "1900-01-01", SOME),
        "datetime",
        "1900",
        marks={"since": {"1900-01-01": len(SOME)}},
    ),
    column(
        "since",
        with_mark(dates("%d.%m.%Y"), "unknown", SOME),
        "datetime",
        "unknown-dates",
        marks={"since": {"unknown": len(SOME)}},
    ),
    # Numbers with signs.
    column("share", [f"{own / 2:.1f} %" for own in AGE], AMOUNT, "percent"),
    column("price", [f"${own:,.2f}" for own in INCOME], AMOUNT, "dollars"),
    column("Preis", [f"{own} €" for own in grouped(INCOME, ".", ",")], AMOUNT, "euros", ";", with_commas=True),
    column(
        "balance", [f"({own:,.2f})" if row % 3 else f"{own:,.2f}" for row, own in enumerate(INCOME)], AMOUNT, "accounts"
    ),
    column("prix", grouped(INCOME, "\u202f", ","), AMOUNT, "french", ";", with_commas=True),
    column("Preis", grouped(INCOME, "'", "."), AMOUNT, "swiss"),
    column("weight", [f"{own / 2:.1f} kg" for own in HEIGHT], AMOUNT, "kilograms"),
    # Times, durations, dates.
    column("start", TIMES, "cyclic", "times"),
    column("start", HALVES, "cyclic", "half-days"),
    column("duration", CLOCKS, AMOUNT, "clocks"),
    column("spent", WORDS, AMOUNT, "hours-and-minutes"),
    column("day", dates("%Y-%m-%d"), "datetime", "iso"),
    column("day", dates("%d.%m.%Y"), "datetime", "points-in-dates"),
    column("day", dates("%m/%d/%Y"), "datetime", "american"),
    column("day", dates("%d/%m/%y"), "datetime", "british"),
    column("day", dates("%d %b %Y"), "datetime", "month-names"),
    column("day", dates("%B %d, %Y"), "datetime", "long-dates"),
    column("when", [f"{own.isoformat()}+02:00" for own in DAY_TIMES], "datetime", "zones"),
    column("month", dates("%Y-%m"), "datetime", "months"),
    column("date", (DAYS - np.datetime64("1899-12-30")).astype(int), "datetime", "serial-days"),
    column("timestamp", DAY_TIMES.astype("datetime64[s]").astype(np.int64), "datetime", "epoch"),
    column("day", dates("%Y%m%d"), "datetime", "compact"),
    column(
        "day",
        [f"{day.day}. {MONTHS[day.month - 1]} {day.year}" for day in pd.to_datetime(DAYS)],
        "datetime",
        "german-dates",
    ),
    column(
        "day",
        [f"0{1 + row % 9}/{1 + month // 1 % 12:02d}/{2015 + month // 12}" for row, month in enumerate(range(N_ROWS))],
        "datetime",
        "in-order-of-time",
    ),
    # Keys, codes and texts.
    column(
        "office",
        np.array(["07311", *map(str, range(10_115, 10_155))])[np.maximum(RNG.integers(-1, 41, size=N_ROWS), 0)],
        "categorical",
        "few-leading-zeros",
    ),
    AnalystFile(
        "roles.csv",
        text(
            lines(
                {
                    "customer_id": RNG.choice(10**8, N_ROWS, replace=False),
                    "mail": [f"p{row}@example.org" for row in range(N_ROWS)],
                    "remark": [f"was seen by doctor {row} and went home" for row in range(N_ROWS)],
                    "plz": [f"{own:05d}" for own in RNG.choice([1067, 1069, 4109, 80331, 50667], N_ROWS)],
                    "height": HEIGHT,
                }
            )
        ),
        {"customer_id": "label", "mail": "ignore", "remark": "ignore", "plz": "categorical", "height": AMOUNT},
    ),
    AnalystFile(
        "flags.csv",
        text(
            lines(
                {
                    "member": np.array(["TRUE", "FALSE"])[GROUP % 2],
                    "ticked": np.array(["x", ""])[(VISITS > 2).astype(int)],
                    "bit": GROUP % 2,
                    "same": ["Bonn"] * N_ROWS,
                    "empty": [""] * N_ROWS,
                    "height": HEIGHT,
                }
            )
        ),
        {
            "member": "boolean",
            "ticked": "boolean",
            "bit": "boolean",
            "same": "ignore",
            "empty": "ignore",
            "height": AMOUNT,
        },
    ),
]
