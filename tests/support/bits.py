"""Fits of every estimator on small tables, and digests of what they found, for comparisons between environments.

As a program, ``bits.py N_JOBS BACKEND [NAME ...]`` prints a JSON object: for each estimator, or those named, the
digests of its draws and of its predictions. ``bits.py table`` prints the table of the documentation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from joblib import parallel_config
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor,
    TreeGuidedNRMM,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
)
from sklearn_subanneal.tempering import GaussianMean, ParallelTempering, sample


def digest(*values) -> str:
    total = sha256()
    for value in values:
        array = np.asarray(value)
        total.update(repr(array.shape).encode())
        total.update(np.ascontiguousarray(array).tobytes() if array.dtype != object else repr(array.tolist()).encode())
    return total.hexdigest()[:16]


def table(n_rows: int = 200) -> np.ndarray:
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n_rows)
    X = 3.0 * rng.normal(size=(3, 5))[group] + rng.normal(size=(n_rows, 5))
    X[:, 4] = group + rng.integers(2, size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def of_chains(estimator, n_jobs):
    X, new = table(), table(260)[200:]
    model = estimator.set_params(n_chains=2, n_jobs=n_jobs, random_state=0).fit(X)
    return digest(model.posterior_labels_, model.log_joint_, model.labels_), digest(
        model.score_samples(new), model.impute(new), model.predict(new)
    )


def crosscat(n_jobs):
    return of_chains(CrossCat(n_draws=5), n_jobs)


def mixture(covariance):
    def fitted(n_jobs):
        return of_chains(SubsampleAnnealedDPMM(covariance_type=covariance, n_draws=5), n_jobs)

    return fitted


def nrmm(n_jobs):
    X, new = table()[:, :4], table(260)[200:, :4]
    X, new = X[~np.isnan(X).any(axis=1)], new[~np.isnan(new).any(axis=1)]
    model = TreeGuidedNRMM(n_chains=2, n_draws=5, n_jobs=n_jobs, random_state=0).fit(X)
    return digest(model.posterior_labels_, model.log_joint_), digest(model.score_samples(new), model.predict(new))


def supervised(kind):
    def fitted(n_jobs):
        X, new = table(), table(260)[200:, :4]
        known = ~np.isnan(X[:, 4])
        inner = CrossCat(n_chains=2, n_draws=5, n_jobs=n_jobs)
        model = kind(inner, random_state=0).fit(X[known, :4], X[known, 4])
        extra = model.predict_proba(new) if kind is CrossCatClassifier else model.predict_interval(new)
        return digest(model.crosscat_.posterior_labels_), digest(model.chain_weights_, model.predict(new), extra)

    return fitted


def detector(n_jobs):
    X, new = table(), table(260)[200:]
    inner = CrossCat(n_chains=2, n_draws=5, n_jobs=n_jobs)
    model = CrossCatDetector(inner, random_state=0).fit(X)
    return digest(model.crosscat_.posterior_labels_), digest(model.training_scores_, model.score_samples(new))


def imputer(n_jobs):
    X = table()
    model = BayesianImputer(CrossCat(n_chains=2, n_draws=5, n_jobs=n_jobs), n_imputations=2, random_state=0).fit(X)
    return digest(model.estimator_.posterior_labels_), digest(model.transform(X), *model.sample_imputations(X))


def topics(n_jobs):
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.full(60, 0.1), size=4)
    counts = np.array([rng.multinomial(40, rng.dirichlet(np.full(4, 0.3)) @ true) for _ in range(150)])
    model = VariationalTemperingLDA(4, n_jobs=n_jobs, random_state=0).fit(counts[:120])
    return digest(model.components_), digest(model.transform(counts[120:]))


def factorial(n_jobs):
    rng = np.random.default_rng(0)
    components = rng.normal(size=(4, 10))
    X = (rng.random((300, 4)) < 0.4) @ components + 0.1 * rng.normal(size=(300, 10))
    model = VariationalTemperingFMM(4, random_state=0).fit(X[:250])
    return digest(model.components_), digest(model.transform(X[250:]))


def gaussian_process(n_jobs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=60)
    model = TemperedGaussianProcessRegressor(n_chains=2, n_draws=30, n_warmup=30, n_jobs=n_jobs, random_state=0)
    model.fit(X[:45], y[:45])
    return digest(model.result_.draws), digest(model.predict(X[45:]))


def tempering(n_jobs):
    model = GaussianMean(np.random.default_rng(0).normal(size=(40, 3)), np.eye(3) + 0.3)
    result = ParallelTempering().sample(model, 60, n_chains=2, random_state=0, n_jobs=n_jobs)
    return digest(result.draws), digest(result.log_density)


def any_density(n_jobs):
    few = {"reference": (0.0, 5.0), "n_parameters": 3, "n_chains": 4, "n_draws": 30, "n_warmup": 31}
    result = sample(lambda x: -0.5 * float(np.sum((x - 1.0) ** 2)), **few, random_state=0, n_jobs=n_jobs)
    return digest(result.draws), digest(result.log_density, result.log_evidence)


ESTIMATORS = {
    "CrossCat": crosscat,
    "CrossCatClassifier": supervised(CrossCatClassifier),
    "CrossCatRegressor": supervised(CrossCatRegressor),
    "CrossCatDetector": detector,
    "BayesianImputer": imputer,
    "SubsampleAnnealedDPMM, diag": mixture("diag"),
    "SubsampleAnnealedDPMM, full": mixture("full"),
    "TreeGuidedNRMM": nrmm,
    "VariationalTemperingLDA": topics,
    "VariationalTemperingFMM": factorial,
    "TemperedGaussianProcessRegressor": gaussian_process,
    "tempering.ParallelTempering": tempering,
    "tempering.sample": any_density,
}


# What is changed, and the variables and arguments that change it.
CHANGES: dict[str, tuple[dict, tuple[str, ...]]] = {
    "`n_jobs`": ({}, ("2", "threading")),
    "processes (loky)": ({}, ("2", "loky")),
    "hash seed": ({"PYTHONHASHSEED": "3"}, ()),
    "threads of BLAS": ({"OPENBLAS_NUM_THREADS": "2"}, ()),
    "kernels of BLAS": ({"OPENBLAS_CORETYPE": "Haswell"}, ()),
    "vector units of NumPy": ({"NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3 AVX512_ICL AVX512_SPR"}, ()),
    "vector units of the package": ({}, ()),
}
BASELINE = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Prescott", "PYTHONHASHSEED": "0"}


def digests(environment: dict | None = None, arguments: tuple[str, ...] = (), root: Path | None = None) -> dict:
    """What this program prints in another environment; ``root`` is the folder of another build of the package."""
    paths = [str(Path(__file__).parents[1])] if root is None else [str(root), str(Path(__file__).parents[1])]
    known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    variables = os.environ | BASELINE | (environment or {}) | {"PYTHONPATH": os.pathsep.join([*paths, *known])}
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=variables, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def baseline_build(folder: Path) -> Path:
    """The package compiled in a folder for the baseline of the architecture, without any vector units beyond it."""
    source = Path(__file__).parents[2]
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(source / name, folder)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(source / "sklearn_subanneal", folder / "sklearn_subanneal", ignore=ignored)
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "-j2"],
        cwd=folder,
        env=os.environ | {"CFLAGS": "-DSUBANNEAL_BASELINE"},
        check=True,
        capture_output=True,
    )
    return folder


def compared(before: list[str], after: list[str]) -> str:
    return "all" if before == after else "draws" if before[0] == after[0] else "-"


def table_lines() -> list[str]:
    """The table of the documentation: what stays the same, bit for bit, for each estimator and change."""
    before, columns = digests(), []
    with TemporaryDirectory() as folder:
        for change, (environment, arguments) in CHANGES.items():
            root = baseline_build(Path(folder)) if change == "vector units of the package" else None
            after = digests(environment, arguments, root)
            columns.append([compared(before[name], after[name]) for name in before])
    heads = ["", *CHANGES]
    rows = [[f"`{name}`".replace(", ", "`, "), *cells] for name, *cells in zip(before, *columns, strict=True)]
    rows = [[row[0] if row[0].count("`") % 2 == 0 else row[0][:-1], *row[1:]] for row in rows]
    return [f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *rows)]


def main(n_jobs: str = "1", backend: str = "threading", *names: str) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    with parallel_config(backend=backend):
        json.dump({name: ESTIMATORS[name](int(n_jobs)) for name in names or ESTIMATORS}, sys.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        print("\n".join(table_lines()))
    else:
        main(*sys.argv[1:])
