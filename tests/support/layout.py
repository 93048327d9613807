"""A checker of the package's layout: which modules import which, and how files and names are distributed.

`violations(root)` reads the sources below a folder, without importing them, and returns one line for each violation.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NAME = "sklearn_subanneal"
# Packages from top to bottom: a package imports packages of lower levels only. "" is the package itself.
LEVELS = (
    ("",),
    ("report",),
    ("estimators",),
    ("plotting",),
    ("diagnostics",),
    ("posterior",),
    ("shards",),
    ("views",),
    ("trees",),
    ("mixtures",),
    ("columns",),
    ("partitions",),
    ("topics", "factorial", "gaussian_process"),
    ("variational", "tempering"),
    ("annealing", "files"),
    ("tables",),
    ("datasets", "portable"),
    ("_core",),
)
LEVEL_OF = {package: level for level, packages in enumerate(LEVELS) for package in packages}
# Pairs that the order allows and the design does not: estimators are fitted without a display, and one module draws.
FORBIDDEN = {("estimators", "plotting")}
DRAWS = "estimators/_presentation.py"
MOST_LINES = 350
SOURCES = (".py", ".pyx", ".pxd", ".pxi", ".h")
CIMPORT = re.compile(
    rf"^\s*(?:from\s+({NAME}(?:\.\w+)*)\s+c?import\s+\(?([^#\n]*)|c?import\s+({NAME}(?:\.\w+)*))", re.MULTILINE
)
CYTHON_NAME = re.compile(r"^(?:cdef\s+class|class|def|cpdef\s+[\w.\[\]*: ]*?)\s*(\w+)\s*[(:]", re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """An import of a module of the package.

    Attributes
    ----------
    path : Path
        The importing file.
    package, target : str
        The importing and the imported package, relative to the root; "" is the root itself.
    module : str
        The dotted name that is imported.
    """

    path: Path
    package: str
    target: str
    module: str


def sources(root: Path) -> list[Path]:
    """The source files of the package in `root`, a folder of the package's name; generated C files are left out."""
    return sorted(path for path in root.rglob("*") if path.suffix in SOURCES and "__pycache__" not in path.parts)


def package_of(root: Path, path: Path) -> str:
    """The top-level package that a file belongs to; "" for a file at the top level."""
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else ""


def imports(root: Path) -> list[Import]:
    """All imports within the package, those within functions and below `TYPE_CHECKING` included."""
    packages = {path.name for path in root.iterdir() if path.is_dir()}
    found = []
    for path in sources(root):
        for module in _imported(root, path):
            parts = module.split(".")
            if parts[0] == NAME:
                target = parts[1] if len(parts) > 1 and parts[1] in packages else ""
                found.append(Import(path, package_of(root, path), target, module))
    return found


def _module(root: Path, path: Path, node: ast.ImportFrom) -> list[str]:
    """The parts of the absolute name of the module that names are imported from."""
    package = [NAME, *path.relative_to(root).parent.parts]
    before = package[: len(package) - node.level + 1] if node.level else []
    return [*before, *(node.module.split(".") if node.module else [])]


def _imported(root: Path, path: Path) -> tuple[str, ...]:
    return _imported_by(root, path, path.read_text(encoding="utf-8"))


@cache
def _imported_by(root: Path, path: Path, text: str) -> tuple[str, ...]:
    """Each check asks for all imports: a text is parsed once."""
    return tuple(_found_in(root, path, text))


def _found_in(root: Path, path: Path, text: str) -> Iterator[str]:
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (".".join([*_module(root, path, node), alias.name]) for alias in node.names)
    else:
        for module, names, whole in CIMPORT.findall(text):
            if whole:
                yield whole
            # The names of a list in parentheses over several lines do not matter: the module before them is enough.
            for name in re.findall(r"\w+", names) or ["*"] if module else ():
                yield f"{module}.{name}"


def _below(root: Path) -> dict[str, set[str]]:
    """The packages that each package imports."""
    below = defaultdict(set)
    for one in imports(root):
        if one.package != one.target and one.package and one.target:
            below[one.package].add(one.target)
    return below


def upward_imports(root: Path) -> list[str]:
    """Imports that do not lead to a lower level, or lead to the package's own `__init__`."""
    out = []
    for one in imports(root):
        if one.package == one.target or one.package not in LEVEL_OF or one.target not in LEVEL_OF:
            continue
        forbidden = (one.package, one.target) in FORBIDDEN and one.path.relative_to(root).as_posix() != DRAWS
        if LEVEL_OF[one.target] <= LEVEL_OF[one.package] or forbidden:
            out.append(f"{one.path.relative_to(root)} imports {one.module}, which is not below {one.package}")
    return sorted(set(out))


def cycles(root: Path) -> list[str]:
    """Cycles of packages that import one another."""
    below, out = _below(root), set()

    def visit(package, path):
        if package in path:
            cycle = path[path.index(package) :]
            first = cycle.index(min(cycle))
            out.add(" -> ".join([*cycle[first:], *cycle[:first], cycle[first]]))
            return
        for other in sorted(below.get(package, ())):
            visit(other, [*path, package])

    for package in sorted(below):
        visit(package, [])
    return [f"packages import one another: {cycle}" for cycle in sorted(out)]


def depth(root: Path) -> int:
    """The number of packages on the longest chain of imports; the packages must have no cycle."""
    below = _below(root)

    def height(package):
        return 1 + max((height(other) for other in below.get(package, ())), default=0)

    return max((height(package) for package in below), default=0)


def misplaced_files(root: Path) -> list[str]:
    """Modules at the top level, and packages that the list of levels does not have or that do not exist."""
    found = {path.name for path in root.iterdir() if path.is_dir() and sources(path)}
    missing = set(LEVEL_OF) - found - {""}
    modules = [path for path in sources(root) if path.parent == root and path.stem not in ("__init__", "__main__")]
    return [
        *(f"{path.name} is at the top level, where only __init__ and __main__ are" for path in modules),
        *(f"the package {name} is not in the list of levels" for name in sorted(found - set(LEVEL_OF))),
        *(f"the list of levels has the package {name}, which does not exist" for name in sorted(missing)),
    ]


def long_files(root: Path) -> list[str]:
    """Files of more than `MOST_LINES` lines."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources(root)}
    return [
        f"{path.relative_to(root)} has {length} lines, more than {MOST_LINES}"
        for path, length in lengths.items()
        if length > MOST_LINES
    ]


def repeated_file_names(root: Path) -> list[str]:
    """File names that occur in several folders; a .pyx and its .pxd are one module."""
    folders = defaultdict(set)
    for path in sources(root):
        if path.stem not in ("__init__", "__main__"):
            folders[path.stem].add(str(path.parent.relative_to(root)))
    return [
        f"the file name {name} occurs in {', '.join(sorted(where))}"
        for name, where in sorted(folders.items())
        if len(where) > 1
    ]


def repeated_names(root: Path) -> list[str]:
    """Public classes and functions at module level that are defined in several files."""
    where = defaultdict(list)
    for path in sources(root):
        for name in _defined(path):
            if not name.startswith("_"):
                where[name].append(str(path.relative_to(root)))
    return [
        f"the public name {name} is defined in {', '.join(sorted(set(paths)))}"
        for name, paths in sorted(where.items())
        if len(set(paths)) > 1
    ]


def _defined(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return [node.name for node in ast.parse(text).body if isinstance(node, kinds)]
    # A .pxd declares the names that its .pyx defines.
    return CYTHON_NAME.findall(text) if path.suffix == ".pyx" else []


CHECKS = (
    upward_imports,
    cycles,
    misplaced_files,
    long_files,
    repeated_file_names,
    repeated_names,
)


def violations(root: Path) -> list[str]:
    """The violations that all checks find in the package in the folder `root`."""
    return [line for check in CHECKS for line in check(root)]
