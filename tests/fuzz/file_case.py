"""Cases of files: a model file or a table of the report, changed at random, is read; what was read is used."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import tempfile
import traceback
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from file_tables import table_file
from fuzz_case import Finding
from support.file_mutations import changed_array, changed_bytes, members, mutated, packed
from support.scale_models import TOPICS, fitted
from verdict import origin, refusal

from sklearn_subanneal.portable import model_file
from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.cli import main

SALT = 20_250
MODELS = ("diag", "full", "views", "nrmm", "bags", "topics", "factorial", "process", "classifier", "imputer")
X = np.random.default_rng(0).normal(size=(12, 2)) + 4.0 * (np.arange(12) % 2)[:, None]
COUNTS = np.random.default_rng(0).poisson(2.0, (12, 5)).astype(float)
# What a message about a file names, and its remedies.
FILE, REMEDY = (
    re.compile(r"the file |\bt\.|\bt(sv|csv)?\b|--types|[Cc]olumn"),
    re.compile(r"save |take a copy|install|rename|[Dd]eclare|raise --max|correct it"),
)
QUICK = ["--chains", "1", "--jobs", "1", "--quiet", "--no-plots", "--force", "--time-limit", "0.1"]


class FileCase:
    """A case of one file.

    Parameters
    ----------
    number : int
        All that is random follows from it.
    announce : callable
        Called with the description of each step before it.

    Attributes
    ----------
    findings : list of Finding
    outcomes : list of str
        "answer", "refusal" or "finding", one for each step.
    """

    def __init__(self, number: int, announce=lambda step: None):
        self.rng, self.announce = np.random.default_rng([SALT, number]), announce
        self.findings: list[Finding] = []
        self.outcomes: list[str] = []

    def attempt(self, step: str, function, allowed=()):
        """Whether a step gives an answer, and the answer; an exception that is no refusal in words is a finding."""
        self.announce(step)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = function()
        except Exception as error:
            kind = "" if isinstance(error, allowed) else refusal(error)
            if kind == "unclear ValueError" and FILE.search(str(error)) and REMEDY.search(str(error)):
                kind = ""
            if kind:
                trace = "".join(traceback.format_exception(error))
                message = f"{type(error).__name__}: {str(error)[:300]}"
                self.findings.append(Finding(kind, step, origin(error), message, trace))
            self.outcomes.append("finding" if kind else "refusal")
            return False, None
        self.outcomes.append("answer")
        return True, answer


class ModelFileCase(FileCase):
    """A changed file of a model: it is read or refused, and a model that was read answers or fails, without a crash."""

    def run(self) -> ModelFileCase:
        rng = self.rng
        name = str(rng.choice(MODELS))
        content, kind = content_of(name), str(rng.choice(["bytes", "document", "array", "members"]))
        done, model = self.attempt(f"read({name}, {kind})", lambda: read(self.changed(content, kind)))
        if done and hasattr(model, "get_params"):
            table = COUNTS if name in TOPICS else X
            for method in ("predict", "score_samples", "transform"):
                if hasattr(type(model), method):
                    # Of a file made on purpose to deceive, any exception may come: but neither a crash nor a hang.
                    self.attempt(f"{method}({name})", lambda own=method: getattr(model, own)(table), Exception)
        return self

    def changed(self, content: bytes, kind: str) -> bytes:
        rng = self.rng
        if kind == "bytes":
            return changed_bytes(content, rng)
        parts = members(content)
        if kind == "document":
            document = json.loads(parts[model_file.DOCUMENT])
            for _ in range(rng.integers(1, 4)):
                document = mutated(document, rng)
            return packed(parts | {model_file.DOCUMENT: json.dumps(document).encode()})
        names = [own for own in parts if own != model_file.DIGEST]
        own = str(rng.choice(names))
        if kind == "array" and own.endswith(".npy"):
            return packed(parts | {own: changed_array(parts[own], rng)})
        if rng.random() < 0.5:
            return packed(parts | {own: changed_bytes(parts[own], rng)})
        if rng.random() < 0.5:
            del parts[own]
            return packed(parts)
        return packed(parts | {str(rng.choice(["../evil", "/etc/passwd", "array9.npy", "a\0b"])): parts[own]})


@cache
def content_of(name: str) -> bytes:
    """The file of a fitted model."""
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model_file.write(fitted(name, COUNTS if name in TOPICS else X), stream)
    return stream.getvalue()


def read(content: bytes):
    return model_file.read(io.BytesIO(content), "the file", max_bytes=2**28)


class TableFileCase(FileCase):
    """A changed table: it is read or refused, and sometimes a report on it is written by the command line."""

    def run(self) -> TableFileCase:
        rng, folder = self.rng, Path(tempfile.mkdtemp())
        try:
            path, about = table_file(rng, folder)
            done, _ = self.attempt(
                f"read_source({about})", lambda: read_source(path, max_bytes=2**28), (OSError, ImportError)
            )
            if rng.random() < (0.06 if done else 0.03):
                self.report(path, folder, about)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return self

    def report(self, path: Path, folder: Path, about: str) -> None:
        """The command line ends with 0, or with 2 and one message."""
        told, step = io.StringIO(), f"report({about})"
        with contextlib.redirect_stderr(told):
            done, status = self.attempt(step, lambda: main(["report", str(path), "-o", str(folder / "out"), *QUICK]))
        said = told.getvalue()
        if done and (status not in (0, 2) or bool(status) != said.startswith("sklearn-subanneal: ")):
            self.findings.append(Finding("exit", step, "", f"status {status}: {said[:300]}"))
        if done and status == 0 and not (folder / "out" / "report.html").stat().st_size:
            self.findings.append(Finding("empty report", step))
        if "Traceback" in said:
            self.findings.append(Finding("traceback", step, "", said[:300]))


KINDS = {"model": ModelFileCase, "table": TableFileCase}
# What a file must never bring about: events of Python's audit hooks.
FORBIDDEN = (
    "os.system os.exec os.posix_spawn os.spawn os.fork os.forkpty subprocess.Popen pickle.find_class socket.connect "
    "socket.bind webbrowser.open urllib.Request ftplib.connect smtplib.connect shutil.move os.putenv"
).split()


def forbid(event: str, _arguments) -> None:
    """An audit hook, which ends the process at an event that runs code."""
    if event in FORBIDDEN:
        os.write(2, f"forbidden event {event}\n".encode())
        os._exit(71)
