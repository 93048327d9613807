"""Entry point of ``python -m sklearn_subanneal``, which runs the command ``sklearn-subanneal``."""

import sys

from sklearn_subanneal.report.cli import main

if __name__ == "__main__":
    sys.exit(main())
