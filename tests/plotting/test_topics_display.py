"""TopicsDisplay: cells of words, sizes and prevalence show the numbers they stand for, and what is written fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from support.tiers import quick_only
from support.topic_corpora import planted

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.plotting import TopicsDisplay
from sklearn_subanneal.topics import relevance, topic_prevalence

matplotlib = pytest.importorskip("matplotlib")
X = planted(200)
NAMES = np.array([f"w{v}" for v in range(40)])
LABELS = np.array(["red", "green", "blue", "blue"] * 50)
DATES = np.datetime64("2019-01-05") + 5 * np.arange(200)
GROUPS = {"words": None, "labels": LABELS, "dates": DATES}


@pytest.fixture(autouse=True)
def without_windows():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return VariationalTemperingLDA(5, max_iter=4, random_state=0).fit(X)


def written(text):
    return text.get_text()


def boxes(display):
    """Boxes, in pixels, of all texts of a display, by what is written."""
    display.figure_.canvas.draw()
    texts = [*display.ax_.texts, *(text for axes in display.prevalence_axes_ for text in axes.texts)]
    return [text.get_window_extent() for text in texts if written(text)]


def test_sizes_are_those_of_the_documents(model):
    display = TopicsDisplay.from_estimator(model, X, max_topics=None)
    theta, lengths = model.transform(X), np.asarray(X.sum(axis=1)).ravel()
    shares = np.array([sum(lengths * theta[:, topic]) / sum(lengths) for topic in range(5)])
    assert display.topics.tolist() == np.argsort(-shares).tolist()
    np.testing.assert_allclose(display.shares, shares[display.topics], rtol=1e-5)
    np.testing.assert_allclose(display.n_documents, theta.sum(axis=0)[display.topics], rtol=1e-5)
    for topic, header, size in zip(display.topics, display.headers_, display.sizes_, strict=True):
        assert written(header) == f"Topic {topic}"
        assert written(size) == f"{shares[topic]:.1%} · {theta[:, topic].sum():,.0f} docs"


def test_words_by_relevance_have_bars_of_their_probabilities(model):
    display = TopicsDisplay.from_estimator(model, X, n_words=40, relevance_weight=0.2, feature_names=NAMES)
    theta, lengths = model.transform(X), np.asarray(X.sum(axis=1)).ravel()
    ranked = np.argsort(-relevance(model.topic_word_, 0.2, shares=lengths @ theta), axis=1)
    for topic, words, bars in zip(display.topics, display.words, display.bars_, strict=True):
        assert words.tolist() == NAMES[ranked[topic]].tolist()
        expected = model.topic_word_[topic, ranked[topic]]
        lengths = np.array([bar.get_width() for bar in bars])
        np.testing.assert_allclose(lengths / lengths.max(), expected / expected.max(), rtol=1e-6)
    assert any(np.diff(probabilities).max() > 0 for probabilities in display.probabilities)


def test_prevalence_over_time_is_a_curve_with_its_errors(model):
    dates = DATES.copy()
    # A document alone in its quarter, after one without documents.
    dates[-1] = np.datetime64("2022-06-01")
    display = TopicsDisplay.from_estimator(model, X, max_topics=3, groups=dates, period="quarter")
    expected = topic_prevalence(model.transform(X), dates, period="quarter")
    assert len(display.prevalence_axes_) == 3
    several = expected.n_documents > 1
    assert 0 < (~several).sum() == (expected.n_documents == 0).sum() + 1
    for topic, axes in zip(display.topics, display.prevalence_axes_, strict=True):
        [line] = [line for line in axes.lines if len(line.get_xdata()) > 2]
        assert line.get_xdata().tolist() == expected.groups.tolist()
        means = np.where(several, expected.means[:, topic], np.nan)
        np.testing.assert_allclose(line.get_ydata(), means, rtol=1e-5)
        edges = np.concatenate([path.vertices for path in axes.collections[0].get_paths()])[:, 1]
        upper = (means + expected.standard_errors[:, topic])[several]
        assert edges.max() == pytest.approx(upper.max(), rel=1e-5)
        assert axes.get_ylim()[0] == 0.0 and axes.get_ylim()[1] > upper.max()
        assert [written(label) for label in axes.get_xticklabels()] == ["2019 Q1", "2022 Q2"]


def test_prevalence_in_groups_is_points_with_their_errors(model):
    display = TopicsDisplay.from_estimator(model, X, max_topics=2, groups=LABELS)
    expected = topic_prevalence(model.transform(X), LABELS)
    for topic, axes in zip(display.topics, display.prevalence_axes_, strict=True):
        means, errors = expected.means[:, topic], expected.standard_errors[:, topic]
        lengths = np.array([bar.get_width() for bar in axes.patches])
        np.testing.assert_allclose(lengths / lengths.max(), means / means.max(), rtol=1e-5)
        [points] = [line for line in axes.lines if line.get_marker() == "."]
        np.testing.assert_allclose(points.get_xdata() - axes.patches[0].get_x(), lengths, rtol=1e-5)
        ends = np.array(axes.collections[0].get_segments())[:, :, 0]
        np.testing.assert_allclose(np.diff(ends)[:, 0] / lengths, 2 * errors / means, rtol=1e-4)
        assert [written(text) for text in axes.texts if "%" not in written(text)] == ["blue", "green", "red"]


@pytest.mark.parametrize(
    ("n_topics", "kind"),
    quick_only(
        itertools.product([1, 5, 20, 50], GROUPS),
        *itertools.product([1, 5], GROUPS),
        (20, "dates"),
    ),
)
def test_cells_do_not_overlap(n_topics, kind):
    groups = GROUPS[kind]
    rng = np.random.default_rng(0)
    names = [f"{'very' * rng.integers(8)}long{word}" for word in range(40)]
    display = TopicsDisplay.from_arrays(
        rng.dirichlet(np.full(40, 0.5), n_topics),
        rng.dirichlet(np.full(n_topics, 0.5), 200),
        n_words=5,
        max_topics=None,
        feature_names=names,
        groups=groups,
    )
    assert len(display.headers_) == n_topics
    found = boxes(display)
    assert len(found) >= n_topics * (2 + 2 * 5)
    figure = display.figure_.bbox
    assert all(figure.x0 <= box.x0 and box.x1 <= figure.x1 + 1 for box in found)
    assert all(figure.y0 <= box.y0 and box.y1 <= figure.y1 + 1 for box in found)
    corners = np.array([[box.x0, box.y0, box.x1, box.y1] for box in found])
    # Boxes may touch by a pixel; their heights are those of the tallest letters.
    together = np.minimum(corners[:, None, 2:], corners[None, :, 2:]) - np.maximum(corners[:, None, :2], corners[:, :2])
    overlap = np.triu((together > 1.5).all(axis=2), 1)
    assert not overlap.any()
    note = display.ax_.xaxis.label.get_window_extent()
    assert figure.x0 <= note.x0 and note.x1 <= figure.x1 and figure.y0 <= note.y0


def test_long_words_are_cut_and_dollars_are_no_formulas():
    names = ["$a_1$", "$", "a" * 200, "short"]
    display = TopicsDisplay.from_arrays([[0.4, 0.3, 0.2, 0.1]], feature_names=names)
    shown = [written(text) for text in display.texts_[0]]
    assert shown[:2] + shown[3:] == names[:2] + names[3:]
    assert shown[2].startswith("aaaa") and shown[2].endswith("a…") and len(shown[2]) < 60
    assert display.words[0, 2] == "a" * 200
    display.figure_.canvas.draw()


def test_topics_of_arrays():
    weights, lengths = np.array([[3.0, 1.0], [1.0, 1.0]]), [10, 30]
    display = TopicsDisplay.from_arrays(weights, [[1.0, 1.0], [0.0, 5.0]], lengths=lengths)
    assert display.topics.tolist() == [1, 0]
    np.testing.assert_allclose(display.shares, [35 / 40, 5 / 40])
    np.testing.assert_allclose(display.n_documents, [1.5, 0.5])
    np.testing.assert_allclose(display.probabilities, [[0.5, 0.5], [0.75, 0.25]])
    equal = TopicsDisplay.from_arrays(weights, [[1.0, 1.0], [0.0, 5.0]])
    np.testing.assert_allclose(equal.shares, [0.75, 0.25])
    alone = TopicsDisplay.from_arrays(weights)
    assert alone.topics.tolist() == [0, 1] and alone.shares is None and alone.n_documents is None
    assert [written(size) for size in alone.sizes_] == ["", ""]


def test_a_pipeline_takes_texts():
    texts = ["cat dog dog", "bond stock bond"] * 20
    pipeline = make_pipeline(CountVectorizer(), VariationalTemperingLDA(2, random_state=0)).fit(texts)
    display = TopicsDisplay.from_estimator(pipeline, texts, n_words=1, groups=["a", "b"] * 20)
    assert sorted(display.words[:, 0]) == ["bond", "dog"]
    np.testing.assert_allclose(display.n_documents, 20, atol=1)


def test_cells_fill_the_axes_they_are_given(model):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(14, 9))
    for ax in axes:
        size = ax.get_window_extent().bounds
        display = TopicsDisplay.from_estimator(model, X, n_words=5, groups=LABELS, n_columns=2, ax=ax)
        assert display.ax_ is ax and ax.get_window_extent().bounds == size
        assert all(panel.figure is figure for panel in display.prevalence_axes_)
        area = ax.get_window_extent()
        assert all(area.x0 - 1 <= box.x0 and box.x1 <= area.x1 + 1 for box in boxes(display))
    assert tuple(figure.get_size_inches()) == (14, 9)


def test_note_says_what_is_shown(model):
    def note(**parameters):
        return " ".join(TopicsDisplay.from_estimator(model, **parameters).ax_.get_xlabel().split())

    assert note() == "Above each line: share of the tokens. Beside each word: its probability in the topic."
    assert note(max_topics=2).startswith("The 2 largest of 5 topics. ")
    assert "share of the tokens, expected number of documents." in note(X=X)
    assert note(X=X, groups=DATES, period="year").endswith("documents of each year, ± its standard error.")
    assert note(X=X, groups=LABELS).endswith("documents of each group, ± its standard error.")


def test_wrong_arguments_of_topics(model):
    missing = DATES.copy()
    missing[3] = np.datetime64("NaT")
    cases = [
        ({"groups": LABELS}, "groups are those of documents: pass X"),
        ({"X": X, "groups": np.full(200, "all")}, "groups must be at least two, but all 200 documents are in 'all'"),
        ({"X": X, "groups": missing}, "groups must not be missing, 1 of 200 are, the first of document 3"),
        ({"X": X, "groups": LABELS[:9]}, "label or date for each of 200 documents, got 9"),
        ({"X": X, "groups": np.arange(200) * 1.5}, "200 documents have 200 distinct values"),
        ({"X": X[:1], "groups": ["a"]}, "all 1 documents are in 'a'"),
        ({"X": X, "groups": np.arange(200).astype(str).astype("U1")[::-1], "period": "year"}, "period must be None"),
        ({"X": X, "groups": [f"g{i % 21}" for i in range(200)]}, "at most 20 labels, got 21; merge the rare ones"),
        ({"X": X, "period": "year"}, "period='year' needs groups"),
        ({"max_topics": 0}, "max_topics must be at least 1, or None for all, got 0"),
        ({"n_words": 0}, "n_words must be an integer of at least 1, got 0"),
        ({"n_columns": 0}, "n_columns must be at least 1, got 0"),
        ({"relevance_weight": -1}, "must be from 0 to 1, got -1"),
    ]
    for parameters, message in cases:
        with pytest.raises(ValueError, match=message):
            TopicsDisplay.from_estimator(model, **parameters)
    arrays = [
        (([[0.5, -0.1]],), {}, "probabilities must be weights, .* row 0 is not"),
        (([[0.5, 0.5], [0.0, 0.0]],), {}, "row 1 is not"),
        (([[0.5, 0.5]], [[1.0, 2.0]]), {}, "proportions must have a column for each of 1 topics, got 2"),
        (([[0.5, 0.5]], [[1.0]]), {"lengths": [1, 2]}, r"lengths must have shape \(1,\), one for each document"),
        (([[0.5, 0.5]],), {"groups": ["a"]}, "pass proportions"),
    ]
    for given, parameters, message in arrays:
        with pytest.raises(ValueError, match=message):
            TopicsDisplay.from_arrays(*given, **parameters)
