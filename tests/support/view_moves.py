"""A round of moves of columns between views, without a chain."""

from __future__ import annotations


def round_of_moves(views, moves):
    """A function ``update(inverse_temperature, generator)`` that makes each of the moves; returns columns moved."""
    bound = [(move, move.bind(views.columns, views.n_rows, views.twins)) for move in moves]

    def update(inverse_temperature, generator):
        return sum(
            kernel.propose(views, move.count(views.n_columns), inverse_temperature, generator) for move, kernel in bound
        )

    return update
