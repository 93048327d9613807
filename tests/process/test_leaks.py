"""Memory does not grow by the number of fits."""

from __future__ import annotations

import os
import sys

import leaks
import pytest
from support.scale_models import ALL

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident memory is read from /proc")


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_memory_of_many_fits(name):
    assert max(leaks.growth(name, 200)) < leaks.BAR


@pytest.mark.skipif("SUBANNEAL_SANITIZED" in os.environ, reason="memory that is freed stays in quarantine")
def test_leaks_are_seen(monkeypatch):
    """Of memory of Python's allocator, and of others."""
    kept = []
    monkeypatch.setattr(leaks, "fit_and_ask", lambda name, n: kept.extend(bytearray(20_000) for _ in range(n)))
    grown, held = leaks.growth("diag", 100)
    assert grown > 1_500_000 and held > 400_000
