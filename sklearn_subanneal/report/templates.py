"""render: the page of a report from its templates, in which every text is escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.wording import listed

# Characters that HTML must not have; control characters of a terminal among them.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
FOLDER = "sklearn_subanneal.report"


def require_jinja2() -> None:
    """Refuse to begin without jinja2.

    Raises
    ------
    ImportError
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "The page of a report is written by jinja2, which is not installed: pip install 'sklearn-subanneal[report]'"
        ) from error


def render(name: str, **context) -> str:
    """A template of the folder ``templates``, filled in.

    Names of columns, categories and files are hostile input: all of them are escaped, and control characters are
    replaced. The page allows no script but that of the package, by its hash, and nothing that is fetched.

    Parameters
    ----------
    name : str
        Name of the template.
    **context
        What it shows.

    Examples
    --------
    >>> from sklearn_subanneal.report.page_table import PageTable
    >>> from sklearn_subanneal.report.templates import render
    >>> page = render("table.html", table=PageTable("x < y", ("name",), [("<b>",)]))
    >>> "x &lt; y" in page, "<b>" in page
    (True, False)
    """
    require_jinja2()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": counted, "listed": listed}
    script = _text("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    text = environment.get_template(name).render(
        style=_text("report.css"), script=script, script_digest=digest, **context
    )
    return CONTROL.sub("\ufffd", text)


def _text(name: str) -> str:
    return files(FOLDER).joinpath("templates", name).read_text(encoding="utf-8")
