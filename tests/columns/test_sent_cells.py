"""Cells of a column are sent to other processes, as those of sharded tables are, and give the same statistics there."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support.column_examples import CLASSES, EXAMPLES, data_of


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_sent_cells(example):
    data = data_of(example.kind, example.cells, example.params)
    again = pickle.loads(pickle.dumps(data, protocol=5))
    assert type(again) is type(data) and again.n_rows == data.n_rows
    labels = (np.arange(data.n_rows) % 3).astype(np.int32)
    states = []
    for own in (data, again):
        statistics = CLASSES[example.kind][1](own, example.kernel_parameters(), None)
        statistics.rebuild(labels)
        states.append(statistics.get_state(3))
    for name, values in states[0].items():
        if name != "parameters":
            assert_array_equal(values, states[1][name])
