"""CPU time and memory of an annealed CrossCat fit to KDD Cup 1999, 10 % set (494,021 rows, 41 mixed columns).

One chain; views and hyperparameters are learned. Memory is the peak of the fit in addition to the process that holds
the table, also as a multiple of the table in its native types.
"""

from _crosscat import crosscat, crosscat_parser
from kdd import add_arguments, measure

BARS = {"cpu_seconds": 300.0, "peak_over_typed_data": 4.0}


def main() -> None:
    given = crosscat_parser(__doc__, seeds=3)
    add_arguments(given)
    arguments = given.parse_args()
    measure(
        "crosscat_kdd", arguments, lambda seed: crosscat(arguments, feature_types="from_dtype", random_state=seed), BARS
    )


if __name__ == "__main__":
    main()
