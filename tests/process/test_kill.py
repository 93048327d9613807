"""Fits that the system kills at random moments resume from their checkpoints, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.tiers import quick_only

CAMPAIGN = Path(__file__).with_name("kill_campaign.py")
NAMES = ("CrossCat", "mixture", "full", "NRMM", "LDA", "LDA-learn", "FMM", "GP", "tempering")
# Files in memory, where there is such a folder: waiting for the disk takes most of the time of small fits.
MEMORY = {"TMPDIR": "/dev/shm"} if os.path.isdir("/dev/shm") else {}
pytest.importorskip("fcntl", reason="kills copies of a process")


@pytest.mark.parametrize(
    ("names", "n_kills"), quick_only([(("CrossCat", "LDA"), 1), (NAMES, 12)], (("CrossCat", "LDA"), 1))
)
def test_killed_at_random_moments(names, n_kills):
    job = [sys.executable, str(CAMPAIGN), "--kills", str(n_kills), "--estimator", *names]
    done = subprocess.run(job, capture_output=True, text=True, timeout=1000, env=os.environ | MEMORY)
    assert done.returncode == 0, done.stdout + done.stderr
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        assert line.startswith(f"{name}: {n_kills} of {n_kills} kills ended in equal fits")


def test_the_campaign_has_all_estimators_and_sees_differences():
    job = f"""
import sys, time
sys.path.insert(0, {str(CAMPAIGN.parent)!r})
import kill_campaign
assert tuple(kill_campaign.FITS) == {NAMES!r}
whole = kill_campaign.FITS["tempering"]([])
print(kill_campaign.difference(whole, whole), kill_campaign.difference(whole | {{"theta": 0.0}}, whole))
def fit(checkpoints):
    # Another number in a fit that resumes.
    found = [1.0, float("nan")]
    if checkpoints:
        folder = checkpoints[0]._folder
        found[0] += folder.exists()
        folder.mkdir(exist_ok=True)
        time.sleep(0.2)
    return {{"draws": found}}
kill_campaign.FITS["LDA"] = fit
out = kill_campaign.campaign("LDA", 1)
print(out.n_kills > 0, out.n_equal, out.differences)
"""
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, timeout=100)
    assert done.stdout == " theta\nTrue 0 ['draws']\n", done.stdout + done.stderr
