"""Times of the kernels on small tables, which asv follows over commits."""
