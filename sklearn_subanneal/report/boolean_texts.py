"""Texts of booleans: words for true and false, and ticks in boxes that are otherwise left empty."""

from __future__ import annotations

TRUE, FALSE = ("true", "wahr", "vrai"), ("false", "falsch", "faux")
TICKS = ("x", "X", "✓", "✔", "☑")
# What the texts of a column spell, in a types file, if they are ticks.
TICK = "tick"
