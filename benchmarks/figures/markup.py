"""HTML elements and tables as functions that escape all text."""

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
    >>> from figures.markup import element
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
    >>> from figures.markup import escaped
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
