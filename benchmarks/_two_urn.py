"""The two-urn model of the subsample-annealing paper: balls of two colours, each drawn from one of two urns.

A ball is from the left urn with probability P; each urn has a share of red balls with a Beta(A, A) prior, integrated
out. Balls of a colour are exchangeable, so the state consists of the numbers of red and of blue balls on the left. Many
runs advance simultaneously: counts (2 colours, 2 urns, n_runs), red and left first.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import betaln, gammaln, logsumexp
from scipy.stats import binom

P, A, RED_SHARE, N_BINS = 0.45, 0.5, 0.4, 20
# Runs that advance simultaneously; their counts fit into the cache.
BLOCK = 20_000


def colours(n_balls: int) -> tuple[int, int]:
    """Numbers of red and of blue balls."""
    return round(RED_SHARE * n_balls), n_balls - round(RED_SHARE * n_balls)


def log_posterior(red: int, blue: int) -> np.ndarray:
    """Log probability (red + 1, blue + 1) of x red and y blue balls on the left."""
    x, y = np.arange(red + 1)[:, None], np.arange(blue + 1)
    ways = -gammaln(x + 1) - gammaln(red - x + 1) - gammaln(y + 1) - gammaln(blue - y + 1)
    urns = betaln(A + x, A + y) + betaln(A + red - x, A + blue - y)
    out = ways + urns + (x + y) * np.log(P) + (red + blue - x - y) * np.log1p(-P)
    return out - logsumexp(out)


def prior(red: int, blue: int) -> np.ndarray:
    """Probability (red + 1, blue + 1) before the colours are seen."""
    return np.outer(binom.pmf(np.arange(red + 1), red, P), binom.pmf(np.arange(blue + 1), blue, P))


def chance_left(own, other_own, left, right, power=1.0):
    """Of a ball: ``own`` of its colour are on the left without it, ``other_own`` on the right, and so many in all."""
    go, stay = (A + own) / (2 * A + left), (A + other_own) / (2 * A + right)
    if power != 1.0:
        go, stay = go**power, stay**power
    return P * go / (P * go + (1 - P) * stay)


def transition(red: int, blue: int) -> sparse.csr_array:
    """Transition matrix of a Gibbs step of a random ball; state x (blue + 1) + y."""
    n = red + blue
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(red + 1), np.arange(blue + 1), indexing="ij"))
    here, moves, stays = np.arange(len(x)), [], np.zeros(len(x))
    for own, other, total, step in ((x, y, red, blue + 1), (y, x, blue, 1)):
        # A ball of this colour leaves the left urn, or the right one.
        for count, is_left in ((own, 1), (total - own, 0)):
            # Without such a ball the probability is arbitrary, because it is multiplied by 0.
            rest, left = np.maximum(own - is_left, 0), np.maximum(own + other - is_left, 0)
            to_left = chance_left(rest, np.maximum(total - 1 - rest, 0), left, np.maximum(n - 1 - left, 0))
            moved = count / n * np.where(is_left, 1 - to_left, to_left)
            stays += count / n - moved
            at = np.flatnonzero(count)
            moves.append((moved[at], here[at], here[at] + (-step if is_left else step)))
    values, rows, columns = (np.concatenate(part) for part in zip(*moves, (stays, here, here), strict=True))
    return sparse.csr_array((values, (rows, columns)), shape=(len(x), len(x)))


def bins(n: int) -> np.ndarray:
    """The bin of each count 0..n, as a share of n."""
    return np.minimum(np.arange(n + 1) * N_BINS // (n + 1), N_BINS - 1)


def binned(probabilities: np.ndarray) -> np.ndarray:
    """Probabilities of the counts on the grid of shares."""
    by_red = np.zeros((N_BINS, probabilities.shape[1]))
    np.add.at(by_red, bins(len(probabilities) - 1), probabilities)
    out = np.zeros((N_BINS, N_BINS))
    np.add.at(out, (slice(None), bins(probabilities.shape[1] - 1)), by_red)
    return out


def total_variation(one: np.ndarray, two: np.ndarray) -> float:
    return float(0.5 * np.abs(one - two).sum())


def noise_floor(exact: np.ndarray, n_runs: int) -> float:
    """Mean total variation of the same number of independent draws from the exact distribution."""
    return float(0.5 * np.sqrt(2 * exact * (1 - exact) / (np.pi * n_runs)).sum())


# --- Strategies -------------------------------------------------------------------------------------------------


def start_from_prior(totals, n_runs, rng):
    """All balls assigned, colours unseen."""
    left = np.array([rng.binomial(total, P, n_runs) for total in totals], np.float32)
    return np.stack([left, np.array(totals, np.float32)[:, None] - left], axis=1)


def take(counts, n_assigned, rng):
    """Remove a random assigned ball in each run; returns whether it is blue."""
    place = rng.random(counts.shape[2], np.float32) * np.float32(n_assigned)
    (red_left, red_right), (blue_left, _) = counts
    before = red_left + red_right
    is_blue = place >= before
    is_right = place >= np.where(is_blue, before + blue_left, red_left)
    _change(counts, is_blue, is_right, -1)
    return is_blue


def put(counts, is_blue, rng, power=1.0):
    """Assign a ball of this colour in each run."""
    (red_left, red_right), (blue_left, blue_right) = counts
    own, other_own = np.where(is_blue, blue_left, red_left), np.where(is_blue, blue_right, red_right)
    left = chance_left(own, other_own, red_left + blue_left, red_right + blue_right, np.float32(power))
    _change(counts, is_blue, rng.random(counts.shape[2], np.float32) >= left, 1)


def _change(counts, is_blue, is_right, by):
    for colour, of_colour in enumerate((~is_blue, is_blue)):
        counts[colour, 0] += np.float32(by) * (of_colour & ~is_right)
        counts[colour, 1] += np.float32(by) * (of_colour & is_right)


def put_new(counts, totals, rng):
    """Assign a random ball that is not assigned, in each run."""
    rest = [np.float32(total) - counts[colour].sum(axis=0) for colour, total in enumerate(totals)]
    put(counts, rng.random(counts.shape[2], np.float32) * (rest[0] + rest[1]) >= rest[0], rng)


def gibbs(counts, n_steps, rng, power=lambda _: 1.0):
    """Steps at full data; ``power`` of the likelihood as a function of progress in (0, 1]."""
    n = int(counts[:, :, 0].sum())
    for step in range(n_steps):
        put(counts, take(counts, n, rng), rng, power((step + 1) / n_steps))


def sequential(totals, n_runs, rng):
    """Every ball assigned once, in random order."""
    counts = np.zeros((2, 2, n_runs), np.float32)
    for _ in range(sum(totals)):
        put_new(counts, totals, rng)
    return counts


def anneal_subsample(totals, n_runs, passes, rng):
    """The subsample grows by one ball, and ``passes`` - 1 leave and enter (on average, if it is no whole number)."""
    counts, n_churns = np.zeros((2, 2, n_runs), np.float32), 0
    for n_assigned in range(1, sum(totals) + 1):
        put_new(counts, totals, rng)
        while n_churns < (passes - 1) * n_assigned:
            take(counts, n_assigned, rng)
            put_new(counts, totals, rng)
            n_churns += 1
    return counts


def anneal_stepsize(totals, n_runs, n_steps, rng):
    """At full data, handfuls of balls of a colour move at once, n_steps / step of them, by a Metropolis rule.

    A ball is picked; if there are f like it in its urn and g in the other, k of them move with probability
    min(1, p(after) / p(before) (g + k) / f), which leaves the posterior as it is for every k.
    """
    counts, law = start_from_prior(totals, n_runs, rng), log_posterior(*totals)
    now = law[counts[0, 0].astype(int), counts[1, 0].astype(int)]
    for step in range(n_steps):
        k = round(n_steps / (step + 1))
        place = rng.random(n_runs) * sum(totals)
        is_blue = place >= totals[0]
        is_right = place >= np.where(is_blue, totals[0] + counts[1, 0], counts[0, 0])
        f, g = (np.where(is_blue, counts[1, u], counts[0, u]) for u in (0, 1))
        f, g = np.where(is_right, g, f), np.where(is_right, f, g)
        move = np.where(f >= k, np.where(is_right, k, -k), 0)
        red, blue = (counts[0, 0] + move * ~is_blue).astype(int), (counts[1, 0] + move * is_blue).astype(int)
        after = law[red, blue]
        accepted = (f >= k) & (np.log1p(-rng.random(n_runs)) < after - now + np.log((g + k) / np.maximum(f, 1)))
        counts[0, 0], counts[1, 0] = np.where(accepted, red, counts[0, 0]), np.where(accepted, blue, counts[1, 0])
        counts[:, 1] = np.array(totals)[:, None] - counts[:, 0]
        now = np.where(accepted, after, now)
    return counts


def run(strategy: str, n_balls: int, n_runs: int, passes: float, rng: np.random.Generator) -> np.ndarray:
    """Shares (N_BINS, N_BINS) of the runs that end in each bin, after ``passes`` assignments for each ball."""
    totals, steps = colours(n_balls), round((passes - 1) * n_balls)
    out = np.zeros((N_BINS, N_BINS))
    for n in [BLOCK] * (n_runs // BLOCK) + [n_runs % BLOCK] * (n_runs % BLOCK > 0):
        if strategy == "anneal stepsize":
            counts = anneal_stepsize(totals, n, steps, rng)
        elif strategy == "anneal subsample":
            counts = anneal_subsample(totals, n, passes, rng)
        else:
            counts = (sequential if strategy.startswith("sequential") else start_from_prior)(totals, n, rng)
            if strategy not in ("prior", "sequential"):
                gibbs(counts, steps, rng, (lambda share: share) if strategy == "anneal energy" else lambda _: 1.0)
        places = [bins(total)[counts[colour, 0].astype(int)] for colour, total in enumerate(totals)]
        np.add.at(out, tuple(places), 1)
    return out / n_runs
