"""Likelihoods of one column, or of one block of columns, under all clusters at once."""
