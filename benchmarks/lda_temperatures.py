"""Figure 2 of the variational-tempering paper: document completion by SVI, AVI, VT and LVT at equal passes.

"paper's steps" are coordinate updates of the bound with the paper's minibatches, step sizes and random start, and AVI
from T = 1.6 to 1 in half of the passes. "default" are the defaults of the package, and AVI its default schedule. Both
include SVI, at T = 1. "AVI, tuned" is the best of a grid of starting temperatures and shares, chosen on a tenth of the
training documents after fits to the others. VT, which has no schedule, should come close to it.

S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, figure 2.
"""

from __future__ import annotations

import numpy as np
from _common import note, parser, report, skip, spread
from _lda import FILES, N_TOPICS, PAPER, learned, load, split

from sklearn_subanneal.variational import LinearCooling

METHODS = {
    "SVI": {"tempering": "none"},
    "AVI": {"tempering": "annealed"},
    "VT": {"tempering": "global"},
    "LVT": {"tempering": "local"},
}
# The package's default schedule is for topics that start apart; the paper's start nearly equal.
RANDOM = {"init": "random", "temperature_schedule": LinearCooling(1.6, 0.5)}
FAMILIES = {"paper's steps": {"topic_update": "variational", **RANDOM, **PAPER}, "default": {}}
# The paper's small steps need more passes on few documents; otherwise the package's default number of passes.
PASSES = {"kos": {"paper's steps": 20, "default": 7}, "nips": {"paper's steps": 40, "default": 11}}
STARTS, SHARES = (1.25, 1.6, 2.0, 2.5), (0.3, 0.5, 0.7)
MEASURES = ("nats", "twins", "diversity", "npmi", "cpu")
BARS = {
    "AVI and VT over SVI, at least": {"nips": 0.15, "arxiv": 0.10},
    "VT below the tuned AVI, at most": 0.02,
    "LVT below VT, at most": 0.04,
}


def tune(run, corpus, n_seeds: int, starts, shares) -> tuple[dict, dict]:
    """The AVI settings with the highest mean score on a part of the training documents, and all scores."""
    scores, corpus = {}, split(corpus.train)
    for start in starts:
        for share in shares:
            schedule = {"tempering": "annealed", "temperature_schedule": LinearCooling(start, share)}
            nats = [run(corpus, seed, schedule, 1)[-1]["nats"] for seed in range(n_seeds)]
            scores[start, share] = float(np.mean(nats))
            note(f"AVI from {start} in {share}: {scores[start, share]:.4f}")
    start, share = max(scores, key=scores.get)
    named = {f"from {start:g} in {share:g}": score for (start, share), score in scores.items()}
    return {"tempering": "annealed", "temperature_schedule": LinearCooling(start, share)}, named


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--corpora", nargs="+", choices=list(FILES), default=["nips", "arxiv"])
    given.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    given.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    given.add_argument("--data", help="folder of kos/, nips/ and arxiv/ (default: $SUBANNEAL_DATA)")
    given.add_argument("--topics", type=int, help="number of topics (default: 50 or 100, by corpus); the paper has 500")
    given.add_argument("--passes", type=int, help="number of passes (default: by corpus and family)")
    given.add_argument(
        "--topic-word-prior", type=float, help="prior of topics (default: the package's); the paper: 1 / K"
    )
    given.add_argument("--grid-seeds", type=int, default=2, help="number of seeds per point of the grid; 0: no grid")
    arguments = given.parse_args()
    quick, results = arguments.quick, {}
    n_seeds, starts, shares = (1, STARTS[:1], SHARES[:1]) if quick else (arguments.seeds, STARTS, SHARES)
    for name in arguments.corpora:
        corpus = load(name, arguments.data, quick)
        if corpus is None:
            note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
            continue
        n_topics = 5 if quick else arguments.topics or N_TOPICS[name]
        for family in arguments.families:
            n_passes = 2 if quick else arguments.passes or PASSES.get(name, {}).get(family, 6)
            given_settings = {
                **FAMILIES[family],
                "max_iter": n_passes,
                "topic_word_prior": arguments.topic_word_prior,
            }

            def run(corpus, seed, method, n_points=None, given_settings=given_settings, n_topics=n_topics):
                return learned(corpus, n_topics, seed, given_settings | method, n_points=n_points)

            curves, result = {}, {}
            methods = {method: METHODS[method] for method in arguments.methods}
            if arguments.grid_seeds:
                methods["AVI, tuned"], result["grid"] = tune(run, corpus, arguments.grid_seeds, starts, shares)
            for method, settings in methods.items():
                curves[method] = [run(corpus, seed, settings, 1 if seed else 10) for seed in range(n_seeds)]
                result[method] = {key: spread([of[-1][key] for of in curves[method]]) for key in MEASURES}
                shown = ", ".join(f"{key} {found['mean']:.4g}" for key, found in result[method].items())
                note(f"{name} {family} {method}: {shown}")
            sizes = {"topics": n_topics, "passes": n_passes}
            results.setdefault(name, {})[family] = {**sizes, **result, "curves": curves}
    if not results:
        skip("lda_temperatures", arguments, "no corpus was found")
        return
    report("lda_temperatures", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
