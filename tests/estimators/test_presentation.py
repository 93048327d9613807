"""How fitted models are shown: `plot`, and the facts and the picture below scikit-learn's diagram in notebooks."""

import base64
import copy
import io
import re
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from support.tiers import quick_only

import sklearn_subanneal
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
from sklearn_subanneal.diagnostics import Convergence

matplotlib = pytest.importorskip("matplotlib")

RNG = np.random.default_rng(0)
GROUPS = np.arange(90) % 3
X = RNG.normal(size=(90, 2)) + 9.0 * GROUPS[:, None]
COUNTS = RNG.poisson(1.0 + 5.0 * (np.arange(8) % 3 == GROUPS[:, None]))
SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 5, "random_state": 0}
# Of each estimator: how it is fitted, the display that shows it, and the first of its facts.
CASES = {
    "SubsampleAnnealedDPMM": (
        lambda: SubsampleAnnealedDPMM(**SHORT).fit(X), "ClusterSizesDisplay", "3 clusters of 90 rows, 2 columns"
    ),
    "TreeGuidedNRMM": (lambda: TreeGuidedNRMM(**SHORT).fit(X), "ClusterSizesDisplay", "3 clusters of 90 rows, 2"),
    "CrossCat": (lambda: CrossCat(**SHORT).fit(X), "DependenceDisplay", "1 view of 2 columns; 90 rows; 1 chain of 2"),
    "CrossCatClassifier": (
        lambda: CrossCatClassifier(CrossCat(**SHORT)).fit(X, GROUPS), "DependenceDisplay", "of 3 columns; 90 rows"
    ),
    "CrossCatRegressor": (
        lambda: CrossCatRegressor(CrossCat(**SHORT)).fit(X, X[:, 0]), "DependenceDisplay", "of 3 columns; 90 rows"
    ),
    "CrossCatDetector": (lambda: CrossCatDetector(CrossCat(**SHORT)).fit(X), "DependenceDisplay", "of 2 columns; 90"),
    "BayesianImputer": (
        lambda: BayesianImputer(SubsampleAnnealedDPMM(**SHORT)).fit(X), "ClusterSizesDisplay", "3 clusters of 90 rows"
    ),
    "VariationalTemperingLDA": (
        lambda: VariationalTemperingLDA(n_components=2, random_state=0).fit(COUNTS),
        "TopicsDisplay", "2 topics of 8 words",
    ),
    "VariationalTemperingFMM": (
        lambda: VariationalTemperingFMM(n_components=2, max_iter=9, random_state=0).fit(X),
        "ComponentsDisplay", "2 components of 2 features; iterations: 9",
    ),
    "TemperedGaussianProcessRegressor": (
        lambda: TemperedGaussianProcessRegressor(n_chains=2, n_draws=20, n_warmup=20, random_state=0).fit(X, X[:, 0]),
        "TraceDisplay", "2 chains of 20 draws",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def without_windows():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


# One for each display.
SOME = "SubsampleAnnealedDPMM", "CrossCat", *(name for name in CASES if name.startswith(("Variational", "Tempered")))


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {name: make() for name, (make, _, _) in CASES.items()}


def test_every_estimator_has_a_case():
    public = (getattr(sklearn_subanneal, name) for name in sklearn_subanneal.__all__)
    estimators = {one.__name__ for one in public if isinstance(one, type) and hasattr(one, "fit")}
    assert estimators == CASES.keys()


def summary(model) -> str:
    """What is added to scikit-learn's diagram."""
    return model._repr_html_().partition('<div class="subanneal-summary"')[2]


def picture(model) -> bytes:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', summary(model))
    return b"" if found is None else base64.b64decode(found[1])


@pytest.mark.parametrize("name", CASES)
def test_plot_is_the_main_display(name, fitted):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = fitted[name].plot(ax=ax)
    assert type(display).__name__ == CASES[name][1] and display.ax_ is ax
    assert fitted[name].plot().ax_ is not ax
    with pytest.raises(NotFittedError):
        sklearn.clone(fitted[name]).plot()


@pytest.mark.parametrize("name", quick_only(CASES, *SOME))
def test_notebooks_show_facts_and_a_picture(name, fitted):
    import matplotlib.pyplot as plt

    model, before = fitted[name], vars(fitted[name]).copy()
    image = picture(model)
    assert CASES[name][2] in summary(model)
    # Not one colour: something is drawn.
    assert len(np.unique(plt.imread(io.BytesIO(image))[..., 0])) > 5
    assert len(image) <= 100_000
    # Neither a window nor a figure that the notebook would show once more, nor a trace in the model.
    assert plt.get_fignums() == [] and vars(model) == before
    assert "subanneal-summary" in model._repr_mimebundle_()["text/html"]
    assert "subanneal-summary" not in sklearn.clone(model)._repr_html_()


@pytest.mark.parametrize("name", CASES)
def test_text_is_not_drawn(name, fitted):
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted[name], "_repr_html_")
        assert set(fitted[name]._repr_mimebundle_()) == {"text/plain"}


def test_components_of_images_have_their_shape(fitted):
    assert fitted["VariationalTemperingFMM"].plot().mosaic_.shape == (2, 2)
    assert fitted["VariationalTemperingFMM"].plot(shape=(1, 2), n_columns=1).mosaic_.shape == (3, 2)


def test_pictures_are_quick_and_small(fitted, monkeypatch):
    """Models of many rows, columns or words are shown in less than a second, if need be without a picture."""
    rows, columns = copy.copy(fitted["SubsampleAnnealedDPMM"]), copy.copy(fitted["CrossCat"])
    rows.labels_ = RNG.integers(50, size=1_000_000)
    # The same labels in all draws take no memory.
    rows.posterior_labels_ = np.broadcast_to(rows.labels_.astype(np.int32), (4, 10, 1_000_000))
    rows.chain_weights_ = np.full(4, 0.25)
    rows.plot()
    begun = time.process_time()
    assert "1,000,000 rows" in summary(rows) and picture(rows)
    assert time.process_time() - begun < 1.0
    columns.n_features_in_ = 5000
    assert "1 view of 5,000 columns" in summary(columns) and not picture(columns)
    monkeypatch.setattr("sklearn_subanneal.estimators._presentation.MOST_BYTES", 1000)
    assert "3 clusters" in summary(fitted["SubsampleAnnealedDPMM"]) and not picture(fitted["SubsampleAnnealedDPMM"])


def test_names_of_columns_are_neither_markup_nor_formulas():
    names = ["<script>alert(1)</script>", r"$\foo$", "\\frac{$", "新しい\n列"]
    model = CrossCat(**SHORT).fit(pd.DataFrame(RNG.normal(size=(30, 4)), columns=names))
    assert picture(model) and "<script>alert" not in model._repr_html_()
    model.plot()


def test_nothing_stands_in_the_way_of_the_diagram(fitted, monkeypatch):
    model = copy.copy(fitted["SubsampleAnnealedDPMM"])
    model.posterior_labels_ = None
    assert "3 clusters" in summary(model) and not picture(model)
    del model.log_joint_
    assert summary(model) == "" and "SubsampleAnnealedDPMM" in model._repr_html_()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "3 clusters" in summary(fitted["SubsampleAnnealedDPMM"]) and not picture(fitted["SubsampleAnnealedDPMM"])
    with pytest.raises(ImportError, match="requires matplotlib"):
        fitted["SubsampleAnnealedDPMM"].plot()


def test_convergence_is_told(fitted):
    model = copy.copy(fitted["SubsampleAnnealedDPMM"])
    log_joint, labels = RNG.normal(size=(2, 10)), np.zeros((2, 10, 30), int)
    for n_chains, said in [(1, "No sign of poor convergence, as far as one chain can show."), (2, "convergence.")]:
        model.convergence_ = Convergence.of(log_joint[:n_chains], labels[:n_chains])
        assert said in summary(model)
    model.convergence_ = replace(model.convergence_, trend=5.0, trend_p_value=0.001)
    assert "Not converged. The log joint density still rises by 5 nats" in summary(model)


def test_a_pipeline_has_its_diagram(fitted):
    assert "subanneal-summary" not in make_pipeline(fitted["SubsampleAnnealedDPMM"])._repr_html_()
