"""Variants of latent temperatures of topic models: partition functions, continuous local temperatures, predictions.

"partition": one temperature for all documents (VT), inferred with several partition functions. Equation 15 of the paper
is (1 - 1/T) log(words) for any prior, or, at topics that all are the frequencies of words, log sum_v f_v^(1/T).

"local": a temperature for each document (LVT). A grid of temperatures is a sum in place of an integral over a
continuum; grids of 10 and 1000 points show what the integral would change. Quantiles of a beta distribution as a grid
of 1/T stand for this distribution as the prior, as the paper proposes; its experiments have the uniform one. "own
normaliser" is the paper's normaliser of each document, sum_v p_dv^(1/T), instead of a partition function.

"prediction": held-out words, with topic proportions fitted at T = 1, at the inferred temperature of each document
(footnote 1 of the paper), at one given temperature, and at T = 1 in five iterations.

The first two have the paper's updates, minibatches, step sizes and random start: with topics that start apart, inferred
temperatures fall to 1 at once. The given temperature was chosen on a tenth of the training documents of KOS and NIPS.

S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, sections 2.4, 3.3, 3.4,
footnote 1, supplement A.
"""

from __future__ import annotations

import numpy as np
from _common import Clock, note, parser, report, skip
from _lda import FILES, N_TOPICS, PAPER, Corpus, load
from lda_topics import judged
from scipy.special import entr
from scipy.stats import beta

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.corpus import MemoryCorpus, Totals
from sklearn_subanneal.topics.local_step import LocalStep, collapsed_energies, local_step
from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
from sklearn_subanneal.topics.partition_function import log_partition, prior_of_entropy
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.topic_passes import LearningRun
from sklearn_subanneal.topics.topic_scores import document_lengths, log_likelihoods
from sklearn_subanneal.topics.topic_settings import ENTROPY_MARGIN
from sklearn_subanneal.variational import exponential_temperatures

RANDOM = {"topic_update": "variational", "init": "random", **PAPER}
# The paper's small steps need more passes on few documents.
PASSES = {"kos": 40, "nips": 40, "nips0_12": 40, "nyt": 15, "arxiv": 6}
HIGHEST = 2.5
# Documents whose own normalisers are computed at a time, and the powers of which they are.
DOCUMENTS, POWERS = 64, 20
GIVEN = 1.0 / 0.9
BARS = {"nats that a variant gains on every corpus, more than": 0.005}


class OwnNormaliser(TopicLearner):
    """The likelihood of each document is normalised over the words of this document alone."""

    def _energies(self, step: LocalStep, rho) -> np.ndarray:
        proportions = step.gamma / step.gamma.sum(axis=1, keepdims=True)
        topics, powers = self.topics.mean_weights(), np.linspace(self.temperature.grid.min(), 1.0, POWERS)
        normalisers = []
        for first in range(0, len(proportions), DOCUMENTS):
            logs = np.log(proportions[first : first + DOCUMENTS] @ topics.T)
            normalisers.append(np.transpose([np.log(np.exp(power * logs).sum(axis=1)) for power in powers]))
        at = self.temperature.grid
        self.temperature.log_partition = np.array([np.interp(at, powers, row) for row in np.concatenate(normalisers)])
        return collapsed_energies(step, self.topics, self.n_threads)


def frequencies(train) -> np.ndarray:
    """Shares of the words that occur."""
    counts = np.asarray(train.sum(axis=0), dtype=float).ravel()
    return counts[counts > 0.0] / counts.sum()


def own_normaliser(learner: TopicLearner, train) -> None:
    """Normalise the likelihood of each document over its own words."""
    learner.__class__ = OwnNormaliser


def beta_grid(one: float, other: float) -> np.ndarray:
    """Temperatures whose inverses are quantiles of a beta distribution, from the hottest above 0 to 1."""
    return 1.0 / beta(one, other).ppf(np.linspace(1.0, 0.0, 101)[:-1])


def variants(n_topics: int) -> dict:
    """Settings and changes of the learner of each variant, by part."""
    grid = {"temperatures": exponential_temperatures(HIGHEST)}
    vt, lvt = {"tempering": "global", **grid}, {"tempering": "local", **grid}
    return {
        "partition": {
            "no tempering": ({"tempering": "none"}, None),
            "prior of the entropy of words (default)": (vt, None),
            "prior of the topics, 1/K": (vt | {"partition_function_prior": 1.0 / n_topics}, None),
            "equation 15": (vt | {"partition_function_prior": 1e8}, None),
            "equation 15 at the frequencies of words": (vt | {"partition_function_prior": "frequencies"}, None),
        },
        "local": {
            "100 temperatures (default)": (lvt, None),
            "10 temperatures": (lvt | {"temperatures": exponential_temperatures(HIGHEST, 10)}, None),
            "1000 temperatures": (lvt | {"temperatures": exponential_temperatures(HIGHEST, 1000)}, None),
            "1/T uniform": (lvt | {"temperatures": beta_grid(1.0, 1.0)}, None),
            "1/T from beta(5, 1)": (lvt | {"temperatures": beta_grid(5.0, 1.0)}, None),
            "1/T from beta(1, 5)": (lvt | {"temperatures": beta_grid(1.0, 5.0)}, None),
            "own normaliser": (lvt, own_normaliser),
        },
    }


def fitted(corpus: Corpus, n_topics: int, seed: int, settings: dict, change, n_passes: int) -> dict:
    """Measures of the topics of a fit by the paper's steps, whose learner was changed before its first minibatch."""
    settings = {**RANDOM, "max_iter": n_passes, **settings}
    own = VariationalTemperingLDA(n_topics, random_state=seed, **settings)._settings()
    generator, train = np.random.default_rng(seed), corpus.train
    with Clock() as clock:
        totals = Totals.of_corpus(train, n_topics)
        passes = own.passes(totals, generator)
        learner = own.learner(passes, totals)
        if change is not None:
            change(learner, train)
        LearningRun(learner, MemoryCorpus(train, PAPER["batch_size"], generator), passes).run()
    rho = [float(np.median(values)) for values in learner.trace]
    found = judged(corpus, learner.topics.means(), clock.cpu)
    del found["topics"]
    return {**found, "inverse_temperature": [rho[int(share * (len(rho) - 1))] for share in (0.0, 0.1, 0.5, 1.0)]}


def from_continuum(train, n_topics: int) -> float:
    """Largest difference of E[1/T] from that of a continuum, over documents of short to long ones and many energies."""
    shares, prior = frequencies(train), np.full(n_topics, 1.0 / n_topics)
    reference = prior_of_entropy(float(entr(shares).sum()) + ENTROPY_MARGIN, train.shape[1], prior)
    lengths = np.repeat(np.quantile(document_lengths(train), [0.05, 0.5, 0.95]), 30)
    energies = lengths * np.tile(np.linspace(-9.5, -6.0, 30), 3)

    def found(n_temperatures):
        grid = exponential_temperatures(HIGHEST, n_temperatures)
        local = LocalTemperatures(grid, log_partition(grid, train.shape[1], prior, reference))
        return local.of_documents(energies, lengths)

    return float(np.abs(found(100) - found(10_000)).max())


def predictions(corpus: Corpus, n_topics: int, seed: int) -> dict:
    """Nats per held-out word of the default fit, with topic proportions at several temperatures."""
    model = VariationalTemperingLDA(n_topics, random_state=seed).fit(corpus.train)
    topics, prior = model._topics, np.full(n_topics, 1.0 / n_topics)
    n_words, lengths = topics.n_words, document_lengths(corpus.observed)
    reference = prior_of_entropy(float(entr(frequencies(corpus.train)).sum()) + ENTROPY_MARGIN, n_words, prior)
    grid = exponential_temperatures(HIGHEST)
    local = LocalTemperatures(grid, log_partition(grid, n_words, prior, reference))
    energies = collapsed_energies(fit_halves(corpus, topics, prior, 1.0), topics)
    rho = local.of_documents(energies, lengths)
    of = {
        "T = 1": 1.0,
        "inferred for each document": rho,
        "given": 1.0 / GIVEN,
        "given, as inferred": float(rho.mean()),
    }
    found = {name: nats(corpus, fit_halves(corpus, topics, prior, value), topics) for name, value in of.items()}
    found["T = 1, five iterations"] = nats(corpus, fit_halves(corpus, topics, prior, 1.0, 5), topics)
    return {"nats": found, "inferred inverse temperatures": np.quantile(rho, [0.05, 0.5, 0.95]).tolist()}


def fit_halves(corpus: Corpus, topics, prior, rho, max_iter: int = 100) -> LocalStep:
    """Topic proportions of the observed halves, with the tolerance of ``transform``."""
    return local_step(corpus.observed, topics, prior, rho, max_iter=max_iter, tol=1e-2)


def nats(corpus: Corpus, step: LocalStep, topics) -> float:
    """Log probability of a held-out token."""
    proportions = step.gamma / step.gamma.sum(axis=1, keepdims=True)
    total = log_likelihoods(corpus.held_out, topics.mean_weights(), proportions).sum()
    return float(total / document_lengths(corpus.held_out).sum())


def means(runs: list[dict]) -> dict:
    """Means over seeds of the measures of a variant."""
    return {key: np.mean([run[key] for run in runs], axis=0).tolist() for key in runs[0]}


def verdicts(results: dict) -> dict:
    """For each part, the least gain of each variant over the default one, and whether one gains on every corpus."""
    out, least = {}, BARS["nats that a variant gains on every corpus, more than"]
    for part in ("partition", "local", "prediction"):
        tables = [
            {name: found["nats"] for name, found in corpus[part].items()}
            if part != "prediction"
            else corpus[part]["nats"]
            for corpus in results.values()
            if part in corpus
        ]
        if not tables:
            continue
        default = next(name for name in tables[0] if "default" in name or name == "T = 1")
        gains = {
            name: [round(table[name] - table[default], 4) for table in tables] for name in tables[0] if name != default
        }
        out[part] = {"gains": gains, "better on every corpus": [name for name in gains if min(gains[name]) > least]}
    return out


def main() -> None:
    given = parser(__doc__, seeds=2)
    given.add_argument("--corpora", nargs="+", choices=list(FILES), default=["kos", "nips", "arxiv"])
    given.add_argument("--parts", nargs="+", default=["partition", "local", "prediction"])
    given.add_argument("--data", help="folder of the corpora (default: $SUBANNEAL_DATA)")
    arguments = given.parse_args()
    n_seeds, results = 1 if arguments.quick else arguments.seeds, {}
    for name in arguments.corpora:
        corpus = load(name, arguments.data, arguments.quick)
        if corpus is None:
            note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
            continue
        n_topics, n_passes = (5, 2) if arguments.quick else (N_TOPICS[name], PASSES[name])
        result = results.setdefault(name, {"topics": n_topics, "passes": n_passes})
        for part, of in variants(n_topics).items():
            for variant, (settings, change) in of.items() if part in arguments.parts else ():
                runs = [fitted(corpus, n_topics, seed, settings, change, n_passes) for seed in range(n_seeds)]
                found = result.setdefault(part, {})[variant] = means(runs)
                shown = ", ".join(f"{key} {np.round(value, 3)}" for key, value in found.items())
                note(f"{name}, {variant}: {shown}")
        if "local" in arguments.parts:
            result["difference of E[1/T] from a continuum"] = from_continuum(corpus.train, n_topics)
            note(f"{name}, from a continuum: {result['difference of E[1/T] from a continuum']:.2g}")
        if "prediction" in arguments.parts:
            runs = [predictions(corpus, n_topics, seed) for seed in range(n_seeds)]
            result["prediction"] = {
                "nats": means([run["nats"] for run in runs]),
                **means([{"inferred inverse temperatures": run["inferred inverse temperatures"]} for run in runs]),
            }
            note(f"{name}, predictions: {result['prediction']}")
    if not results:
        skip("lda_latent_temperatures", arguments, "no corpus was found")
        return
    report("lda_latent_temperatures", arguments, results, bars=BARS, verdicts=verdicts(results))


if __name__ == "__main__":
    main()
