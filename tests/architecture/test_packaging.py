"""What is installed and how: checks of wheels, the conda recipe, progress of compilation, the message of sources."""

from __future__ import annotations

import itertools
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
with_checkout = pytest.mark.skipif(not (ROOT / "setup.py").is_file(), reason="needs the checkout beside the tests")
with_gcc = pytest.mark.skipif(
    platform.machine() != "x86_64" or not all(map(shutil.which, ("gcc", "objdump", "readelf"))),
    reason="needs x86-64, gcc and binutils",
)
KERNEL = "void scale(double *x, double f, long n) { for (long i = 0; i < n; i++) x[i] = x[i] * f + 1.0; }\n"


def unpacked(folder: Path, *options: str) -> Path:
    """A package of one module, compiled with these options, as a wheel has it."""
    package = folder / "sklearn_subanneal"
    package.mkdir()
    (package / "kernel.pyx").touch()
    (folder / "kernel.c").write_text(KERNEL)
    target = package / "kernel.cpython-311-x86_64-linux-gnu.so"
    subprocess.run(["gcc", "-O3", "-shared", "-fPIC", *options, folder / "kernel.c", "-o", target], check=True)
    return folder


def faults(folder: Path) -> list[str]:
    return runpy.run_path(str(ROOT / ".ci" / "check_wheel.py"), run_name="check_wheel")["faults"](folder, True)


@with_checkout
@with_gcc
def test_wheels_have_the_baseline_alone(tmp_path):
    for name, options in {"baseline": [], "native": ["-march=x86-64-v3"], "folder": ["-Wl,-rpath,/home/me"]}.items():
        (tmp_path / name).mkdir()
        unpacked(tmp_path / name, *options)
    assert faults(tmp_path / "baseline") == []
    (fault,) = faults(tmp_path / "native")
    assert fault.endswith("scale needs more than the baseline of x86-64")
    (fault,) = faults(tmp_path / "folder")
    assert "[/home/me]" in fault


@with_checkout
def test_wheels_have_every_module(tmp_path):
    assert faults(tmp_path) == ["there are no sources of compiled modules"]
    (tmp_path / "sklearn_subanneal" / "columns").mkdir(parents=True)
    (tmp_path / "sklearn_subanneal" / "columns" / "_count.pyx").touch()
    assert faults(tmp_path) == ["sklearn_subanneal/columns/_count.pyx is not compiled"]


@with_checkout
def test_conda_requires_what_pip_does():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {
        key: set(re.findall(r"^    - (.+)$", re.search(rf"^  {key}:\n((?:    .*\n)+)", recipe, re.MULTILINE)[1], re.M))
        for key in ("host", "run")
    }
    wanted = {line.replace(">=", " >=") for line in project["project"]["dependencies"]}
    assert listed["run"] == {"python", *wanted}
    wanted = {line.replace(">=", " >=").lower() for line in project["build-system"]["requires"]}
    assert listed["host"] == {"python", "pip", *wanted}
    assert project["project"]["requires-python"] == ">=3.11" and 'match(python, "<3.11")' in recipe
    (command,) = (f"{name} = {target}" for name, target in project["project"]["scripts"].items())
    assert f"- {command}\n" in recipe


@with_checkout
def test_sources_that_are_not_compiled_say_so(tmp_path):
    """Of the folder in which Python is started the sources come before an installed package."""
    for name in ("__init__.py", "_core/__init__.py"):
        (tmp_path / "sklearn_subanneal" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "sklearn_subanneal" / name, tmp_path / "sklearn_subanneal" / name)
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONSAFEPATH", "PYTHONPATH")}
    run = {"cwd": tmp_path, "env": own, "capture_output": True, "text": True}
    for arguments in (["-c", "import sklearn_subanneal"], ["-m", "sklearn_subanneal", "--help"]):
        ended = subprocess.run([sys.executable, *arguments], **run)
        assert ended.returncode == 1
        last = ended.stderr.splitlines()[-1]
        assert str(tmp_path) in last and "not compiled" in last and "start Python in another folder" in last
    # A library that is missing is another matter.
    (tmp_path / "sklearn_subanneal" / "_core" / "_special.py").write_text("import no_such_library\n")
    ended = subprocess.run([sys.executable, "-c", "import sklearn_subanneal"], **run)
    assert ended.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such_library'"


@with_checkout
def test_compilation_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    setuptools = pytest.importorskip("setuptools")
    pytest.importorskip("Cython")
    build_ext = pytest.importorskip("setuptools.command.build_ext").build_ext
    # In an empty folder there are no modules to translate.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "check_call", lambda command: None)
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: None)
    command = runpy.run_path(str(ROOT / "setup.py"))["BuildExtensions"](setuptools.Distribution())
    monkeypatch.setattr(build_ext, "build_extension", lambda self, extension: None)
    monkeypatch.setattr(build_ext, "build_extensions", lambda self: [*map(self.build_extension, self.extensions)])
    clock = itertools.count(step=2.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    command.compiler = type("Compiler", (), {"compiler_type": "unix"})
    command.extensions = [setuptools.Extension(f"module{i}", []) for i in range(10)]
    capsys.readouterr()
    command.build_extensions()
    # It began at 0 s and last spoke at 2 s; then a module takes 2 s, and there is a line every 5 s at most.
    assert capsys.readouterr().out.splitlines() == [
        "compiled 3 of 10 modules, about 19 s left",
        "compiled 6 of 10 modules, about 9 s left",
        "compiled 9 of 10 modules, about 2 s left",
    ]
