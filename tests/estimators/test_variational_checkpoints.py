"""Interrupted fits of topic models and factorial mixtures resume from checkpoints, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sklearn_subanneal import Checkpoint, VariationalTemperingFMM, VariationalTemperingLDA
from sklearn_subanneal.topics.topic_number import NumberSearch
from sklearn_subanneal.variational import LinearCooling


def topics():
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(60, 0.1), 5)
    shares = rng.dirichlet(np.full(5, 0.3), 150)
    return sparse.csr_matrix([rng.multinomial(50, share @ words) for share in shares])


def components():
    rng = np.random.default_rng(0)
    return (rng.random((200, 4)) < 0.4) @ rng.normal(size=(4, 8)) + 0.3 * rng.normal(size=(200, 8))


COUNTS, ROWS = topics(), components()
FITTED = {
    VariationalTemperingLDA: ("components_", "inverse_temperatures_", "bound_", "doc_topic_prior_", "n_iter_"),
    VariationalTemperingFMM: ("components_", "inverse_temperatures_", "bound_", "bounds_", "n_iter_"),
}


class Killed(BaseException):
    """What a fit can do as little against as against SIGKILL."""


class Killer:
    """A callback that ends a fit before its pass of this number, counted from 1, is saved; it counts the passes."""

    def __init__(self, last=None):
        self.last, self.n_passes = last, 0

    def setup(self, estimator, context):
        pass

    on_fit_task_begin = teardown = setup

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata and "trace" in metadata:
            self.n_passes += 1
            if self.n_passes == self.last:
                raise Killed


class Halfway(LinearCooling):
    """A class that files do not know."""


def make(estimator, **params):
    few = {"n_components": 5, "random_state": 1}
    return estimator(**few | params)


def data(model):
    return ROWS if isinstance(model, VariationalTemperingFMM) else COUNTS


def resumed(folder, model, *others):
    return model.set_callbacks(Checkpoint(folder, 0.0), *others).fit(data(model))


def interrupt(folder, model, last):
    with pytest.raises(Killed):
        resumed(folder, model, Killer(last))
    assert not hasattr(model, "components_") or not hasattr(model, "n_iter_")


def assert_same(one, two):
    for name in FITTED[type(two)]:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.transform(data(two)), two.transform(data(two)))
    assert one.converged_ == two.converged_


LDA, FMM = VariationalTemperingLDA, VariationalTemperingFMM
# Passes until an interrupt. Those of a factorial mixture since its last search or proposal are made again, at most 50.
WAYS = {
    "topics": (LDA, {}, 3),
    "topics, of which some are removed": (LDA, {"n_components": 7}, 4),
    "topics, one temperature": (LDA, {"tempering": "global"}, 5),
    "topics, local temperatures": (LDA, {"tempering": "local", "max_iter": 8}, 3),
    "topics in batches": (LDA, {"learning_method": "batch", "max_iter": 30}, 7),
    "topics until they settle": (LDA, {"evaluate_every": 1, "perp_tol": 0.5, "doc_topic_prior": "learn"}, 3),
    "topics, a schedule of one's own": (LDA, {"temperature_schedule": Halfway(2.0, 0.5), "max_iter": 6}, 3),
    "components": (FMM, {}, 53),
    "components, starts": (FMM, {"n_init": 3, "init": "random", "max_iter": 12}, 5),
    "components in minibatches": (FMM, {"batch_size": 64, "component_update": "cyclic"}, 53),
    "components, one temperature": (FMM, {"tempering": "global", "init": "random", "batch_size": 50}, 31),
    "components, a schedule of one's own": (FMM, {"temperature_schedule": Halfway(2.0, 0.5), "max_iter": 80}, 53),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "params", "step"),
    [
        pytest.param(*way, id=name, marks=pytest.mark.slow if "one temperature" in name else ())
        for name, way in WAYS.items()
    ],
)
def test_interrupted_again_and_again(estimator, params, step, tmp_path):
    counter = Killer()
    whole = make(estimator, **params).set_callbacks(counter)
    whole.fit(data(whole))
    n_passes, n_interrupts = 0, 0
    while True:
        killer, model = Killer(step), make(estimator, **params)
        try:
            resumed(tmp_path, model, killer)
            break
        except Killed:
            n_interrupts += 1
        finally:
            n_passes += killer.n_passes
        assert n_interrupts < 20
    assert_same(model, whole)
    assert n_interrupts > 0
    # No fit started anew, and of a topic model only the passes that were not saved are made again.
    assert killer.n_passes < step
    assert estimator is FMM or n_passes - n_interrupts == counter.n_passes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "params", "step"), WAYS.values(), ids=WAYS)
def test_interrupted_at_many_passes(estimator, params, step, tmp_path):
    counter = Killer()
    whole = make(estimator, **params).set_callbacks(counter)
    whole.fit(data(whole))
    for last in range(1, counter.n_passes + 1, 1 if estimator is LDA else 7):
        interrupt(tmp_path / str(last), make(estimator, **params), last)
        assert_same(resumed(tmp_path / str(last), make(estimator, **params)), whole)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_interrupted_while_the_number_of_topics_is_learned(tmp_path, monkeypatch):
    params = {"n_components": "learn", "max_components": 20, "max_iter": 4}
    whole = make(LDA, **params).fit(COUNTS)
    right, fits = NumberSearch._next_limit, []

    def killed_before_the_second(self):
        fits.append(self._n_fits)
        if self._n_fits == 1:
            raise Killed
        return right(self)

    monkeypatch.setattr(NumberSearch, "_next_limit", killed_before_the_second)
    with pytest.raises(Killed):
        resumed(tmp_path, make(LDA, **params))
    assert fits == [0, 1]
    monkeypatch.setattr(NumberSearch, "_next_limit", lambda self: (fits.append(self._n_fits), right(self))[1])
    interrupt(tmp_path, make(LDA, **params), 3)
    assert fits == [0, 1, 1, 2]
    model = resumed(tmp_path, make(LDA, **params))
    # It is known now.
    assert fits == [0, 1, 1, 2]
    assert_same(model, whole)
    assert model.n_components_ == whole.n_components_


def test_without_a_seed_the_same_words_stay_held_out(tmp_path, monkeypatch):
    params = {"n_components": "learn", "max_components": 20, "max_iter": 4, "random_state": None}
    right, searches = NumberSearch._next_limit, []

    def killed_before_the_second(self):
        searches.append(self)
        if self._n_fits == 1:
            raise Killed
        return right(self)

    monkeypatch.setattr(NumberSearch, "_next_limit", killed_before_the_second)
    for _ in range(2):
        with pytest.raises(Killed):
            resumed(tmp_path, make(LDA, **params))
    held_out = [[part.toarray() for part in own._held_out] for own in (searches[0], searches[-1])]
    assert searches[0] is not searches[-1]
    np.testing.assert_array_equal(*held_out)


@pytest.mark.parametrize("estimator", FITTED)
def test_a_complete_fit_is_loaded(estimator, tmp_path):
    whole = resumed(tmp_path, make(estimator))
    assert_same(whole, make(estimator).fit(data(whole)))
    files = {file: file.read_bytes() for file in tmp_path.iterdir()}
    counter = Killer()
    model = resumed(tmp_path, make(estimator, verbose=0), counter)
    assert counter.n_passes == 0
    assert_same(model, whole)
    assert files == {file: file.read_bytes() for file in tmp_path.iterdir()}
    # Learning goes on from a fit that was loaded as from any other.
    parts = [own.partial_fit(data(whole)[:40]).components_ for own in (model, whole)]
    np.testing.assert_array_equal(*parts)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chunks_that_can_be_read_again(tmp_path):
    chunks = [COUNTS[:70], COUNTS[70:]]
    whole = make(LDA).fit_chunks(chunks)
    with pytest.raises(Killed):
        make(LDA).set_callbacks(Checkpoint(tmp_path, 0.0), Killer(5)).fit_chunks(chunks)
    counter = Killer()
    model = make(LDA).set_callbacks(Checkpoint(tmp_path, 0.0), counter).fit_chunks(chunks)
    assert counter.n_passes == whole.n_iter_ - 4
    np.testing.assert_array_equal(model.components_, whole.components_)
    with pytest.raises(ValueError, match=r"another fit, which differs in X\."):
        make(LDA).set_callbacks(Checkpoint(tmp_path, 0.0)).fit_chunks(chunks[::-1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_may_change(tmp_path):
    whole = make(LDA).fit(COUNTS)
    interrupt(tmp_path, make(LDA), 4)
    assert_same(resumed(tmp_path, make(LDA, n_jobs=2)), whole)


@pytest.mark.parametrize("estimator", FITTED)
def test_without_a_seed_the_fit_goes_on(estimator, tmp_path):
    interrupt(tmp_path, make(estimator, random_state=None), 6)
    counter = Killer()
    model = resumed(tmp_path, make(estimator, random_state=None), counter)
    assert 0 < counter.n_passes < model.n_iter_
    assert_same(resumed(tmp_path, make(estimator, random_state=None)), model)


OTHERS = {
    "n_components": ({"n_components": 4}, "n_components"),
    "random_state": ({"random_state": 2}, "random_state"),
    "max_iter": ({"max_iter": 9}, "max_iter"),
    "schedule": ({"temperature_schedule": LinearCooling(2.0)}, "temperature_schedule"),
}


@pytest.mark.parametrize("estimator", FITTED)
@pytest.mark.parametrize(("params", "names"), OTHERS.values(), ids=OTHERS)
def test_other_fits_are_refused(estimator, params, names, tmp_path):
    interrupt(tmp_path, make(estimator), 6)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=rf"{tmp_path.name} holds checkpoints of another fit, .* in {names}\. Give"):
        resumed(tmp_path, make(estimator, **params))
    assert before == {file: file.read_bytes() for file in tmp_path.iterdir()}


@pytest.mark.parametrize("estimator", FITTED)
def test_other_data_are_refused(estimator, tmp_path):
    interrupt(tmp_path, make(estimator), 6)
    model = make(estimator).set_callbacks(Checkpoint(tmp_path))
    with pytest.raises(ValueError, match=r"another fit, which differs in X\."):
        model.fit(data(model)[::-1])


def test_estimators_do_not_take_files_of_others(tmp_path):
    interrupt(tmp_path, make(LDA), 2)
    with pytest.raises(ValueError, match="another fit, which differs in estimator, "):
        resumed(tmp_path, make(FMM))
