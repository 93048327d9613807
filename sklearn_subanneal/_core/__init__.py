"""Elementary functions, random draws and small matrices for the kernels; sums in log space; the version."""
