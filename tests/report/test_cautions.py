"""What the top of a report says of runs that disagree."""

from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_subanneal.report.structure import cautions_of


def model(chains, own, parts=None, weights=None):
    """What is known of a fitted model; each chain has the views of its draws."""
    chains = np.array(chains)
    columns = np.arange(len(own)) if parts is None else np.array(parts)
    return SimpleNamespace(
        chain_weights_=np.full(len(chains), 1 / len(chains)) if weights is None else np.array(weights),
        first_parts_=np.unique(columns, return_index=True)[1],
        column_labels_=np.array(own),
        posterior_column_labels_=chains,
        convergence_=SimpleNamespace(row_agreement=1.0, row_agreement_within=1.0, problems=[]),
    )


@pytest.mark.parametrize(
    ("other", "parts", "moved"),
    [
        # Numbers of views are names only.
        ([1, 1, 1, 0, 0], None, None),
        ([0, 0, 1, 1, 1], None, "1 of 5"),
        ([0, 0, 0, 0, 0], None, "2 of 5"),
        ([0, 1, 2, 3, 4], None, "3 of 5"),
        # The last two are parts of one column.
        ([0, 0, 0, 0, 0], [0, 1, 2, 3, 3], "1 of 4"),
    ],
)
def test_number_of_columns_that_a_run_moves(other, parts, moved):
    own = [0, 0, 0, 1, 1]
    told = f"1 of 2 runs of the model groups the columns otherwise ({moved} columns in another group)."
    assert cautions_of(model([[own, own], [other, other]], own, parts)) == ([] if moved is None else [told])


def test_several_runs_that_differ():
    own = [0, 0, 0, 1, 1]
    chains = [[own], [[0, 0, 1, 1, 1]], [[0] * 5]]
    (caution,) = cautions_of(model(chains, own))
    assert caution == "2 of 3 runs of the model group the columns otherwise (up to 2 of 5 columns in another group)."


def test_a_single_run_that_counts():
    own = [0, 0, 1]
    (caution,) = cautions_of(model([[own], [own]], own, weights=[0.99, 0.01]))
    assert caution.startswith("Only one run of the model counts")
