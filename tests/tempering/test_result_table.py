"""What is printed of a result: a table of the parameters, the log evidence, and what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.tempering import sample

FEW = {"n_chains": 3, "n_draws": 60, "random_state": 0}


def rows(result):
    """The numbers of each row of the table, by the name of the element."""
    lines = str(result).splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:2] == ["mean", "sd"])
    found = {}
    for line in lines[head + 1 :]:
        name, *cells = line.rsplit(maxsplit=5)
        if len(cells) < 5 or not cells[0].lstrip("-")[:1].isdigit():
            break
        found[name] = [float(cell) for cell in cells]
    return found


def test_elements_have_their_moments():
    space = {"rate": "positive", "share": ("simplex", 3), "effects": 2}

    def density(rate, share, effects):
        return 2.0 * np.log(rate) - rate + np.log(share).sum() - 0.5 * np.sum(effects**2)

    result = sample(density, parameters=space, reference=(0.0, 3.0), **FEW)
    found = rows(result)
    assert list(found) == ["rate", "share[0]", "share[1]", "share[2]", "effects[0]", "effects[1]"]
    for name, values in {"rate": result.parameters["rate"], "share[2]": result.parameters["share"][..., 2]}.items():
        expected = [values.mean(), values.std(), *np.quantile(values, [0.05, 0.95])]
        np.testing.assert_allclose(found[name][:4], expected, rtol=1e-3)
    # Of real parameters the coordinates are the values.
    rhat = result.potential_scale_reduction()[0]
    np.testing.assert_allclose([found[f"effects[{k}]"][4] for k in range(2)], rhat[-2:], atol=1e-3)
    first, second = str(result).splitlines()[:2]
    assert first.startswith("3 chains of 60 draws of 5 coordinates") and "(powers of the likelihood)" in first
    assert f"{result.round_trips.min()} to {result.round_trips.max()} round trips" in first
    assert second.startswith(f"log evidence {result.log_evidence:.3f}, standard error")
    assert repr(result) == str(result)


def test_of_many_elements_some_are_listed():
    result = sample(lambda x: -0.5 * np.sum(x**2), initial=np.zeros(23), **FEW)
    assert list(rows(result)) == [f"theta[{k}]" for k in range(20)]
    assert "and 3 more, in `parameters` and `draws`" in str(result)


def test_problems_are_said():
    result = sample(lambda x: -0.5 * np.sum(x**2), reference=(0.0, 2.0), n_parameters=1, **FEW)
    assert not result.problems and str(result).splitlines()[-1].startswith("theta[0]")
    apart = replace(result, draws=result.draws + np.arange(3.0)[:, None, None] * 9.0, parameters={})
    assert str(apart).splitlines()[-1] == apart.problems[-1] and "The chains disagree" in str(apart)
    with pytest.warns(ConvergenceWarning, match="The chains disagree"):
        apart.warn()


def test_a_chain_alone_has_no_rhat_and_a_level_alone_no_ladder():
    result = sample(lambda x: -0.5 * np.sum(x**2), reference=(0.0, 2.0), n_parameters=1, **FEW | {"n_chains": 1})
    (line,) = [line for line in str(result).splitlines() if line.startswith("theta[0]")]
    assert len(line.split()) == 5
    betas = result.inverse_temperatures[:, :1]
    alone = replace(result, inverse_temperatures=betas, round_trips=np.array([-1]), levels="one", log_evidence=np.nan)
    assert str(alone).splitlines()[0].endswith("without tempering") and "log evidence" not in str(alone)


def test_without_draws_nothing_is_listed():
    result = sample(lambda x: -0.5 * np.sum(x**2), reference=(0.0, 2.0), n_parameters=1, **FEW)
    none = replace(result, draws=result.draws[:, :0], log_density=result.log_density[:, :0], parameters={})
    assert str(none).startswith("3 chains of 0 draws") and "theta" not in str(none) and "more" not in str(none)
