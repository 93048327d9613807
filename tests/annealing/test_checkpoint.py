"""A fit that was killed goes on where it was, bit for bit, and what is on disk is used for nothing else."""

from __future__ import annotations

import errno
import os
import pickle
import re
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from support.clocks import tick_at_each_look
from support.moves import VIEW_MOVES
from support.tables import blobs, with_gaps
from support.tiers import quick_only

from sklearn_subanneal import (
    Checkpoint,
    CrossCat,
    SubsampleAnnealedDPMM,
    TraceMonitor,
)
from sklearn_subanneal.annealing import (
    Accelerating,
    EnergyAnneal,
    PriorGibbs,
    SequentialGibbs,
    SubsampleAnneal,
    TemperedAccelerating,
    clock,
    saved_chain,
)
from sklearn_subanneal.annealing.saved_chain import SavedChain
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.estimators import _enough_chains
from sklearn_subanneal.estimators._covariance_choice import CovarianceChoice
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.trees import IncrementalHierarchy

N_ROWS = 24
X = with_gaps(np.hstack([blobs(N_ROWS), blobs(N_ROWS, gap=3.0, seed=1)[::-1]]))
MIXED = np.column_stack([X[:, 0], *(np.floor(np.abs(np.nan_to_num(X[:, 1:3])) % 4).T), X[:, 3] > 0])
TYPES = ["real", "categorical", "count", "boolean"]
SHORT = SubsampleAnneal(passes=4)
STARTS = TemperedAccelerating(passes=8, n_small=16, n_first=4)
ESTIMATORS = [CrossCat, SubsampleAnnealedDPMM]
WITH_WORK = quick_only([SHORT, SequentialGibbs(1), SequentialGibbs(3), PriorGibbs(2), STARTS], SHORT, STARTS)


def make(estimator=CrossCat, **params):
    defaults = {"n_chains": 2, "n_draws": 2, "thin": 3, "schedule": SHORT, "random_state": 1}
    return estimator(**defaults | params)


def resumed(folder, *others, seconds=0.0, table=X, **params):
    return make(**params).set_callbacks(Checkpoint(folder, seconds), *others).fit(table)


class Killed(BaseException):
    """What a fit can do as little against as against SIGKILL."""


class Killer:
    """A callback that ends the fit at a sweep of a chain, after the callbacks before it have seen the sweep."""

    def __init__(self, chain, sweep, end=None):
        self.where, self.end = (chain, sweep), end

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        trace = (metadata or {}).get("trace")
        if trace and (trace["chain"], trace["sweep"]) == self.where:
            raise Killed

    def teardown(self, estimator, context):
        pass


def interrupt(folder, chain, sweep, **params):
    with pytest.raises(Killed):
        resumed(folder, Killer(chain, sweep), **params)


def assert_same(one, two, table=X):
    for name in one.trace_.dtype.names:
        if not name.startswith("seconds"):
            np.testing.assert_array_equal(one.trace_[name], two.trace_[name])
    for name in ("posterior_labels_", "log_joint_", "labels_", "posterior_column_labels_", "view_labels_"):
        if hasattr(two, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.score_samples(table), two.score_samples(table))


# --- Wherever it was interrupted ------------------------------------------------------------------------------------

WAYS = {
    "crosscat": (CrossCat, {}),
    "random churn": (CrossCat, {"subsampling": "random", "schedule": Accelerating(5, 10)}),
    "one leap": (CrossCat, {"schedule": SequentialGibbs(1)}),
    "block": (CrossCat, {"moves": VIEW_MOVES["block"], "schedule": PriorGibbs(3)}),
    "birth and death": (CrossCat, {"moves": VIEW_MOVES["birth-death"], "schedule": EnergyAnneal(3)}),
    "mixed": (CrossCat, {"feature_types": TYPES}),
    "starts": (CrossCat, {"schedule": STARTS}),
    "mixture": (SubsampleAnnealedDPMM, {}),
    "mixture, starts": (SubsampleAnnealedDPMM, {"schedule": STARTS}),
    "mixture, energy": (SubsampleAnnealedDPMM, {"schedule": EnergyAnneal(3)}),
    "mixture, full": (SubsampleAnnealedDPMM, {"covariance_type": "full"}),
    "forest": (SubsampleAnnealedDPMM, {"moves": [IncrementalHierarchy(n_rebuilds=4)], "n_draws": 1}),
    "forest, full": (SubsampleAnnealedDPMM, {"moves": ["incremental-hierarchy"], "covariance_type": "full"}),
}


def test_chains_that_disagreed_are_not_judged_anew(tmp_path, monkeypatch):
    judged = []
    monkeypatch.setattr(_enough_chains, "agree", lambda results: judged.append(results) or False)
    interrupt(tmp_path, 2, 5, n_chains="auto")
    assert len(judged) == 1
    again = resumed(tmp_path, n_chains="auto")
    assert len(judged) == 1 and again.n_chains_ == 4
    assert_same(again, make(n_chains=4).fit(X))


QUICK_WAYS = ("block", "mixed", "starts", "mixture", "forest")


@pytest.mark.parametrize(
    ("estimator", "params"),
    [pytest.param(*way, id=name, marks=[] if name in QUICK_WAYS else pytest.mark.slow) for name, way in WAYS.items()],
)
def test_interrupted_at_every_sweep(estimator, params, tmp_path):
    params = {"estimator": estimator, "n_chains": 1, "table": MIXED if "feature_types" in params else X, **params}
    table = params["table"]
    whole = make(**{name: value for name, value in params.items() if name != "table"}).fit(table)
    (n_sweeps,) = whole.n_sweeps_
    for sweep in range(0, n_sweeps, 1 if estimator is CrossCat and "moves" not in params else 2):
        interrupt(tmp_path / str(sweep), 0, sweep, **params)
        monitor = TraceMonitor()
        model = resumed(tmp_path / str(sweep), monitor, **params)
        assert_same(model, whole, table)
        # It went on, and did not start anew.
        logs = monitor.get_logs() if sweep + 1 < n_sweeps else []
        assert [record["sweep"] for record in logs] == list(range(sweep + 1, n_sweeps))


@pytest.mark.parametrize("schedule", WITH_WORK)
def test_the_work_to_go_is_known(schedule, tmp_path):
    whole = make(n_chains=1, max_sweeps=0, schedule=schedule).fit(X)
    spec = ChainSpec(n_rows=N_ROWS, schedule=schedule, n_draws=2, thin=3, max_sweeps=0)
    (n_sweeps,) = whole.n_sweeps_
    assert spec.n_sweeps() == n_sweeps
    for sweep in range(n_sweeps):
        interrupt(tmp_path / str(sweep), 0, sweep, n_chains=1, max_sweeps=0, schedule=schedule)
        file = tmp_path / str(sweep) / "chain-0.checkpoint"
        to_go = replace(spec, previous=SavedChain.read(file).result).n_sweeps()
        assert to_go == n_sweeps - sweep - 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_interrupted_again_and_again(estimator, tmp_path):
    whole = make(estimator, n_chains=3).fit(X)
    for chain, sweep in [(0, 2), (0, 9), (1, 0), (1, 11), (2, 4)]:
        interrupt(tmp_path, chain, sweep, estimator=estimator, n_chains=3)
    assert_same(resumed(tmp_path, estimator=estimator, n_chains=3, n_jobs=2), whole)


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_interrupted_while_it_writes(call, tmp_path, monkeypatch):
    whole, calls = make().fit(X), []

    def kill(*args):
        calls.append(args)
        if len(calls) > 6:
            raise Killed
        return right(*args)

    if call == "write":
        right = open

        def half(path, mode):
            stream = kill(path, mode)
            if len(calls) == 6:
                stream.write(b"half")
                stream.flush()
                raise Killed
            return stream

        monkeypatch.setattr(saved_chain, "open", half, raising=False)
    else:
        right = getattr(os, call)
        monkeypatch.setattr(os, call, kill)
    with pytest.raises(Killed):
        resumed(tmp_path)
    monkeypatch.undo()
    # What was half written is beside the files, and in nobody's way.
    assert list(tmp_path.glob("chain-0.part"))
    assert_same(resumed(tmp_path), whole)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["chain-0.checkpoint", "chain-1.checkpoint"]


# --- What is complete, and what goes further ------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_checkpoint_changes_nothing(estimator, tmp_path):
    assert_same(resumed(tmp_path, estimator=estimator), make(estimator).fit(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_complete_fit_is_loaded(estimator, tmp_path):
    whole = resumed(tmp_path, seconds=60.0, estimator=estimator)
    files = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in tmp_path.iterdir()}
    assert len(files) == 2
    monitor = TraceMonitor()
    model = resumed(tmp_path, monitor, estimator=estimator, n_jobs=2)
    assert_same(model, whole)
    np.testing.assert_array_equal(model.trace_["seconds"], whole.trace_["seconds"])
    with pytest.raises(ValueError, match="no records"):
        monitor.get_logs()
    assert files == {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in tmp_path.iterdir()}


def test_more_draws_go_on_from_fewer(tmp_path):
    whole = make(n_draws=5).fit(X)
    resumed(tmp_path, n_draws=2)
    interrupt(tmp_path, 1, len(whole.trace_) // 2 - 4, n_draws=5)
    assert_same(resumed(tmp_path, n_draws=5), whole)
    with pytest.raises(ValueError, match=r"n_draws=4 must be at least the 5 draws in the folder.*a folder of its own"):
        resumed(tmp_path, n_draws=4)


def test_a_chain_that_was_stopped_stays_stopped(tmp_path):
    patience = {"n_draws": 40, "thin": 1}
    whole = resumed(tmp_path, TraceMonitor(patience=5, tol=1e9), **patience)
    assert whole.posterior_labels_.shape[1] < 10
    assert_same(resumed(tmp_path, **patience), whole)
    # As there may be more draws than it was given leave to make, it goes on when asked for more.
    assert resumed(tmp_path, **patience | {"n_draws": 41}).posterior_labels_.shape[1] == 41


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_warm_starts_may_be_interrupted(estimator, tmp_path):
    whole = make(estimator, n_draws=5).fit(X)
    model = make(estimator, warm_start=True).fit(X).set_params(n_draws=5)
    model.set_callbacks(Checkpoint(tmp_path, 0.0), Killer(1, len(whole.trace_) // 2 - 3))
    with pytest.raises(Killed):
        model.fit(X)
    assert model.posterior_labels_.shape[1] == 2
    assert_same(model.set_callbacks(Checkpoint(tmp_path)).fit(X), whole)


def test_without_a_seed_the_chains_go_on(tmp_path):
    interrupt(tmp_path, 1, 8, random_state=None)
    saved = [SavedChain.read(tmp_path / f"chain-{number}.checkpoint").result.trace for number in (0, 1)]
    model = resumed(tmp_path, random_state=None)
    for number, trace in enumerate(saved):
        found = model.trace_[model.trace_["chain"] == number][: len(trace)]
        np.testing.assert_array_equal(found, trace)
    assert_same(resumed(tmp_path, random_state=None), model)


# --- Time -----------------------------------------------------------------------------------------------------------


def test_a_covariance_type_that_was_chosen_within_a_time_limit_stays(tmp_path, monkeypatch):
    """A trial within a limit may end otherwise, and chains of another model would not be taken up."""
    tick_at_each_look(monkeypatch, 2.5e-3)
    chosen = iter(["diag", "full"])
    monkeypatch.setattr(CovarianceChoice, "_choose_covariance", lambda *given: next(chosen))
    timed = {"estimator": SubsampleAnnealedDPMM, "n_chains": 1, "time_limit": 0.5, "max_sweeps": 0, "table": blobs(60)}
    with pytest.raises(Killed):
        resumed(tmp_path, Killer(0, 3), **timed)
    taken_up = None
    with suppress(ValueError):
        taken_up = resumed(tmp_path, **timed).covariance_type_
    assert taken_up == "diag"
    # Without chains on disk there is a trial.
    assert (
        make(**{key: value for key, value in timed.items() if key != "table"}).fit(blobs(60)).covariance_type_ == "full"
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_time_limit_counts_what_was_spent(estimator, tmp_path, monkeypatch):
    tick_at_each_look(monkeypatch, 2.5e-3)

    class KillAfter(Killer):
        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if metadata and "trace" in metadata and metadata["trace"]["seconds"] > self.end:
                raise Killed

    timed = {"estimator": estimator, "n_chains": 1, "n_draws": 10**6, "thin": 1, "time_limit": 0.5, "table": blobs(300)}
    for seconds in (0.2, 0.45):
        with pytest.raises(Killed):
            resumed(tmp_path, KillAfter(0, 0, seconds), **timed)
    trace = resumed(tmp_path, **timed).trace_
    # Over after the first sweep that ends after the limit.
    assert trace["seconds"][-2] < 0.5 <= trace["seconds"][-1]
    # The subsample grows on, and is not made anew.
    assert np.diff(trace["n_assigned"]).min() >= 0
    assert len(trace[trace["progress"] < 1]) > 10
    # A complete fit is loaded, though it has fewer draws than it might have.
    assert len(resumed(tmp_path, **timed).trace_) == len(trace)
    # Another fit has time of its own.
    longer = resumed(tmp_path, **timed | {"n_draws": 10**6 + 1}).trace_["seconds"] - trace["seconds"][-1]
    assert longer[-2] < 0.5 <= longer[-1]


def test_files_are_written_every_so_often(tmp_path, monkeypatch):
    now, written = [0.0], []
    monkeypatch.setattr(clock, "now", lambda: now[0])
    right = os.replace
    monkeypatch.setattr(os, "replace", lambda part, file: (written.append((file.name, now[0])), right(part, file)))

    class Clock(Killer):
        def on_fit_task_end(self, estimator, context, *, metadata=None):
            now[0] += 1.0 if metadata and "trace" in metadata else 0.0

    model = resumed(tmp_path, Clock(0, 0), seconds=4.0)
    n = (model.trace_["chain"] == 0).sum()
    times = [time for name, time in written if name == "chain-0.checkpoint"]
    # The clock ticks after the checkpoint has looked at it. The last write is that of the end.
    assert times == [*range(4, n, 4), n]
    assert sum(name == "chain-1.checkpoint" for name, _ in written) == len(times)
    written.clear()
    resumed(tmp_path / "rare", seconds=1e9)
    assert [name for name, _ in written] == ["chain-0.checkpoint", "chain-1.checkpoint"]


# --- What is refused ------------------------------------------------------------------------------------------------

OTHERS = {
    "table": ({"table": X + 1e-9}, "X"),
    "rows": ({"table": X[::-1]}, "X"),
    "estimator": ({"estimator": SubsampleAnnealedDPMM}, "estimator, .*row_partition"),
    "partition": ({"row_partition": PitmanYor(2.0)}, "row_partition"),
    "moves": ({"moves": VIEW_MOVES["prior"]}, "moves"),
    "n_chains": ({"n_chains": 3}, "n_chains"),
    "schedule": ({"schedule": SubsampleAnneal(passes=5)}, "schedule"),
    "effort": ({"effort": 2.0}, "effort"),
    "thin": ({"thin": 2}, "thin"),
    "time_limit": ({"time_limit": 9.0}, "time_limit"),
    "random_state": ({"random_state": 2}, "random_state"),
    "two": ({"random_state": 2, "grids": "fixed"}, "grids, random_state"),
}


@pytest.mark.parametrize(("params", "names"), OTHERS.values(), ids=OTHERS)
def test_other_fits_are_refused(params, names, tmp_path):
    interrupt(tmp_path, 1, 3)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=rf"{tmp_path.name} holds checkpoints of another fit, .* in {names}\. Give"):
        resumed(tmp_path, **params)
    assert before == {file: file.read_bytes() for file in tmp_path.iterdir()}


def test_schedules_of_ones_own(tmp_path):
    class Quadratic(SubsampleAnneal):
        """A class that does not pickle."""

        def subsample_size(self, progress, n_rows):
            return np.ceil(np.clip(progress, 0.0, 1.0) ** 2 * n_rows).astype(int)

    whole = make(schedule=Quadratic(passes=5)).fit(X)
    interrupt(tmp_path, 1, 2, schedule=Quadratic(passes=5))
    with pytest.raises(ValueError, match=r"differs in schedule\."):
        resumed(tmp_path, schedule=SubsampleAnneal(passes=5))
    with pytest.raises(ValueError, match=r"differs in schedule\."):
        resumed(tmp_path, schedule=Quadratic(passes=6))
    assert_same(resumed(tmp_path, schedule=Quadratic(passes=5)), whole)


def test_searches_do_not_mix_their_fits(tmp_path):
    model = make().set_callbacks(Checkpoint(tmp_path))
    with pytest.raises(ValueError, match="another fit, which differs in X"):
        cross_val_score(model, X, cv=2, error_score="raise")


DAMAGES = {
    "truncated": lambda data: data[:-100],
    "header alone": lambda data: data[:20],
    "empty": lambda data: b"",
    "one bit": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "longer": lambda data: data + b"\0",
    "another file": lambda data: pickle.dumps({"identity": {}}),
    "another version": lambda data: data.replace(b"checkpoint 2\n", b"checkpoint 3\n", 1),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_files_are_told(damage, tmp_path):
    interrupt(tmp_path, 1, 9)
    file = tmp_path / "chain-0.checkpoint"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=r"chain-0.checkpoint is damaged.*Restore it.*or delete it"):
        resumed(tmp_path)
    # The remedy that the message names.
    file.unlink()
    assert_same(resumed(tmp_path), make().fit(X))


def test_a_full_disk_ends_no_fit(tmp_path, monkeypatch):
    interrupt(tmp_path, 0, 9)
    before = (tmp_path / "chain-0.checkpoint").read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match=r"Chain . was not saved to .*No space left on device.*The fit continues"):
        model = resumed(tmp_path)
    assert_same(model, make().fit(X))
    assert [file.name for file in tmp_path.iterdir()] == ["chain-0.checkpoint"]
    assert (tmp_path / "chain-0.checkpoint").read_bytes() == before


@pytest.mark.parametrize("path", [None, 3, b"folder", ["a"]])
def test_paths_that_are_none(path):
    with pytest.raises(ValueError, match="path must be the name of a folder, got"):
        Checkpoint(path)


@pytest.mark.parametrize("seconds", [-1, np.nan, "60", None, True])
def test_intervals_that_are_none(seconds, tmp_path):
    with pytest.raises(ValueError, match="seconds must be a number of at least 0, got"):
        Checkpoint(tmp_path, seconds)


@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_is_no_folder(below, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match=r"path must be a folder, but .*file"):
        resumed(tmp_path / "file" / below)
    assert (tmp_path / "file").read_text() == "mine"


def test_estimators_without_chains():
    class Other(LogisticRegression):
        pass

    model = Other().set_callbacks(Checkpoint("nowhere"))
    with pytest.raises(TypeError, match="Other has no chains to save"):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not os.path.exists("nowhere")


# --- Among other callbacks ------------------------------------------------------------------------------------------


def test_folders_are_made_and_found_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint("deep/down", 0.0)
    monkeypatch.chdir("/")
    make().set_callbacks(checkpoint).fit(X)
    assert len(list((tmp_path / "deep" / "down").iterdir())) == 2


def test_models_with_a_checkpoint_are_copied(tmp_path):
    model = resumed(tmp_path)
    assert_same(pickle.loads(pickle.dumps(model)), model)
    assert_same(clone(model).fit(X), model)


def test_progress_bars_of_the_rest(tmp_path, capsys):
    pytest.importorskip("rich")
    interrupt(tmp_path, 1, 3)
    resumed(tmp_path, ProgressBar())
    shown = capsys.readouterr().out
    assert re.search(r"CrossCat - fit .*100%", shown)
    assert re.search(r"CrossCat - chain #1 .*100%", shown)
    resumed(tmp_path, ProgressBar())
    assert re.search(r"CrossCat - fit .*100%", capsys.readouterr().out)
