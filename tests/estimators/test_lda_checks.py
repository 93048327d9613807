"""Scikit-learn's own checks of the topic model, over its temperings and the ways through its code."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.topic_settings import TEMPERINGS
from sklearn_subanneal.variational import GeometricCooling

# A few temperatures instead of a hundred, for the partition function as printed is slow.
PRINTED = {"temperatures": [1.0, 2.0, 5.0, 10.0]}
CONFIGURATIONS = [
    VariationalTemperingLDA(),
    *(
        VariationalTemperingLDA(3, tempering=tempering, max_iter=3, **(PRINTED if "paper" in tempering else {}))
        for tempering in TEMPERINGS
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


@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
