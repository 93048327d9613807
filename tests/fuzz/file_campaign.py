"""Read changed files in a worker process with limits, and list what must not happen.

A model file that was changed is read or refused by a ValueError in words, and no code of it is run; a model that was
read may then fail by an exception, but not end the process or hang. A table that was changed is read or refused, and
the command line that reports on it ends with 0, or with 1 and a message.

    python tests/fuzz/file_campaign.py model --cases 10000     files of models, cases 0 to 9999
    python tests/fuzz/file_campaign.py table --cases 10000     CSV, plain or packed, and Parquet if pyarrow is there
    python tests/fuzz/file_campaign.py table --case 17         one case in this process
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent


def command_of(kind: str, first: int, stop: int) -> list[str]:
    """The command of a worker."""
    return [sys.executable, str(HERE / "file_campaign.py"), kind, "--work", str(first), str(stop)]


def run(kind: str, first: int, n_cases: int):
    """A campaign of so many cases."""
    from fuzz_campaign import campaign

    return campaign(first, n_cases, command=partial(command_of, kind))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("model", "table"))
    parser.add_argument("--cases", type=int, default=1000, help="how many (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default: %(default)s)")
    parser.add_argument("--case", type=int, help="show this one")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.work or chosen.case is not None:
        from file_case import KINDS, content_of, forbid

        # Models are made before the hook, which forbids what their fits may do.
        if chosen.kind == "model":
            from file_case import MODELS

            for name in MODELS:
                content_of(name)
        sys.addaudithook(forbid)
    if chosen.work:
        from fuzz_campaign import work

        work(*chosen.work, KINDS[chosen.kind])
    if chosen.case is not None:
        case = KINDS[chosen.kind](chosen.case, lambda step: print(f"- {step}", flush=True)).run()
        for finding in case.findings:
            print(f"\n{finding.group}\n{finding.message}\n{finding.trace}")
        return bool(case.findings)
    result = run(chosen.kind, chosen.first, chosen.cases)
    print(result.report())
    return bool(result.findings)


if __name__ == "__main__":
    # In an environment of safe paths, neither a script's own folder nor that of the tests is on the path.
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    sys.exit(main())
