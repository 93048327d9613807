"""Displays of topics, temperatures and components show what was fitted, on the axes they were given."""

import sys

import numpy as np
import pytest
from support.topic_corpora import planted

from sklearn_subanneal import VariationalTemperingFMM, VariationalTemperingLDA
from sklearn_subanneal.plotting import ComponentsDisplay, TemperatureDisplay, TopicsDisplay
from sklearn_subanneal.variational import LinearCooling

matplotlib = pytest.importorskip("matplotlib")
NAMES = np.array([f"w{v}" for v in range(40)])


@pytest.fixture(autouse=True)
def without_windows():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def topics():
    return VariationalTemperingLDA(5, max_iter=3, random_state=0).fit(planted(100))


@pytest.fixture(scope="module")
def local():
    return VariationalTemperingLDA(2, tempering="local", max_iter=2, batch_size=50, random_state=0).fit(planted(100))


@pytest.fixture(scope="module")
def factors():
    X = np.random.default_rng(0).normal(size=(60, 6))
    return VariationalTemperingFMM(5, max_iter=8, random_state=0).fit(X)


def displays(topics, factors, ax):
    return [
        TopicsDisplay.from_estimator(topics, ax=ax),
        TemperatureDisplay.from_estimator(topics, ax=ax),
        ComponentsDisplay.from_estimator(factors, (2, 3), ax=ax),
    ]


def test_displays_draw_where_they_are_told(topics, factors):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    for display in displays(topics, factors, ax):
        assert display.ax_ is ax and display.figure_ is ax.figure
        assert display.plot(ax) is display
    for display in displays(topics, factors, None):
        assert display.ax_ is not ax and display.figure_ is display.ax_.figure
        display.figure_.canvas.draw()


def test_displays_say_what_they_need(topics, factors, monkeypatch):
    drawn = displays(topics, factors, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for display in drawn:
        with pytest.raises(ImportError, match=f"{type(display).__name__}.plot requires matplotlib"):
            display.plot()


def test_topics_are_ordered_by_size_and_words_by_probability(topics):
    display = TopicsDisplay.from_estimator(topics, n_words=7, max_topics=3, feature_names=NAMES)
    sizes = topics.components_.sum(axis=1)
    assert display.topics.tolist() == np.argsort(-sizes)[:3].tolist()
    np.testing.assert_allclose(display.shares, sizes[display.topics] / sizes.sum(), rtol=1e-6)
    for topic, words, probabilities, bars, texts in zip(
        display.topics, display.words, display.probabilities, display.bars_, display.texts_, strict=True
    ):
        expected = topics.topic_word_[topic]
        order = np.argsort(-expected)[:7]
        assert words.tolist() == NAMES[order].tolist() == [text.get_text() for text in texts]
        np.testing.assert_array_equal(probabilities, expected[order])
        lengths = np.array([bar.get_width() for bar in bars])
        np.testing.assert_allclose(lengths / lengths[0], probabilities / probabilities[0], rtol=1e-6)
    assert [text.get_text() for text in display.headers_] == [f"Topic {topic}" for topic in display.topics]
    assert [text.get_text() for text in display.sizes_] == [f"{share:.1%}" for share in display.shares]


def test_words_without_names_are_numbers(topics):
    display = TopicsDisplay.from_estimator(topics, n_words=2, color="red")
    assert {int(text.get_text()) for texts in display.texts_ for text in texts} <= set(range(40))
    assert display.bars_[0][0].get_facecolor()[:3] == (1.0, 0.0, 0.0)


def test_temperatures(topics, local):
    display = TemperatureDisplay.from_estimator(topics, linewidth=3.0)
    np.testing.assert_array_equal(display.line_.get_ydata(), topics.inverse_temperatures_)
    assert display.band_ is None and display.line_.get_linewidth() == 3.0
    other = TemperatureDisplay.from_estimator(local, ax=display.ax_, name="each its own")
    np.testing.assert_array_equal(other.line_.get_ydata(), local.inverse_temperatures_[:, 1])
    corners = other.band_.get_paths()[0].vertices[:, 1]
    assert (
        corners.min() == local.inverse_temperatures_[:, 0].min()
        and corners.max() == local.inverse_temperatures_[:, 2].max()
    )
    assert other.line_.get_color() != display.line_.get_color()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["annealed", "each its own"]


def test_temperatures_of_a_schedule():
    display = TemperatureDisplay.from_schedule(LinearCooling(start=4.0, share=0.5), n_points=5)
    np.testing.assert_array_equal(display.line_.get_xdata(), [0.0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(display.line_.get_ydata(), [0.25, 0.4, 1.0, 1.0, 1.0])
    assert display.ax_.get_xlabel() == "progress"
    assert display.ax_.get_legend().get_texts()[0].get_text() == "LinearCooling"
    with pytest.raises(ValueError, match="n_points must be at least 2, got 1"):
        TemperatureDisplay.from_schedule(LinearCooling(), n_points=1)
    with pytest.raises(ValueError, match="start must be"):
        TemperatureDisplay.from_schedule(LinearCooling(start=0.5))


def test_components_are_images(factors):
    display = ComponentsDisplay.from_estimator(factors, (2, 3), n_columns=2, cmap="gray")
    assert display.mosaic_.shape == (8, 7)
    for number, component in enumerate(factors.components_):
        top, left = 3 * (number // 2), 4 * (number % 2)
        np.testing.assert_array_equal(display.mosaic_[top : top + 2, left : left + 3], component.reshape(2, 3))
    assert np.isfinite(display.mosaic_).sum() == 5 * 6
    assert display.image_.get_cmap().name == "gray"
    assert display.image_.norm.vmax == -display.image_.norm.vmin == np.abs(factors.components_).max()
    assert ComponentsDisplay.from_estimator(factors, (6, 1), n_columns=9).mosaic_.shape == (6, 9)


def test_errors_name_the_parameter(topics, factors):
    cases = [
        (lambda: TopicsDisplay.from_estimator(VariationalTemperingLDA()), "must have topic_word_, .*fit it first"),
        (lambda: TopicsDisplay.from_estimator(topics, feature_names=["a"]), r"feature_names must have shape \(40,\)"),
        (
            lambda: TemperatureDisplay.from_estimator(VariationalTemperingFMM()),
            "must have inverse_temperatures_.*fit it first",
        ),
        (lambda: ComponentsDisplay.from_estimator(VariationalTemperingFMM(), (1, 1)), "components_.*fit it first"),
        (lambda: ComponentsDisplay.from_estimator(factors, (2, 2)), r"number of features, 6, got \(2, 2\)"),
        (lambda: ComponentsDisplay.from_estimator(factors, (2, 3), n_columns=0), "n_columns must be at least 1, got 0"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
