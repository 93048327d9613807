"""Settings of all tests and of the processes that they start: the installed package, one thread for linear algebra."""

import os
import signal

import pytest

# `python -c` and `python -m` put the working directory on the path; in the checkout that is the uncompiled source tree.
os.environ["PYTHONSAFEPATH"] = "1"

# Read when NumPy is imported. Tests run in one process for each core: more threads would only get in the way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Jobs in the background of a shell ignore interrupts, and hand that down; some tests send them.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def files_are_not_forced_to_the_disk():
    """Checkpoints are, in which tests that write one at each sweep would spend most of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
