"""Rows in shards: exact sampling of mixtures whose table is in blocks, in threads and in files."""

from sklearn_subanneal.shards.sharded_table import ShardedTable

__all__ = ["ShardedTable"]
