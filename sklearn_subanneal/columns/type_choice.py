"""Choice of the type of a column from its dtype, its values and their evidence: ``feature_types="auto"``."""

from __future__ import annotations

import re

import numpy as np

from sklearn_subanneal.columns.code_names import code_word
from sklearn_subanneal.columns.count import MOST_ARGUMENT, Count
from sklearn_subanneal.columns.few_levels import FEWEST_CELLS_A_LEVEL, MOST_REPEATED
from sklearn_subanneal.columns.number_values import NumberValues
from sklearn_subanneal.columns.ordinal import MOST_LEVELS
from sklearn_subanneal.columns.type_evidence import TypeEvidence
from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.chosen_type import ChosenType
from sklearn_subanneal.tables.dates import date_spelling, parse_datetimes
from sklearn_subanneal.tables.long_integers import long_cells
from sklearn_subanneal.tables.numerals import is_rounded
from sklearn_subanneal.tables.spelling import NEARLY_ALL, find_spelling, spelled_cells

# Grades leave few places out between the least and the greatest: 14 of the numbers from 1 to 365 are amounts.
MOST_PLACES_A_GRADE = 2.0
# Equally frequent integers from 0 or 1 without gaps are classes, up to so many (beyond, evenly spread amounts are as
# likely), if the evidence is higher by so many nats: odds of 20 to 1. Others are years or ages of a balanced table.
MOST_CLASSES, LEAST_EQUAL_EVIDENCE = 30, 3.0
# Codes begin with 0 or 1 and are dense: their range has at most so many places for each that occurs. A few very
# frequent ones are left out.
MOST_PLACES_A_CODE, MOST_CODE_ATOMS = 1.5, 3
# Above this score, the frequencies of the integers depend on their order, as those of amounts do. Of planted codes 6 %
# are above it.
ORDERED_SCORE = 2.33
# The type "real" alone has correlations within clusters, and its predictions are means. Another type must have evidence
# that is higher by so many nats altogether, odds of 150 to 1 ("very strong" in Kass and Raftery, 1995) ...
LEAST_EVIDENCE = 5.0
# ... and by so many for each cell: however many rows there are, smaller gains hardly change a prediction. A lognormal
# column gains 0.1 if its skewness is 1.2.
LEAST_GAIN = 0.1
# Values that repeat are round numbers rather than atoms, unless they are the least or the largest one or have half of
# the cells. These atoms must have at least the other share, since a few cells do not outweigh correlations, and half of
# the cells of all values that repeat.
LEAST_INNER_SHARE, LEAST_ATOMS_SHARE = 0.5, 0.1
# Beside frequent atoms, other numbers that repeat are levels as well, such as classes of income, if they are few and
# each has so many cells: of amounts, some occur only once.
FEWEST_CELLS_OF_EACH_LEVEL = 3
# Integers are counts of events only if they have several values and if the typical positive one is small: large counts
# are as well described as reals. The frequencies of few counts are close to those of a negative binomial distribution:
# the evidence of categories is higher by at most so many nats for each cell.
FEWEST_COUNTS, LARGEST_TYPICAL_COUNT, MOST_MISFIT = 4, 20.0, 0.05
# Few integers are no counts if an integer has no cell, and those before and after it have so many each: it would have
# about as many, if their frequencies were smooth. They are times or doses of a plan.
LEAST_BESIDE_GAP = 10
# Few integers end abruptly, as codes and grades do and counts do not, if they would have so many cells above the
# largest value, were their frequencies to fall on as they do up to it.
MOST_CELLS_ABOVE = 20.0
# Strings that differ in nearly every row are names of the rows.
MOST_NAMES_SHARE, FEWEST_NAMES = 0.9, 20


def choose_type(cells: Cells) -> ChosenType:
    """Choose the type of a column from its dtype, its values, and the evidence of these values.

    The dtype decides first: an ordered categorical is "ordinal", another categorical "categorical", bool "boolean", and
    dates "datetime". Strings are "datetime" if all are dates, numbers if nearly all spell numbers that are not codes
    (``sklearn_subanneal.tables.spelling.find_spelling``) and that floating-point numbers hold, and else "categorical".
    For numbers see the parts of the guide on types; in short

    - 0 and 1 are "boolean", two other values "categorical";
    - integers that repeat are "categorical" if the name of the column calls them codes ("zip code", and not "class
      size"), or if they begin with 0 or 1 and are equally frequent, as classes are, or many whose frequencies have no
      order, or if floating-point numbers do not tell them apart;
    - other integers of at most 20 values are "ordinal", or "count" by the evidence;
    - other integers from 0 or 1 with a typical value of at most 20 are "count" by the evidence;
    - others are "real", unless "semicontinuous" or "skewed" has clearly more evidence; "ordinal" in place of
      "semicontinuous" if they are at most 20 numbers, of which each is in three cells or more.

    Evidence is the marginal likelihood of one cluster, :class:`TypeEvidence`. "cyclic" is never chosen.

    Parameters
    ----------
    cells : Cells
        The cells of the column that ``fit`` received.

    Returns
    -------
    chosen : ChosenType
        The type, the reason, and maybe a warning.

    Raises
    ------
    ValueError
        If the column holds objects of several kinds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns import choose_type
    >>> from sklearn_subanneal.tables.cells import array_cells, object_cells
    >>> grades = np.random.default_rng(0).binomial(5, 0.6, 300) + 1.0
    >>> choose_type(array_cells("grade", grades)).kind
    'ordinal'
    >>> choose_type(object_cells("price", "object", ["$1.50", "$3", "$2.20"])).kind
    'real'
    """
    kind = cells.kind()
    if cells.is_category:
        return _of_category(cells)
    if kind == "boolean":
        return ChosenType(kind, "true or false")
    if kind == "categorical":
        return _of_strings(cells)
    if kind != "real":
        return ChosenType(kind, f"dtype {cells.dtype}")
    numbers = cells.numbers(_Plain)
    return _of_long(cells) or _of_numbers(cells.name, numbers)


class _Plain:
    """The typing of cells as numbers of any kind."""

    kind, dtype, largest, remedy = "real", np.float64, None, ""


def _of_category(cells):
    n_levels = len(cells.levels if cells.levels is not None else cells.values)
    # A polars Enum has an order whether its user means one or not.
    if cells.ordered and cells.dtype != "Enum" and 2 <= n_levels <= MOST_LEVELS:
        return ChosenType("ordinal", f"the dtype declares an order of its {n_levels} levels")
    return ChosenType("categorical", f"the dtype declares {n_levels} categories")


def _of_strings(cells):
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.values))
    n_cells, n_values = int(counts.sum()), len(cells.values)
    if not n_values:
        return ChosenType("categorical", "it has no values")
    try:
        if parse_datetimes(cells.values, cells.name) is not None:
            texts = [value for value in cells.values if isinstance(value, str)]
            if date_spelling(texts).are_seasons:
                return ChosenType("categorical", f"seasons such as {texts[0]!r}, from one year to the next")
            return ChosenType("datetime", f"all strings are dates, such as {cells.values[0]!r}")
    except ValueError as error:
        return ChosenType(
            "categorical", "dates of several readings", warning=f"{error} They are categories until then."
        )
    spelling = find_spelling(cells)
    long = [] if spelling is None else [code for code, value in enumerate(cells.values) if is_rounded(value)]
    are_long = counts[long].sum() > (1.0 - NEARLY_ALL) * n_cells
    if spelling is not None and not are_long:
        of_numbers = _of_numbers(cells.name, spelled_cells(cells, spelling).values)
        if of_numbers.kind not in ("categorical", "boolean"):
            marks = ", ".join(map(repr, spelling.marks[:3]))
            left = f"; missing where they are not: {marks}" if marks else ""
            reason = f"strings that spell {spelling.words}{left}; {of_numbers.reason}"
            rounded = _rounded(cells.name, [cells.values[code] for code in long])
            warning = _lost(cells.name, spelling.marks) or rounded or of_numbers.warning
            return of_numbers._replace(reason=reason, spelling=spelling, warning=warning)
    text = (
        f"{'integers that floating-point numbers would round' if are_long else 'strings'}, {n_values:,} different ones"
    )
    if n_values >= FEWEST_NAMES and n_values > MOST_NAMES_SHARE * n_cells:
        reason = f"{text} in {n_cells:,} cells"
        return ChosenType("categorical", reason, warning=_drop(cells.name, reason))
    return ChosenType("categorical", text)


def _lost(name, marks) -> str | None:
    """A warning if strings that count as missing say something: they have a digit, and are no signs of a gap."""
    lost = [mark for mark in marks if re.search(r"\d", mark)]
    if not lost:
        return None
    return (
        f"Column {name!r} has numbers, and cells that are none, such as {', '.join(map(repr, lost[:3]))}: they count "
        "as missing. Correct them, or declare the column 'categorical' in feature_types if these are codes."
    )


def _rounded(name, long) -> str | None:
    """A warning if a few among strings that are numbers have more digits than these."""
    if not long:
        return None
    return (
        f"Column {name!r} has numbers, and integers that floating-point numbers round, such as {long[0]!r}. Correct "
        "them, or declare the column 'categorical' in feature_types if these are codes."
    )


def _of_long(cells) -> ChosenType | None:
    """Codes, if integers repeat that floating-point numbers do not tell apart; else None."""
    if not long_cells(cells).any():
        return None
    values, codes = cells.factored()
    if np.count_nonzero(codes >= 0) < FEWEST_CELLS_A_LEVEL * len(values):
        return None
    n_apart = len(set(map(float, values)))
    text = f"{len(values):,} distinct integers, of which floating-point numbers would leave {n_apart:,}"
    return ChosenType("categorical", text) if n_apart < len(values) else None


def _of_numbers(name, cells) -> ChosenType:
    """The type of a column of numbers, NaN where missing."""
    with np.errstate(all="ignore"):
        return _of_values(name, NumberValues.of(cells))


def _of_values(name, numbers) -> ChosenType:
    n_values = len(numbers.values)
    if n_values < 2:
        if not n_values:
            return ChosenType("real", "it has no values")
        return ChosenType("semicontinuous", f"always {_brief(numbers.values[0])}")
    if np.array_equal(numbers.values, [0.0, 1.0]):
        return ChosenType("boolean", "zeros and ones")
    repeats = numbers.n_cells >= FEWEST_CELLS_A_LEVEL * n_values
    if n_values == 2 and repeats:
        return ChosenType("categorical", f"two values, {_brief(numbers.values[0])} and {_brief(numbers.values[1])}")
    if numbers.number_rows():
        reason = f"{n_values:,} integers from {_range(numbers)}, all different"
        return ChosenType("real", reason, warning=_drop(name, reason))
    evidence = TypeEvidence(numbers)
    if numbers.are_whole:
        chosen = _of_integers(name, numbers, evidence, repeats)
        if chosen is not None:
            return chosen
    elif repeats and n_values <= MOST_REPEATED and numbers.step == 0.5:
        return ChosenType(
            "ordinal", f"{n_values} distinct numbers from {_range(numbers)} in steps of 0.5: few levels", revisable=True
        )
    return _of_reals(numbers, evidence, repeats)


def _of_integers(name, numbers, evidence, repeats) -> ChosenType | None:
    """Codes, grades or counts; None if the integers are amounts."""
    n_values = len(numbers.values)
    text = f"{n_values:,} distinct integers from {_range(numbers)}"
    are_few = repeats and n_values <= MOST_REPEATED and numbers.n_places <= MOST_PLACES_A_GRADE * n_values
    if repeats and n_values >= 3:
        if named := code_word(name):
            return ChosenType("categorical", f"{text}: codes, since the name has the word {named!r}")
        starts_as_numbering = numbers.values[0] in (0.0, 1.0)
        if starts_as_numbering and n_values <= MOST_CLASSES and numbers.n_places == n_values:
            margin = evidence.equal - max(evidence.categorical, evidence.shapes)
            if margin > LEAST_EQUAL_EVIDENCE:
                return ChosenType(
                    "categorical", f"{text}: equally frequent, as classes are, {_higher(margin)}", revisable=True
                )
        # A frequent last value, such as the end of a study, is where amounts end.
        ends = numbers.counts.argmax() == n_values - 1 and numbers.values[-1] in evidence.atoms
        is_list = starts_as_numbering and not ends and numbers.n_places <= MOST_PLACES_A_CODE * n_values
        if is_list and not are_few and evidence.categorical - evidence.equal > LEAST_EVIDENCE:
            few = evidence.atoms if len(evidence.atoms) <= MOST_CODE_ATOMS else []
            if numbers.order_score(few) < ORDERED_SCORE:
                return ChosenType("categorical", f"{text}: codes, since their frequencies have no order")
    cells, are_planned = numbers.cells(), repeats and n_values <= MOST_REPEATED and _has_gap(numbers)
    may_be_count = (
        numbers.values[0] in (0.0, 1.0)
        and numbers.values[-1] <= Count.largest
        and numbers.values @ numbers.counts <= MOST_ARGUMENT
        and n_values >= FEWEST_COUNTS
        and np.median(cells[cells > 0.0]) <= LARGEST_TYPICAL_COUNT
    )
    if are_few:
        # Frequencies without a shape are left out of the comparison: in a long table they fit every column best.
        margin = evidence.count - evidence.shapes
        fits = evidence.categorical - evidence.count <= MOST_MISFIT * numbers.n_cells
        is_smooth = not are_planned and _cells_above(numbers) <= MOST_CELLS_ABOVE
        if may_be_count and fits and margin > LEAST_EVIDENCE and is_smooth:
            return ChosenType("count", f"{text}: count rather than ordinal, {_higher(margin)}", revisable=True)
        return ChosenType("ordinal", f"{text}: few levels", revisable=True)
    if may_be_count:
        rivals = {"real": evidence.real, "skewed": evidence.skewed}
        if _has_atoms(evidence):
            rivals["semicontinuous"] = evidence.semicontinuous
        rival = max(rivals, key=rivals.get)
        margin = evidence.count - rivals[rival]
        if margin > 0.0 and are_planned:
            return ChosenType("ordinal", f"{text}: few levels, with gaps that counts do not have", revisable=True)
        if margin > 0.0:
            return ChosenType("count", f"{text}: count rather than {rival}, {_higher(margin)}", revisable=True)
    return None


def _has_gap(numbers) -> bool:
    """Whether an integer without cells is between two that have many."""
    beside = np.minimum(numbers.counts[:-1], numbers.counts[1:])
    return bool(np.any((np.diff(numbers.values) > 1.0) & (beside >= LEAST_BESIDE_GAP)))


def _cells_above(numbers) -> float:
    """The cells that the value above the largest would have, by the frequencies of the largest and the one below it.

    As in a Poisson distribution, where p(x + 1) / p(x) is x / (x + 1) times p(x) / p(x - 1).
    """
    x, counts = numbers.values, numbers.counts
    if len(x) < 2 or x[-2] != x[-1] - 1.0:
        return 0.0
    return counts[-1] * (counts[-1] / counts[-2]) * x[-1] / (x[-1] + 1.0)


def _of_reals(numbers, evidence, repeats) -> ChosenType:
    text = f"{len(numbers.values):,} distinct numbers from {_range(numbers)}"
    least = max(LEAST_EVIDENCE, LEAST_GAIN * numbers.n_cells)
    best = max(evidence.real, evidence.skewed)
    if _has_atoms(evidence) and evidence.semicontinuous - best > least:
        all_repeat = repeats and numbers.counts.min() >= FEWEST_CELLS_OF_EACH_LEVEL
        if all_repeat and len(numbers.values) <= MOST_REPEATED:
            return ChosenType("ordinal", f"{text}: few levels, some of them frequent")
        atoms = ", ".join([*map(_brief, evidence.atoms[:3]), *(["..."] if len(evidence.atoms) > 3 else [])])
        share = np.isin(numbers.values, evidence.atoms) @ numbers.counts / numbers.n_cells
        return ChosenType(
            "semicontinuous",
            f"{text}, of which {atoms} in {share:.0%} of the cells, {_higher(evidence.semicontinuous - best)}",
        )
    margin = evidence.skewed - evidence.real
    # A mixture of two clusters is skewed, though they are not.
    if margin > least and evidence.skewed - evidence.two_normals > LEAST_EVIDENCE:
        return ChosenType("skewed", f"{text}: skewed rather than real, {_higher(margin)}", revisable=True)
    return ChosenType("real", f"{text}: no other type has clearly higher evidence")


def _has_atoms(evidence) -> bool:
    numbers, atoms = evidence.numbers, evidence.atoms
    shares = numbers.counts[np.isin(numbers.values, atoms)] / numbers.n_cells
    is_end = np.isin(atoms, numbers.values[[0, -1]])
    proper = shares[is_end | (shares >= LEAST_INNER_SHARE)].sum()
    return bool(proper >= max(LEAST_ATOMS_SHARE, 0.5 * shares.sum()))


def _drop(name, reason) -> str:
    return (
        f"Column {name!r} looks like an identifier of the rows ({reason}), from which nothing can be learned: drop "
        "it, or declare its type in feature_types."
    )


def _higher(nats) -> str:
    return f"log evidence higher by {nats:,.1f}"


def _range(numbers) -> str:
    return f"{_brief(numbers.values[0])} to {_brief(numbers.values[-1])}"


def _brief(number) -> str:
    return f"{number:,.0f}" if number == np.floor(number) and abs(number) < 1e15 else f"{number:.6g}"
