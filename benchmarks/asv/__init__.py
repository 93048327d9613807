"""Timings of the kernels on small tables, for the comparison of commits by asv."""
