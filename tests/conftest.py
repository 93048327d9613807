"""What holds for all tests: they, and the processes that they start, see the installed package."""

import os
import signal

# `python -c` and `python -m` put the working directory on the path; in the checkout that is the uncompiled source tree.
os.environ["PYTHONSAFEPATH"] = "1"

# Jobs in the background of a shell ignore interrupts, and hand that down; some tests send them.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
