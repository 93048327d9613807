"""Run hostile cases in a worker process with limits, and list what an estimator must not do.

An estimator answers within its definition, or it refuses by a ValueError, TypeError or NotFittedError that names the
parameter or column and a remedy. All else is a finding: a signal, a hang, another exception, a number that is not
finite, attributes that a failed fit leaves behind.

    python tests/fuzz/fuzz_campaign.py --cases 1000          cases 0 to 999
    python tests/fuzz/fuzz_campaign.py --cases 500 --first 2000
    python tests/fuzz/fuzz_campaign.py --case 17             one case in this process, with its steps and traces
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CPU_SECONDS, WALL_SECONDS, MEMORY = 60, 300, 8 << 30
# The address space of a sanitizer's shadow has no limit.
SANITIZED = "SUBANNEAL_SANITIZED"


@dataclass
class Campaign:
    """What became of the cases.

    Attributes
    ----------
    n_cases : int
    outcomes : Counter
        Steps that ended with an answer, a refusal or a finding.
    findings : list of (int, Finding)
        The number of the case, and what was found in it.
    """

    n_cases: int = 0
    outcomes: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)

    def report(self) -> str:
        """Findings by group, the most frequent first."""
        groups = defaultdict(list)
        for number, finding in self.findings:
            groups[finding.group].append((number, finding))
        lines = [f"{self.n_cases} cases, {dict(self.outcomes)}, {len(self.findings)} findings in {len(groups)} groups"]
        for group, members in sorted(groups.items(), key=lambda item: -len(item[1])):
            number, finding = members[0]
            numbers = ", ".join(str(number) for number, _ in members[:6])
            lines += [f"{len(members):5d}  {group}", f"       cases {numbers}"]
            lines += [f"       {finding.step[:300]}", f"       {finding.message[:400]}"]
        return "\n".join(lines)


class Worker:
    """A process that runs cases one after the other.

    Parameters
    ----------
    command : list of str
    """

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors)

    def lines(self):
        """What the worker says, until it ends or says nothing for too long."""
        stream, rest = self.process.stdout, b""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while selector.select(WALL_SECONDS):
                if not (read := os.read(stream.fileno(), 1 << 16)):
                    return
                *whole, rest = (rest + read).split(b"\n")
                yield from map(json.loads, whole)
        self.process.kill()

    def end(self) -> str:
        """How the process ended, in words; an empty string if as it should."""
        self.process.stdout.close()
        code = self.process.wait()
        if code == 0:
            return ""
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "hang"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def last_words(self) -> str:
        """The end of what it wrote to its error stream."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-6000:]


def command_of(first: int, stop: int) -> list[str]:
    """The command of a worker."""
    return [sys.executable, str(HERE / "fuzz_campaign.py"), "--work", str(first), str(stop)]


def campaign(first: int, n_cases: int, told=None, command=command_of) -> Campaign:
    """Run cases in workers; one that ends is replaced, and the next case is the one after."""
    from fuzz_case import Finding

    result, at, stop = Campaign(), first, first + n_cases
    while at < stop:
        worker, step = Worker(command(at, stop)), ""
        for line in worker.lines():
            if "step" in line:
                step = line["step"]
                continue
            result.n_cases += 1
            result.outcomes.update(line["outcomes"])
            for fields in line["findings"]:
                result.findings.append((at, Finding(**fields)))
                if told is not None:
                    print(json.dumps({"case": at} | fields), file=told, flush=True)
            at, step = at + 1, ""
        if ended := worker.end():
            if at >= stop:
                raise SystemExit(f"a worker ended after its last case: {ended}\n{worker.last_words()}")
            finding = Finding(
                ended, step or "before the first step", "", worker.last_words()[-400:], worker.last_words()
            )
            result.findings.append((at, finding))
            if told is not None:
                print(json.dumps({"case": at} | asdict(finding)), file=told, flush=True)
            result.outcomes["finding"] += 1
            result.n_cases += 1
            at += 1
    return result


def work(first: int, stop: int, make_case=None) -> None:
    """What a worker does: the cases, each with limits, told line by line on the standard output.

    ``make_case`` makes a case of its number and of a function that is told each step; None: a case of an estimator.
    """
    import resource

    out = os.fdopen(os.dup(1), "w")
    # Estimators may print; what they print is no line for the campaign.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not os.environ.get(SANITIZED):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    sys.unraisablehook = _end_at
    if make_case is None:
        from fuzz_case import FuzzCase as make_case

    def tell(**line):
        print(json.dumps(line), file=out, flush=True)

    for number in range(first, stop):
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CPU_SECONDS, resource.RLIM_INFINITY))
        case = make_case(number, lambda step: tell(step=step)).run()
        tell(outcomes=case.outcomes, findings=[asdict(finding) for finding in case.findings])
    out.flush()
    os._exit(0)


def _end_at(unraisable) -> None:
    """An exception that nobody can catch, such as an index out of bounds in a function without errors."""
    print(f"unraisable {unraisable.exc_type.__name__}: {unraisable.exc_value} in {unraisable.object}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(70)


def show(number: int) -> int:
    """Run one case here."""
    from fuzz_case import FuzzCase

    warnings.simplefilter("ignore")
    case = FuzzCase(number, lambda step: print(f"- {step}", flush=True)).run()
    for finding in case.findings:
        print(f"\n{finding.group}\n{finding.message}\n{finding.trace}")
    n_answers, n_refusals = (case.outcomes.count(outcome) for outcome in ("answer", "refusal"))
    print(f"{n_answers} answers, {n_refusals} refusals, {len(case.findings)} findings")
    return bool(case.findings)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000, help="how many (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default: %(default)s)")
    parser.add_argument("--case", type=int, help="show this one")
    parser.add_argument("--out", help="a file for all findings, as lines of JSON")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.work:
        work(*chosen.work)
    if chosen.case is not None:
        return show(chosen.case)
    with open(chosen.out or os.devnull, "w", encoding="utf-8") as told:
        result = campaign(chosen.first, chosen.cases, told)
    print(result.report())
    return bool(result.findings)


if __name__ == "__main__":
    # In an environment of safe paths, a script's own folder is not on the path.
    sys.path.insert(0, str(HERE))
    sys.exit(main())
