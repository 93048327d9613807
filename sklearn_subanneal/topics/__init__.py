"""Topic models by variational inference: documents, topics, temperatures and scores."""
