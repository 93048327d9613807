"""Factorial mixtures: rows that are sums of components, each active or not, learned by variational inference."""
