"""Elementary functions, draws and small matrices for the kernels."""
