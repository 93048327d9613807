"""Factorial mixtures, whose rows are sums of active components, learned by variational inference."""
