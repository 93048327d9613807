"""Scikit-learn's own checks of the topic model: one configuration in the quick tests, the others in the slow ones."""

from __future__ import annotations

import pytest
from support.checks import parametrize_with_checks

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.topic_settings import TEMPERINGS
from sklearn_subanneal.variational import GeometricCooling

# A few temperatures instead of a hundred, for the partition function as printed is slow.
FEW = {"temperatures": [1.0, 2.0, 5.0, 10.0]}
# Annealed, from minibatches.
QUICK = [VariationalTemperingLDA(3, max_iter=3)]
OTHERS = [
    VariationalTemperingLDA(
        2,
        tempering="local",
        topic_update="variational",
        learning_method="batch",
        doc_topic_prior="learn",
        max_iter=3,
        n_jobs=2,
        **FEW,
    ),
    VariationalTemperingLDA(),
    *(
        VariationalTemperingLDA(3, tempering=tempering, max_iter=3, **(FEW if "paper" in tempering else {}))
        for tempering in TEMPERINGS
        if tempering != "annealed"
    ),
    VariationalTemperingLDA(2, topic_update="variational", learning_method="batch"),
    VariationalTemperingLDA(2, topic_update="variational", learning_decay=0.7, learning_offset=10.0, max_iter=3),
    VariationalTemperingLDA(
        4,
        temperature_schedule=GeometricCooling(3.0, 0.5),
        doc_topic_prior="learn",
        batch_size=16,
        max_iter=2,
        n_jobs=2,
    ),
]


@parametrize_with_checks(QUICK)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS)
def test_scikit_learn_checks_of_other_configurations(estimator, check):
    check(estimator)
