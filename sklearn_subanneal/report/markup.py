"""HTML elements, tables, figures and lists as functions that escape all text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Markup(str):
    """A string of HTML, which is not escaped again."""


def element(tag: str, *children, **attributes) -> Markup:
    """An element with its children.

    Parameters
    ----------
    tag : str
    *children : str or Markup
        Text is escaped, markup is not.
    **attributes
        ``class_`` is written "class", and underscores as hyphens; attributes that are None are left out.

    Examples
    --------
    >>> from sklearn_subanneal.report.markup import element
    >>> element("p", "a < b ", element("b", "bold"), class_="note")
    '<p class="note">a &lt; b <b>bold</b></p>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in ("img", "meta", "br"):
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{join_markup(*children)}</{tag}>")


def join_markup(*parts) -> Markup:
    """Concatenate parts; strings that are not markup are escaped."""
    return Markup("".join(part if isinstance(part, Markup) else escaped(part) for part in parts))


def escaped(text) -> Markup:
    """Any text as HTML; control characters, which a page may not have, are replaced.

    Examples
    --------
    >>> from sklearn_subanneal.report.markup import escaped
    >>> escaped("a < b\\0")[:-1], ord(escaped("\\0"))
    ('a &lt; b', 65533)
    """
    return Markup(CONTROL.sub("\ufffd", html.escape(str(text))))


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence], numbers: Sequence[int] = ()) -> Markup:
    """A table that scrolls if it is wide; ``numbers`` are the indices of right-aligned columns."""

    def line(tag, cells, **attributes):
        return element(
            "tr",
            *(
                cell
                if isinstance(cell, Markup) and cell.startswith("<td")
                else element(tag, cell, class_="number" if j in numbers else None, **attributes)
                for j, cell in enumerate(cells)
            ),
        )

    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", line("th", heads, scope="col")),
            element("tbody", *(line("td", row) for row in rows)),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def figure(source: str, alt: str, caption: str) -> Markup:
    """A picture with its caption; it scrolls on narrow pages."""
    image = element(
        "div", element("img", src=source, alt=alt), class_="scroll", tabindex="0", role="region", aria_label=caption
    )
    return element("figure", image, element("figcaption", caption))


def paragraph(*children) -> Markup:
    """A paragraph."""
    return element("p", *children)


def listed(words: Sequence[str], most: int) -> str:
    """The first of some words, separated by commas, and the number of the others.

    Examples
    --------
    >>> from sklearn_subanneal.report.markup import listed
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def counted(number: int, word: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> from sklearn_subanneal.report.markup import counted
    >>> counted(1, "row"), counted(20000, "row"), counted(2, "quantity")
    ('1 row', '20,000 rows', '2 quantities')
    """
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{number:,} {word if number == 1 else plural}"
