"""Numerical primitives of the kernels: elementary functions, random draws, small matrices, sums of logarithms."""
