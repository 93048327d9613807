"""The classes whose objects a portable file may hold: those of this package that are plain Python, and a wrapper."""

from __future__ import annotations

import importlib
import re

from sklearn.frozen import FrozenEstimator

PACKAGE = __name__.partition(".")[0]
# Rooms whose classes are data; importing them does nothing else.
ROOMS = (
    "annealing columns diagnostics estimators factorial gaussian_process mixtures partitions posterior tables "
    "tempering topics trees variational views"
).split()
# Of another package: it has an estimator and nothing else.
FROZEN = "sklearn.frozen.FrozenEstimator"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")


def class_name(cls: type) -> str | None:
    """The name by which a file refers to a class, "room.module.Class"; None if it may hold no object of it."""
    if cls is FrozenEstimator:
        return FROZEN
    package, _, module = cls.__module__.partition(".")
    room = module.partition(".")[0]
    is_plain = package == PACKAGE and room in ROOMS and "." not in cls.__qualname__
    return f"{module}.{cls.__name__}" if is_plain else None


def class_of(name: str) -> type:
    """The class of a name.

    Raises
    ------
    ValueError
        If there is none of this name that a file may hold.
    """
    if name == FROZEN:
        return FrozenEstimator
    if isinstance(name, str) and NAME.fullmatch(name) and name.partition(".")[0] in ROOMS:
        module, _, own = name.rpartition(".")
        try:
            found = getattr(importlib.import_module(f"{PACKAGE}.{module}"), own, None)
        except ImportError:
            found = None
        if isinstance(found, type) and class_name(found) == name:
            return found
    raise ValueError(f"there is no class {name!r}")
