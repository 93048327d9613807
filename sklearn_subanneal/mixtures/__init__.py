"""Mixtures: a partition of rows with the columns it explains, the moves on it, and what its draws predict."""
