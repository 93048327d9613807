"""Topic models: the local step over documents, the global topics, temperature, and scores."""
