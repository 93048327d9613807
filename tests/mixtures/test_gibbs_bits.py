"""The same bits on every level of the instruction set: vectorised clones are there, and change nothing."""

from __future__ import annotations

import importlib
import os
import pkgutil
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_subanneal

ROOT = Path(__file__).resolve().parents[2]

# A chain over every kind of column with all hyperparameters learned, and everything that it computed, in hexadecimal.
CHAIN = """
import hashlib
import numpy as np
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.columns.binding import bind_columns
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import PitmanYor

n_rows, rng = 400, np.random.default_rng(0)
group = rng.integers(12, size=n_rows)
reals = [group + rng.standard_normal(n_rows), np.where(rng.random(n_rows) < 0.1, np.nan, rng.standard_normal(n_rows))]
codes = np.where(rng.random(n_rows) < 0.1, -1, group % 5).astype(np.int8)
flags, counts = (rng.random(n_rows) < 0.3).astype(np.int8), rng.poisson(3.0 * (group + 1)).astype(np.int32)
digest = hashlib.sha256()
for covariance_type in ("diag", "full"):
    arrays = [*reals, codes, flags, counts]
    kinds = ["real", "real", "categorical", "boolean", "count"]
    # Narrow clusters at the start, of which few steps leave some.
    narrow = {"a": {"sigma2": 0.65}, "b": {"sigma2": 0.05}} if covariance_type == "diag" else None
    given = {"covariance_type": covariance_type, "feature_params": narrow}
    models = bind_columns(list("abcde"), kinds, [0, 0, 5, 2, 0], arrays, **given)
    columns = [model.statistics(model.data(arrays)) for model in models]
    mixture = Mixture(columns, PitmanYor().bind(), n_rows)
    window = Window([0, n_rows], [1.0], False)
    for size in (20, 200, 400, 400, 300, 400, 400):
        churn(mixture, *window.plan(size, 1200, rng), 1.0, rng)
        # With few rows, learned hyperparameters may fit a single cluster, which is no test.
        if size >= 200:
            mixture.learn(rng)
        digest.update(mixture.labels.tobytes())
        digest.update(np.float64(mixture.log_joint()).tobytes())
        digest.update(repr([column.parameters for column in columns]).encode())
    assert mixture.n_clusters > 4
    for column in columns:
        scores = [column.scores(row, mixture.n_clusters) for row in range(n_rows)]
        digest.update(np.array(scores).tobytes())
        values = np.full((5, column.width), np.nan)
        column.draws(np.zeros(5, np.int32), values, rng)
        digest.update(values.tobytes())
        digest.update(column.log_densities(values, mixture.n_clusters).tobytes())
# So many clusters of so many reals that most are left out by bounds of their weights.
group = rng.integers(30, size=2 * n_rows)
reals = list((5.0 * rng.standard_normal((30, 7))[group] + rng.standard_normal((2 * n_rows, 7))).T)
reals[0][::9] = np.nan
for covariance_type in ("diag", "full"):
    # A block of reals with missing cells is scored without bounds.
    arrays = reals[covariance_type == "full" :]
    kinds = ["real"] * len(arrays)
    names, levels = list("abcdefg")[: len(arrays)], [0] * len(arrays)
    models = bind_columns(names, kinds, levels, arrays, covariance_type=covariance_type)
    mixture = Mixture([model.statistics(model.data(arrays)) for model in models], PitmanYor().bind(), 2 * n_rows)
    mixture.set_labels(group, rng)
    rows = np.arange(2 * n_rows, dtype=np.int32)
    for _ in range(4):
        churn(mixture, rows, rows, 1.0, rng)
        churn(mixture, rows[:n_rows], np.full(n_rows, -1, np.int32), 1.0, rng)
        churn(mixture, np.full(n_rows, -1, np.int32), rows[:n_rows], 1.0, rng)
        mixture.learn(rng)
    assert mixture.n_clusters > 20
    digest.update(mixture.labels.tobytes())
    digest.update(np.float64(mixture.log_joint()).tobytes())
print(digest.hexdigest())
"""


def extension_path(module):
    """The compiled file of a module that pkgutil found; None if it is no extension."""
    origin = module.module_finder.find_spec(module.name).origin
    return Path(origin) if origin and not origin.endswith(".py") else None


def extension(name, package):
    """The compiled file of a module, in the package imported here or in a tree of one's own."""
    if package is None:
        return Path(importlib.import_module(name).__file__)
    return next((package / name.replace(".", "/")).parent.glob(f"{name.split('.')[-1]}.*.so"))


def disassembled(path):
    """Assembly of each function of a shared object."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True)
    functions = re.split(r"^[0-9a-f]+ <(.+)>:$", listing.stdout, flags=re.MULTILINE)
    return dict(zip(functions[1::2], functions[2::2], strict=True))


def clones(module, package=None):
    """{name of a kernel: {level: assembly}} of all functions that were compiled more than once."""
    found, path = {}, extension(module, package)
    # To take apart all modules takes seconds, and few have kernels of several levels.
    if b"arch_x86_64_v" not in path.read_bytes():
        return found
    for name, assembly in disassembled(path).items():
        if match := re.fullmatch(r"(.+?)\.(default|arch_x86_64_v[34])(?:\.\d+)?", name):
            found.setdefault(match[1], {})[match[2]] = assembly
    return found


multiversioned = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc" or shutil.which("objdump") is None,
    reason="needs x86-64, glibc and objdump",
)

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(sklearn_subanneal.__path__, "sklearn_subanneal.")
    if extension_path(module) is not None
)


def packed(assembly, register):
    """Packed floating-point arithmetic in these registers, loads and stores apart."""
    return re.findall(rf"\bv(?:add|sub|mul|max|div|cmp\w*)p[sd]\b.*%{register}", assembly)


@multiversioned
def test_kernels_are_vectorised_at_every_level():
    found = {name: levels for module in MODULES for name, levels in clones(module).items()}
    if not found:
        pytest.skip("this build was not multiversioned (compiler other than GCC >= 12)")
    for needed in (
        "add_student_t",
        "add_difference",
        "add_negative_binomial",
        "add_multivariate_t",
        "exponentiate",
        "multiply_four_factors",
        "update_student_t",
        "bound_weights",
    ):
        assert any(name.endswith(needed) for name in found), f"{needed} is not multiversioned"
    for name, levels in found.items():
        assert levels.keys() == {"default", "arch_x86_64_v3", "arch_x86_64_v4"}
        assert not re.search(r"%[yz]mm", levels["default"])
        assert packed(levels["arch_x86_64_v3"], "ymm"), f"{name} is not vectorised"


@multiversioned
@pytest.mark.parametrize("module", MODULES)
def test_no_multiplication_is_fused_with_an_addition(module):
    for name, assembly in disassembled(extension(module, None)).items():
        assert not re.search(r"\bvfn?m(?:add|sub)", assembly), name


def chain_digest(package):
    environment = {**os.environ, "PYTHONPATH": str(package)} if package else dict(os.environ)
    code = "import sys; sys.path[:] = [p for p in sys.path if p]\n" + CHAIN
    if package is None:
        # The package as it is imported here, installed or in place.
        here = Path(sklearn_subanneal.__file__).parents[1]
        environment["PYTHONPATH"] = str(here)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_a_chain_repeats_itself():
    assert chain_digest(None) == chain_digest(None)


@pytest.mark.slow
@multiversioned
def test_a_chain_has_the_same_bits_on_the_baseline(tmp_path):
    pytest.importorskip("Cython")
    if not (ROOT / "setup.py").exists() or not clones("sklearn_subanneal.columns._normal"):
        pytest.skip("needs the source tree and a multiversioned build")
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this machine runs the default clones anyway")
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "sklearn_subanneal", tmp_path / "sklearn_subanneal", ignore=ignored)
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=tmp_path,
        env={**os.environ, "CFLAGS": "-DSUBANNEAL_BASELINE"},
        check=True,
        capture_output=True,
    )
    for module in MODULES:
        assert not clones(module, tmp_path)
        assert not any(re.search(r"%[yz]mm", code) for code in disassembled(extension(module, tmp_path)).values())
    assert chain_digest(tmp_path) == chain_digest(None)
