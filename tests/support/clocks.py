"""A clock that tests control, in place of that of the package."""

from __future__ import annotations

import itertools

from sklearn_subanneal.annealing import clock


def tick_at_each_look(monkeypatch, seconds):
    """Let each look at the clock take so long, and nothing else: however busy the machine is, results are the same.

    Chains must run one after the other, since they would share the clock.
    """
    looks = itertools.count()
    monkeypatch.setattr(clock, "now", lambda: seconds * next(looks))
