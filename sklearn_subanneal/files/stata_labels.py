"""Tables in files of Stata, whose numbers may have labels: texts, numbers, or missing cells."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.tables.missing_texts import is_missing_word

if TYPE_CHECKING:
    import pandas as pd

# Labels of codes that say that there is no answer.
_NO_ANSWER = re.compile(
    r"(?:refus|no answer|no response|non-?response|missing\b|inapplicable|inap\b|skip(?:ped)?\b|prefer not|declined\b"
    r"|not (?:applicable|asked|available|answered|stated|known|sure)\b"
    r"|(?:do not|don['\u2019]?t|does not|doesn['\u2019]?t) (?:know|apply)\b"
    r"|keine (?:angabe|antwort)|wei(?:ß|ss) nicht|trifft nicht zu|verweiger|antwort verweigert|entfällt"
    r"|ne sai[ts] pas|sans réponse|non applicable|no sabe|no contesta|sin respuesta|no aplica|non (?:so|risponde)\b)",
    re.IGNORECASE,
)
# A note names so many columns.
MOST_NAMED = 5


def stata_table(content: bytes, options: ReadingOptions, notes: list[str]) -> pd.DataFrame:
    """The table in a file of Stata.

    A column is one of labels, and so of texts, if all of its values have one. If some have none, it is one of numbers,
    as a scale of which the ends are labelled; but one of texts if most values have a label, and those without lie
    beyond these. Of numbers, those beyond all without a label are missing cells if their label says that there is no
    answer.

    Parameters
    ----------
    content : bytes
    options : ReadingOptions
    notes : list of str
        What some values mean is added.
    """
    import pandas as pd

    with pd.read_stata(io.BytesIO(content), iterator=True) as reader:
        table = reader.read(convert_categoricals=False)
        labels = reader.value_labels()
        # Labels have names of their own, which several columns may share.
        keys = list(getattr(reader, "_lbllist", table.columns))
    found: dict[str, list[str]] = {"missing": [], "numbers": [], "texts": []}
    read = {}
    for name, key in zip(table.columns, keys, strict=True):
        if labels.get(key) and table[name].dtype.kind in "iuf":
            read[name], kind, what = _labelled(table[name], labels[key], options)
            if what:
                found[kind].append(f"{what} in {name!r}")
    for kind, remark in (
        ("missing", "labels say that cells are missing (else pass --keep)"),
        ("numbers", "numbers of which only some have a label stay numbers (pass --missing, if these are no values)"),
        ("texts", "values without a label beside those with one are texts as well"),
    ):
        if found[kind]:
            more = f" and {len(found[kind]) - MOST_NAMED} more columns" if len(found[kind]) > MOST_NAMED else ""
            notes.append(f"{remark}: {'; '.join(found[kind][:MOST_NAMED])}{more}")
    return table.assign(**read)


def _labelled(series: pd.Series, labels: Mapping[int, str], options: ReadingOptions) -> tuple[pd.Series, str, str]:
    """A column by its labels, what became of it, and what is to be said; empty texts if nothing is."""
    import pandas as pd

    codes = sorted(series.dropna().unique().tolist())
    known = [code for code in codes if code in labels]
    others = [code for code in codes if code not in labels]
    if not known:
        return series, "", ""
    between = [code for code in others if known[0] < code < known[-1]]
    if len(known) > len(others) and not between:
        names = {code: str(labels[code]) if code in labels else f"{code:g}" for code in codes}
        # The order of the codes says nothing of the values. Two codes may have one label.
        categories = list(dict.fromkeys(names.values()))
        texts = pd.Categorical(series.map(names), categories=categories, ordered=False)
        return pd.Series(texts, series.index, name=series.name), "texts", ", ".join(f"{code:g}" for code in others[:3])
    gone = [code for code in known if not others[0] <= code <= others[-1] and _is_missing(code, labels[code], options)]
    shown = ", ".join(f"{code:g} ({labels[code]!r})" for code in (gone or known)[:3])
    return (series.mask(series.isin(gone)), "missing", shown) if gone else (series, "numbers", shown)


def _is_missing(code: float, label: str, options: ReadingOptions) -> bool:
    if {f"{code:g}", label} & {*options.keep}:
        return False
    return label in options.missing or is_missing_word(label) or _NO_ANSWER.match(label.strip()) is not None
