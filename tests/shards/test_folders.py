"""The folder in which the cells of a table in shards are kept is removed, whoever still writes there."""

from __future__ import annotations

import errno
import shutil

import numpy as np
import pytest

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.shards import ShardedTable, sharded_table

X = np.random.default_rng(0).normal(size=(200, 2))


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """Interrupts a fit while tasks on workers still write files, so that some removals of the folder fail."""

    def interrupt(n_failures):
        model = SubsampleAnnealedDPMM(n_chains=1, n_draws=1, max_sweeps=0, random_state=0).fit(X)
        failures, remove = [n_failures], shutil.rmtree

        def removed(path, ignore_errors=False, **settings):
            failures[0] -= 1
            if failures[0] < 0:
                remove(path, ignore_errors, **settings)
            elif not ignore_errors:
                raise OSError(errno.ENOTEMPTY, "Directory not empty", str(path))

        with ShardedTable(X, folder=tmp_path).blocks(model._models, lambda piece: model._table.encode(model, piece)):
            assert len(list(tmp_path.iterdir())) == 1
            monkeypatch.setattr(shutil, "rmtree", removed)
            raise KeyboardInterrupt

    monkeypatch.setattr(sharded_table, "PAUSES", (0.0, 0.01, 0.01))
    yield interrupt
    monkeypatch.undo()


def test_an_interrupt_stays_one(interrupted, tmp_path):
    """An error of removing the folder took its place."""
    with pytest.raises(KeyboardInterrupt):
        interrupted(2)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_stays_is_told(interrupted, tmp_path):
    with (
        pytest.raises(KeyboardInterrupt),
        pytest.warns(UserWarning, match=r"shards-.* could not be removed; remove it"),
    ):
        interrupted(3)
    assert len(list(tmp_path.iterdir())) == 1
