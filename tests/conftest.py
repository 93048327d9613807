"""What holds for all tests: they, and the processes that they start, see the installed package."""

import os

# `python -c` and `python -m` put the working directory on the path; in the checkout that is the uncompiled source tree.
os.environ["PYTHONSAFEPATH"] = "1"
