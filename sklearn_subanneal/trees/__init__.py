"""Trees over rows: incremental hierarchical clustering, and the moves that it guides."""
