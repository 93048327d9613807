"""Summaries of draws: co-clustering of rows, point estimates of a partition, named scalars, pooled imputations."""

from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal.posterior.cluster_stability import ClusterStability
from sklearn_subanneal.posterior.component_tree import ComponentTree
from sklearn_subanneal.posterior.jaccard import jaccard_indices
from sklearn_subanneal.posterior.labels import relabel
from sklearn_subanneal.posterior.losses import binder_loss, expected_loss, variation_of_information
from sklearn_subanneal.posterior.point_estimate import point_partition, representative_draw
from sklearn_subanneal.posterior.pooling import PooledEstimates, pool_estimates, pool_fits
from sklearn_subanneal.posterior.scalars import scalar_draws, to_arviz
from sklearn_subanneal.posterior.similarity import co_clustering

__all__ = [
    "ClusterStability",
    "ComponentTree",
    "PooledEstimates",
    "binder_loss",
    "co_clustering",
    "expected_loss",
    "jaccard_indices",
    "log_mean_exp",
    "point_partition",
    "pool_estimates",
    "pool_fits",
    "relabel",
    "representative_draw",
    "scalar_draws",
    "to_arviz",
    "variation_of_information",
]
