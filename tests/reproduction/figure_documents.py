"""Tiny documents of the benchmarks that figures are drawn from: the form that these print, and made-up numbers."""

from __future__ import annotations

import numpy as np

MACHINE = {"cpu": "a processor", "cores": 2, "python": "3.11", "versions": {"numpy": "2.0"}}
SAMPLERS = ("none", "STT", "TT", "SPT", "PT")
ABLATED = ("none", "none, 13 moves a draw", "none, steps of the lowest level", "STT", "STT, never accepted", "TT")


def spread(*values: float) -> dict:
    values = [float(value) for value in values]
    return {
        "median": float(np.median(values)),
        "mean": float(np.mean(values)),
        "sd": float(np.std(values)),
        "min": min(values),
        "max": max(values),
        "values": values,
    }


def two_urn() -> dict:
    errors = {
        "prior": (0.9, 0.95),
        "anneal energy": (0.7, 0.9),
        "prior + Gibbs": (0.5, 0.8),
        "sequential": (0.25, 0.25),
        "sequential + Gibbs": (0.15, 0.15),
        "anneal stepsize": (0.07, 0.15),
        "anneal subsample": (0.08, 0.08),
    }
    results = {
        size: {name: {"total_variation": of[at], "floor": 0.01} for name, of in errors.items()}
        for at, size in enumerate(("100", "200"))
    }
    results["100"]["prior"]["exact"] = 0.9001
    shares = {name: np.full((20, 20), 1 / 400).tolist() for name in (*errors, "posterior")}
    bars = {"gaps_in_floors": {"100": [60, 10, 7], "200": [60, 10, 1]}, "annealed_stable": True}
    return {"results": results, "bars": bars, "n_balls": 200, "shares": shares}


def mixing_time() -> dict:
    results = {
        "cold": {"40": {"steps": 100.0}, "80": {"steps": 400.0}},
        "annealed": {"50": {"passes": 4.0}, "100": {"passes": 4.2}},
        "exponents": {"cold": 2.0, "annealed": 1.07},
    }
    return {"results": results, "bars": {"cold": True, "annealed": True}}


def energy_barrier() -> dict:
    annealed = {"log_time": [5.0, 6.0], "power_of_n": 1.0, "power_of_target": 1.01}
    cold = {"log_time": [20.0, 40.0], "rate_over_delta": 1.0, "curve": {"sizes": [250, 2000], "log_time": [5.0, 40.0]}}
    return {"results": {"barrier 1 gaps": annealed, "cold": cold}, "arguments": {"sizes": [1000, 2000]}}


def strategies(*tables: str) -> dict:
    results = {}
    for table in tables:
        runs, summary = [], []
        for bound in (1.0, 3.0):
            for number, strategy in enumerate(("prior", "sequential", "anneal")):
                scores = [number + seed + bound for seed in range(2)]
                runs += [
                    {"strategy": strategy, "bound": bound, "seed": seed, "score": score, "averaged": score + 1.0}
                    for seed, score in enumerate(scores)
                ]
                summary.append(
                    {
                        "strategy": strategy,
                        "bound": bound,
                        "mean": np.mean(scores),
                        "sd": 0.5,
                        "sd_same_split": 0.1,
                        "seconds": 4.0,
                    }
                )
        results[table] = {"shape": [1000, 4], "summary": summary, "runs": runs}
    return {"results": results}


def nrmm_samplers(*names: str, toy: bool = False) -> dict:
    keys = ("max_log_joint", "ess_n_clusters", "ess_a_second", "mean_log_ratio", "seconds_an_iteration")
    results = {
        name: {
            **{key: spread(-10.0 - number, -11.0 - number) for key in keys},
            "mean_n_clusters": spread(13.0),
            "runs_that_reach_best": 1,
            "seconds_to_best": spread(0.5, 2.0),
            "curve": {"seconds": [0.01, 0.1, 1.0], "log_joint": [-90.0, -20.0, -11.0 - number]},
        }
        for number, name in enumerate(names)
    }
    data = {"points": [[0.0, 1.0], [2.0, 3.0]], "labels": [0, 1]} if toy else {}
    return {"results": results, "best_log_joint": -10.0, "arguments": {"seeds": 2, "seconds": 1.0}, **data}


def nrmm_exactness() -> dict:
    ratios = {"gibbs": 0.9, "a-new-one": 1.0, "tree-guided": 0.8, "tree-guided-paper": 9.0}
    return {
        "results": [
            {"sampler": name, "ratio": ratio, "mean_clusters": 2.0, "expected_clusters": 2.5}
            for name, ratio in ratios.items()
        ]
    }


def nrmm_density() -> dict:
    keys = ("log_density", "log_density_ahead", "n_clusters", "cpu_seconds", "ari")
    return {"results": {"iris": {"TreeGuidedNRMM, dp": {key: spread(1.0, 2.0) for key in keys}}}}


def two_gaussians() -> dict:
    grid = np.linspace(-6, 6, 7)
    bound = -((grid[:, None] + 3) ** 2) - (grid - 3) ** 2
    surfaces = {t: {"maxima": n, "bound": bound.tolist()} for t, n in (("20.0", 1), ("1.0", 2))}
    ascents = {"T = 1": {"path": [[3, -3], [2, -2]], "bound": -9.0}, "annealed": {"path": [[3, -3]], "bound": -5.0}}
    return {"results": {"grid": grid.tolist(), "surfaces": surfaces, "ascents": ascents}}


def lda_temperatures() -> dict:
    family = {"passes": 6, "curves": {}}
    for number, method in enumerate(("SVI", "AVI", "VT", "LVT", "AVI, tuned")):
        family[method] = {"nats": spread(-7.5 + 0.01 * number), "cpu": spread(3.0)}
        family["curves"][method] = [
            [{"cpu": 1.0, "nats": -8.0}, {"cpu": 3.0, "nats": -7.5, "inverse_temperature": [0.5, 1.0]}]
        ]
    return {"results": {"nips": {"default": family}}}


def lda_completion() -> dict:
    curves = {
        "default": [[{"cpu": 1.0, "nats": -7.0}]],
        "gensim": [[{"cpu": 1.0, "nats": -9.0}, {"cpu": 2.0, "nats": -8.0}]],
    }
    last = {name: {"nats": spread(-8.0), "cpu": spread(2.0)} for name in curves}
    return {"results": {"kos": {"documents": 400, "topics": 5, "last": last, "curves": curves}}}


def factorial(names, side: int, **more) -> dict:
    course = {"bounds": [-3.0, -2.0, -1.5], "temperatures": [5.0, 2.0, 1.0]}
    first = {name: course | {"components": np.zeros((8, side**2)).tolist()} for name in names}
    keys = ("recovered", "bound", "held_out", "held_out_over_VI", "cpu_seconds")
    return {"results": {name: {key: spread(1.0, 2.0) for key in keys} for name in names}, "first_seed": first | more}


def fmm_toy() -> dict:
    methods = ("VI", "AVI, 10 iterations", "AVI, 100 iterations", "VT")
    return factorial([f"{name}, cyclic" for name in methods], 4, truth={"components": np.eye(8, 16).tolist()})


def fmm_faces() -> dict:
    return factorial(("VI", "AVI, 5 iterations", "AVI, 50 iterations", "VT", "default"), 32)


def tempering_figures(setting: str, *keys: str, samplers=(*SAMPLERS, "STT, printed")) -> dict:
    trace = {"draws": [10, 20], "work": [50.0, 100.0], "seconds": [1.0, 2.0]}
    figures = (
        "ess_a_second",
        "ranked_ess_a_second",
        "seconds_a_draw",
        "work_a_draw",
        "n_draws",
        "transition_rate",
        "variance_ratio",
        "largest_rhat",
    )
    cell = {
        name: {
            **{key: spread(2.0 + number) for key in figures},
            "rhat": spread(1.05 + 0.1 * number),
            "traces": [trace | {"rhat": [2.0 + number, 1.05 + number]}],
        }
        for number, name in enumerate(samplers)
    }
    return {"benchmark": "tempering_figures", "results": {"cells": {key: {setting: cell} for key in keys}}}


def tempering_guided() -> dict:
    figures = {"rhat": spread(1.01), "ess_min_a_second": spread(3.0), "ratio": {"ess_min_a_second": spread(1.5, 2.0)}}
    return {"results": {"features_3": {"summary": {"guided": figures}}}, "arguments": {"rows": 64}}


def tempered_mixtures() -> dict:
    def of(*rates):
        return {"runs": [{"swap_rates": rates}], "held_out": spread(-7.0), "less_one": spread(0.1)}

    return {"results": {"planted": {"one": of(), "powers": of(0.1, 0.2)}}, "arguments": {"seconds": 1.0}}


def gp_convergence() -> dict:
    of = {"chains_in_one_mode": spread(1.0), "share_of_the_short": spread(0.5)}
    modes = {name: of for name in ("none", "none, as long", "pt", "spt")}
    return {"results": {"modes": {**modes, "share_of_the_short_by_a_grid": 0.45}}}


def gp_regression() -> dict:
    one = {key: spread(1.0, 2.0) for key in ("log_density", "coverage", "cpu_seconds")}
    rows = {"training": 50, "held_out": 9, "features": 3}
    return {"results": {"yacht": {"ours": one, "scikit-learn": one, "gain": spread(0.1), "rows": rows}}}


COMPARED = ("gibbs", "split-merge", "tree-guided", "tree-guided-paper")
DOCUMENTS = {
    "two_urn": two_urn(),
    "mixing_time": mixing_time(),
    "energy_barrier": energy_barrier(),
    "strategies": strategies("hospitals", "kdd"),
    "crosscat_paper": strategies("hospitals"),
    "crosscat_10000": strategies("hospitals", "kdd_10000", "census_income_10000"),
    "crosscat_100000": strategies("kdd_100000", "census_income"),
    "crosscat_1000000": strategies("kdd_1000000", "census_income_1000000"),
    **{f"nrmm_toy_{process}": nrmm_samplers(*COMPARED, toy=True) for process in ("dp", "nggp")},
    **{f"nrmm_power-law_{process}": nrmm_samplers(*COMPARED) for process in ("dp", "nggp")},
    **{f"nrmm_nips_{process}": nrmm_samplers(*COMPARED) for process in ("dp", "nggp")},
    "nrmm_sweep_global": nrmm_samplers("tree-guided-paper, 5 global", "tree-guided-paper, 20 global"),
    "nrmm_sweep_local": nrmm_samplers("tree-guided-paper, 1 local", "tree-guided-paper, 2 local"),
    "nrmm_exactness": nrmm_exactness(),
    "nrmm_density": nrmm_density(),
    "two_gaussians": two_gaussians(),
    "lda_temperatures": lda_temperatures(),
    "lda_completion": lda_completion(),
    "fmm_toy": fmm_toy(),
    "fmm_faces": fmm_faces(),
    **{f"tempering_gp_{n}": tempering_figures("paper", f"gp HMC 512 {n}") for n in (10, 15)},
    "tempering_gp_5": tempering_figures("adapted", "gp HMC 512 20", samplers=("none", "STT", "SPT")),
    "tempering_gp_20": tempering_figures("paper", "gp HMC 512 20"),
    "tempering_gp_mh": tempering_figures("paper", "gp MH 512 5", "gp MH 512 20"),
    "tempering_mean_hmc": tempering_figures("paper", "mean HMC 1024 10", "mean HMC 1024 50"),
    "tempering_mean_mh": tempering_figures("adapted", "mean MH 256 10", samplers=("none", "STT", "SPT")),
    "tempering_gp_hmc_rows": tempering_figures("paper", "gp HMC 64 15"),
    "tempering_gp_1024": tempering_figures("paper", "gp HMC 1024 15"),
    "tempering_gp_mh_rows": tempering_figures("paper", "gp MH 64 20"),
    "tempering_gp_mh_1024": tempering_figures("paper", "gp MH 1024 20"),
    "tempering_mean_rows": tempering_figures("paper", "mean HMC 64 50"),
    "tempering_ablation": tempering_figures("ablation", "gp HMC 256 20", samplers=ABLATED),
    "tempering_guided": tempering_guided(),
    "tempered_mixtures": tempered_mixtures(),
    "gp_convergence": gp_convergence(),
    "gp_regression": gp_regression(),
}  # fmt: skip
DOCUMENTS = {
    name: {"machine": MACHINE, "command": [f"{name}.py"], "cpu_seconds": 1.0} | document
    for name, document in DOCUMENTS.items()
}
