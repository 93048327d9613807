"""Rows in shards: exact sampling of mixtures whose table is in blocks, in threads, in files and on workers of Dask."""

from sklearn_subanneal.shards.predictions import predict_shards
from sklearn_subanneal.shards.sharded_table import ShardedTable

__all__ = ["ShardedTable", "predict_shards"]
