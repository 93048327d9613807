"""Rows in shards: exact sampling of mixtures whose table is in blocks, in threads, in files or on many machines."""
