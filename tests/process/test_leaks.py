"""Memory does not grow by the number of fits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import leaks
import pytest
from support.scale_models import ALL

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident memory is read from /proc")

LEAK = """
import os, sys
sys.path.insert(0, os.getcwd())
import leaks
kept = []
leaks.fit_and_ask = lambda name, n: kept.extend(bytearray(20_000) for _ in range(n))
print(*leaks.growth("diag", 100))
"""


def in_new_process(*arguments: str) -> subprocess.CompletedProcess:
    """In a process that has run other tests, their memory may be taken for that of fits, or hide it."""
    folder = Path(leaks.__file__).parent
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_memory_of_many_fits(name):
    done = in_new_process(leaks.__file__, "--fits", "200", "--name", name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif("SUBANNEAL_SANITIZED" in os.environ, reason="memory that is freed stays in quarantine")
def test_leaks_are_seen():
    """Of memory of Python's allocator, and of others."""
    grown, held = map(int, in_new_process("-c", LEAK).stdout.split())
    assert grown > 1_500_000 and held > 400_000
