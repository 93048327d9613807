"""Sphinx configuration of the documentation site: `make doc`, or `sphinx-build -W doc output/doc` with the extra `doc`.

The build needs no network, except with DOC_LINKS=1, which links to the documentation of other projects.
"""

import ast
import os
import re
import sys
import warnings
from pathlib import Path

import sklearn_subanneal

ROOT = Path(__file__).resolve().parents[1]
# The examples import helpers from these folders.
sys.path += [str(ROOT / "examples"), str(ROOT / "benchmarks")]
from _common import find_data  # noqa: E402

project = "sklearn_subanneal"
author = "The sklearn_subanneal developers"
copyright = author
version = release = sklearn_subanneal.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = True
# The configuration of the gallery contains a function; docstrings of scikit-learn refer to its own pages.
suppress_warnings = ["config.cache", "ref.ref"]
# References to other packages are not resolved without DOC_LINKS, and internal modules have no pages.
nitpick_ignore_regex = [
    ("py:.*", r"(?!sklearn_subanneal\.).*"),
    ("py:.*", r"sklearn_subanneal\.(\w+\._\w+|tables|files)\..*"),
]

html_theme = "furo"
html_title = f"sklearn_subanneal {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
# The templates list the members with their docstrings below the class.
numpydoc_show_class_members = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

if os.environ.get("DOC_LINKS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }


# ---- Gallery


def runs(example):
    """Whether the table of an example, if it needs one, is available; otherwise it is shown without its output."""
    table = re.search(r"Example\(__doc__, (.+)\)", example.read_text(encoding="utf-8"))
    return table is None or find_data(None, *ast.literal_eval(f"({table[1]},)")) is not None


EXAMPLES = sorted((ROOT / "examples").glob("[!_]*.py"))

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": "|".join(rf"{example.stem}\.py$" for example in EXAMPLES if runs(example)),
    "ignore_pattern": r"_example\.py$",
    "only_warn_on_example_error": False,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    # Show the printed output, not the value of the last line.
    "capture_repr": (),
    "remove_config_comments": True,
    "write_computation_times": False,
    "show_memory": False,
    "matplotlib_animations": True,
    # The names begin with the model, and the pages that explain a model follow its name.
    "within_subsection_order": "FileNameSortKey",
    "parallel": False,
    # Figures are shown in the pages; the files that examples also write go to a separate folder.
    "reset_argv": lambda *_: ["--output", str(ROOT / "output" / "gallery")],
}
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")


# ---- Pages link to files, so that they can be read on a code host; on the site these links lead to pages.

PAGE_OF = [
    (re.compile(r"\]\((?:\.\./)+benchmarks/README\.md(#[\w-]+)?\)"), r"](/benchmarks.md\1)"),
    (re.compile(r"\]\((?:\.\./)+CHANGELOG\.md\)"), "](/changes.md)"),
    (re.compile(r"\]\((?:\.\./)+CONTRIBUTING\.md\)"), "](/contributing.md)"),
    (re.compile(r"\]\((?:\.\./)+examples/(\w+)\.py\)"), r"](/auto_examples/\1.rst)"),
    (re.compile(r"\]\((?:\.\./)+examples/?\)"), "](/auto_examples/index.rst)"),
]


def link_to_pages(app, docname, source):
    for pattern, page in PAGE_OF:
        source[0] = pattern.sub(page, source[0])


# ---- Reference: members inherited from scikit-learn are documented there.

INHERITED = {"fit_predict", "fit_transform", "score"}


def skip_inherited(app, what, name, member, skip, options):
    module = getattr(member, "__module__", None) or ""
    return True if module.split(".")[0] == "sklearn" and name not in INHERITED else skip


def setup(app):
    app.connect("source-read", link_to_pages)
    app.connect("autodoc-skip-member", skip_inherited)
