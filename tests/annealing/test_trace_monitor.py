"""The trace monitor on a small estimator that follows scikit-learn's callback protocol."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, FitCallback, with_callbacks
from sklearn.model_selection import GridSearchCV
from sklearn.utils.parallel import Parallel, delayed

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import TraceMonitor

N_SWEEPS, ANNEALED = 12, 4


class Chains(CallbackSupportMixin, BaseEstimator):
    """Chains whose log joint rises to sweep `peak` and stays there; the held-out score rises for ever."""

    def __init__(self, peak=6, n_chains=2, n_jobs=1, backend="threading", reconstruct=True):
        self.peak = peak
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.backend = backend
        self.reconstruct = reconstruct

    @with_callbacks
    def fit(self, X, y=None):
        context = self._init_callback_context(max_subtasks=self.n_chains, sequential_subtasks=False)
        context.call_on_fit_task_begin(estimator=self, X=X)
        chains = [
            context.subcontext(task_name="chain", task_id=chain, max_subtasks=N_SWEEPS)
            for chain in range(self.n_chains)
        ]
        outcomes = Parallel(n_jobs=self.n_jobs, backend=self.backend)(
            delayed(run_chain)(self, chain, X) for chain in chains
        )
        self.n_sweeps_, n_reconstructed = np.transpose(outcomes)
        self.n_reconstructed_ = n_reconstructed.sum()
        self.level_ = N_SWEEPS
        context.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes=lambda: {"level_": N_SWEEPS})
        return self

    def score(self, X, y=None):
        return self.level_ + np.mean(X)


def run_chain(estimator, context, X):
    n_reconstructed = 0

    def reconstruct(sweep):
        nonlocal n_reconstructed
        n_reconstructed += 1
        return {"level_": sweep}

    context.call_on_fit_task_begin(estimator=estimator, X=X)
    for sweep in range(N_SWEEPS):
        task = context.subcontext(task_name="sweep")
        task.call_on_fit_task_begin(estimator=estimator, X=X)
        record = {
            "chain": context.task_id,
            "sweep": sweep,
            "seconds": 0.25 * sweep,
            "progress": min(sweep / ANNEALED, 1.0),
            "log_joint": float(min(sweep, estimator.peak)),
            "n_clusters": 3 + context.task_id,
        }
        attributes = (lambda sweep=sweep: reconstruct(sweep)) if estimator.reconstruct else None
        if task.call_on_fit_task_end(
            estimator=estimator, X=X, metadata={"trace": record}, reconstruction_attributes=attributes
        ):
            break
    context.call_on_fit_task_end(estimator=estimator, X=X)
    return sweep + 1, n_reconstructed


X = np.zeros((6, 2))
HELD_OUT = np.full((4, 2), 0.5)


def monitored(monitor, **parameters):
    return Chains(**parameters).set_callbacks(monitor).fit(X)


@pytest.mark.parametrize(
    "n_jobs, backend, held_out",
    [
        (1, "threading", None),
        (2, "threading", HELD_OUT),
        # Reports from worker processes are quick in tests/process.
        pytest.param(2, "loky", HELD_OUT, marks=pytest.mark.slow),
        pytest.param(2, "loky", None, marks=pytest.mark.slow),
        pytest.param(1, "threading", HELD_OUT, marks=pytest.mark.slow),
        pytest.param(2, "threading", None, marks=pytest.mark.slow),
    ],
)
def test_records_of_all_chains(n_jobs, backend, held_out):
    monitor = TraceMonitor(X_held_out=held_out)
    monitored(monitor, n_jobs=n_jobs, backend=backend)
    logs = monitor.get_logs()
    assert logs["chain"].tolist() == [0] * N_SWEEPS + [1] * N_SWEEPS
    assert logs["sweep"].tolist() == [*range(N_SWEEPS)] * 2
    assert logs["n_clusters"].tolist() == [3] * N_SWEEPS + [4] * N_SWEEPS
    np.testing.assert_array_equal(logs["log_joint"], np.minimum(logs["sweep"], 6))
    assert logs.dtype["n_clusters"] == np.int32 and logs.dtype["seconds"] == np.float64
    if held_out is None:
        assert "held_out_score" not in logs.dtype.names
    else:
        np.testing.assert_array_equal(logs["held_out_score"], logs["sweep"] + 0.5)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork workers")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_records_of_forked_workers():
    """Those that were forked once the monitor had a socket took their copy for the original."""
    monitor = TraceMonitor()
    for _ in range(2):
        monitored(monitor, n_jobs=2, backend="multiprocessing")
    assert [len(logs) for logs in monitor.get_logs("all")] == [2 * N_SWEEPS] * 2


def test_models_are_made_only_for_scores():
    assert monitored(TraceMonitor()).n_reconstructed_ == 0
    assert monitored(TraceMonitor(X_held_out=HELD_OUT)).n_reconstructed_ == 2 * N_SWEEPS


def test_scores_every_so_often():
    monitor = TraceMonitor(X_held_out=HELD_OUT, every=5)
    monitored(monitor, n_chains=1)
    logs = monitor.get_logs()
    scored = ~np.isnan(logs["held_out_score"])
    assert logs["sweep"][scored].tolist() == [0, 5, 10]


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_early_stopping(backend):
    """The last improvement is at sweep 6; three sweeps without one end at sweep 9."""
    monitor = TraceMonitor(patience=3)
    fitted = monitored(monitor, n_jobs=2, backend=backend)
    assert fitted.n_sweeps_.tolist() == [10, 10]
    assert len(monitor.get_logs()) == 20


def test_early_stopping_is_patient_until_the_data_are_full():
    """The log joint never rises; sweeps 4 and 5 are the first two that count after the first of them set the mark."""
    assert monitored(TraceMonitor(patience=2), peak=0).n_sweeps_.tolist() == [ANNEALED + 3] * 2


def test_early_stopping_needs_an_increase_of_tol():
    assert monitored(TraceMonitor(patience=2, tol=0.5), peak=N_SWEEPS).n_sweeps_.tolist() == [N_SWEEPS] * 2
    assert monitored(TraceMonitor(patience=2, tol=5.0), peak=N_SWEEPS).n_sweeps_.tolist() == [ANNEALED + 3] * 2


def test_a_chain_that_is_stopped_in_its_burn_in_makes_draws_until_it_is_stopped_again():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SubsampleAnnealedDPMM(n_chains=2, thin=1, random_state=0)
    model.set_callbacks(TraceMonitor(patience=4, tol=1e9)).fit(X)
    assert model.log_joint_.shape == (2, 4)


def test_early_stopping_by_held_out_score():
    never = TraceMonitor(X_held_out=HELD_OUT, monitor="held_out_score", patience=2, every=2)
    assert monitored(never, peak=0).n_sweeps_.tolist() == [N_SWEEPS] * 2
    flat = TraceMonitor(X_held_out=HELD_OUT, monitor="held_out_score", patience=2, every=2, tol=10.0)
    assert monitored(flat).n_sweeps_.tolist() == [ANNEALED + 5] * 2  # scores at sweeps 4, 6 and 8


def test_stopping_starts_anew_with_every_fit():
    monitor = TraceMonitor(patience=3)
    estimator = Chains().set_callbacks(monitor)
    assert estimator.fit(X).n_sweeps_.tolist() == estimator.fit(X).n_sweeps_.tolist() == [10, 10]
    assert [len(log) for log in monitor.get_logs("all")] == [20, 20]
    assert monitor._best == {}


def test_fits_of_a_grid_search_are_kept_apart():
    monitor = TraceMonitor()
    search = GridSearchCV(Chains(n_chains=1).set_callbacks(monitor), {"peak": [2, 8]}, cv=2)
    search.fit(np.zeros((8, 2)))
    logs = monitor.get_logs("all")
    assert [len(log) for log in logs] == [N_SWEEPS] * 5
    assert sorted(log["log_joint"].max() for log in logs) == [2, 2, 2, 8, 8]  # the refit is the fifth
    np.testing.assert_array_equal(monitor.get_logs(), logs[-1])


def test_warns_if_nothing_could_be_scored():
    with pytest.warns(UserWarning, match="never scored: Chains passed no fitted estimator"):
        monitored(TraceMonitor(X_held_out=HELD_OUT), reconstruct=False)


def test_tasks_without_a_record_are_passed_over():
    monitor = TraceMonitor()
    estimator = Chains()
    for metadata in (None, {}, {"sample_weight": np.ones(3)}):
        assert not monitor.on_fit_task_end(estimator, None, metadata=metadata)
    with pytest.raises(ValueError, match="no records"):
        monitor.get_logs()


def test_follows_the_protocol():
    assert isinstance(TraceMonitor(), FitCallback)
    assert isinstance(TraceMonitor(X_held_out=X), FitCallback)


@pytest.mark.parametrize("held_out", [None, HELD_OUT])
def test_pickles_with_its_records(held_out):
    monitor = TraceMonitor(X_held_out=held_out)
    monitored(monitor)
    copy = pickle.loads(pickle.dumps(monitor))
    np.testing.assert_array_equal(copy.get_logs(), monitor.get_logs())
    monitored(copy)
    assert len(copy.get_logs("all")) == 2 and len(monitor.get_logs("all")) == 1


def test_logs_as_frame(monkeypatch):
    pytest.importorskip("pandas")
    monitor = TraceMonitor()
    monitored(monitor)
    frame = monitor.get_logs(as_frame=True)
    assert frame.shape == (2 * N_SWEEPS, 6)
    assert frame.groupby("chain")["log_joint"].max().tolist() == [6, 6]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        monitor.get_logs(as_frame=True)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"patience": 0}, "patience must be at least 1"),
        ({"tol": -1.0}, "tol must be at least 0"),
        ({"monitor": "held_out_score"}, "pass X_held_out"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TraceMonitor(**parameters)


def test_bad_choices():
    monitor = TraceMonitor(monitor="energy", patience=1)
    with pytest.raises(ValueError, match=r"monitor must be one of .*got 'energy'"):
        monitored(monitor)
    with pytest.raises(ValueError, match="select must be"):
        monitor.get_logs("last")
