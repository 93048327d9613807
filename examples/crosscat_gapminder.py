"""Gapminder: a table with many missing cells
==========================================

This example shows the queries of CrossCat on a table of 225 countries x 319 indicators (Gapminder), in which 44 % of
the cells are missing.

The example finds dependent indicators, imputes missing cells with their uncertainty, and finds similar countries and
anomalous cells.
"""

import numpy as np
import pandas as pd
from _example import Example

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay

INDICATORS = [
    "life expectancy at birth", "children per woman", "income per person", "internet users (per 100 people)",
    "co2 emission per person (metric tons)", "physicians per 1000 people", "urban population (% of total)",
    "gini index", "democracy, polityiv", "suicide, age adjusted, per 100 000 standard population",
]  # fmt: skip


def main() -> None:
    example = Example(__doc__, "gapminder", "gapminder_iventure.csv")
    X = pd.read_csv(example.data, index_col="country")
    print(f"{X.shape[0]} countries x {X.shape[1]} indicators, {X.isna().mean().mean():.0%} of the cells missing.")
    # A tenth of the observed cells is hidden to measure the error of the imputation.
    hidden = X.notna() & (np.random.default_rng(0).random(X.shape) < 0.1)
    model = CrossCat(schedule=SubsampleAnneal(passes=50), n_chains=4, n_draws=5, n_jobs=example.n_jobs, random_state=0)
    model.fit(X.mask(hidden))
    # Each of the 319 columns depends most on its near-copies. The dependence among a few columns is therefore measured
    # by a separate model of these columns.
    few = CrossCat(schedule=SubsampleAnneal(passes=200), n_chains=4, n_jobs=example.n_jobs, random_state=0)
    few.fit(X[INDICATORS])

    example.heading("the largest views of the representative draw")
    views = model.column_labels_[model.first_parts_]
    for view in range(5):
        members = X.columns[views == view]
        print(
            f"{len(members):3} indicators, {model.view_labels_[:, view].max() + 1} clusters of countries: "
            f"{'; '.join(members[:5])}; ..."
        )
    print(
        f"{model.n_views_} views; number of views in each chain:",
        *[len(np.unique(draws[-1])) for draws in model.posterior_column_labels_],
    )

    example.heading("imputation of the hidden cells")
    filled, uncertainty = model.impute(X.mask(hidden), return_uncertainty=True)
    spread = X.mask(hidden).std()
    error = ((filled - X) / spread).to_numpy()[hidden]
    by_mean = ((X.mask(hidden).mean() - X) / spread).to_numpy()[hidden]
    print(f"{hidden.sum().sum()} cells. Median absolute error, in standard deviations of the column:")
    print(f"{np.median(np.abs(error)):.2f}, and {np.median(np.abs(by_mean)):.2f} for the mean of the column.")
    covered = np.abs((filled - X).to_numpy()) < 2.0 * uncertainty
    print(f"{covered[hidden].mean():.0%} are within two standard deviations of the imputed value. Some of them:")
    column = X.columns.get_loc(INDICATORS[0])
    for country in X.index[hidden.iloc[:, column]][:5]:
        row = X.index.get_loc(country)
        print(
            f"  {INDICATORS[0]}, {country}: {filled.iloc[row, column]:.1f} +/- {uncertainty[row, column]:.1f}, "
            f"true value {X.iloc[row, column]:.1f}"
        )

    example.heading("prediction of one indicator")
    predicted = pd.Series(model.predict_column("children per woman", X), X.index)
    both = pd.concat([predicted, X["children per woman"]], axis=1, keys=["predicted", "observed"]).dropna()
    print(f"Children per woman from all other columns: correlation {both.corr().iloc[0, 1]:.3f}")

    example.heading("relatedness of ten indicators, 0 to 1")
    related = pd.DataFrame(few.relatedness_matrix(random_state=0), INDICATORS, range(len(INDICATORS)))
    print(related.round(2).rename(lambda name: name[:40]).to_string())
    life, children = INDICATORS[:2]
    alone = few.mutual_information(life, children, random_state=0)
    given = few.mutual_information(life, children, given="income per person", random_state=0)
    print(
        f"\nLife expectancy and children per woman share {alone.value:.2f} +/- {alone.standard_error:.3f} nats, and "
        f"{given.value:.2f} +/- {given.standard_error:.3f} given income."
    )
    dependence = pd.DataFrame(model.dependence_, X.columns, X.columns)[life].drop(life)
    print("In the model of all 319 indicators, these share a view with life expectancy in every draw:")
    print("; ".join(dependence.index[dependence == 1.0][:8]))

    example.heading("densities and samples given some cells")
    asked = pd.DataFrame({life: [50.0, 65.0, 80.0]}).reindex(columns=INDICATORS)
    alone, given = few.score_samples(asked), few.score_samples(asked, given={children: 6.0})
    for years, before, after in zip(asked[life], alone, given, strict=True):
        print(f"log p(life expectancy = {years:.0f}) = {before:.2f}   given six children per woman {after:.2f}")
    samples = few.sample(500, given={children: 6.0}, random_state=0)
    for name in INDICATORS:
        low, middle, high = samples[name].quantile([0.1, 0.5, 0.9])
        print(f"  {name[:40]}: {middle:.1f} ({low:.1f} to {high:.1f}); all countries {X[name].median():.1f}")

    example.heading("similar countries")
    for country in ("Germany", "Brazil", "Kenya"):
        for columns in (None, ["life expectancy at birth", "infant mortality rate"]):
            alike = model.row_similarity(X.index.get_loc(country), np.arange(len(X)), columns=columns)[0]
            nearest = pd.Series(alike, X.index).drop(country).nlargest(4)
            about = "in all views" if columns is None else "in life expectancy and infant mortality"
            print(f"{country}, {about}: " + ", ".join(f"{name} {share:.2f}" for name, share in nearest.items()))

    example.heading("anomalous cells")
    surprisal = pd.DataFrame(model.surprisal(X), X.index, X.columns)
    excess = (surprisal - surprisal.median()).stack().nlargest(8)
    for (country, name), nats in excess.items():
        print(f"{nats:5.1f} nats  {country}: {name} = {X.loc[country, name]:g}; median {X[name].median():g}")
    known = X.notna().sum(axis=1)
    novelty = pd.Series(few.novelty(X[INDICATORS]), X.index)[known > 150]
    print("Countries with the highest novelty in the ten indicators:", ", ".join(novelty.nlargest(5).index))

    example.heading("clusters of the countries in view 0")
    labels, confidence = model.view_labels_[:, 0], pd.Series(model.view_confidence_[:, 0], X.index)
    for cluster in range(4):
        here = confidence[labels == cluster]
        print(f"{len(here)} countries, confidence {here.mean():.2f}: {', '.join(here.nlargest(6).index)}")

    example.heading("figures")
    example.save(ViewsDisplay.from_estimator(model, X), "gapminder_views")
    example.save(DependenceDisplay.from_estimator(model, order="hierarchical"), "gapminder_dependence")
    example.save(
        DependenceDisplay.from_matrix(related.to_numpy(), INDICATORS, label="relatedness"), "gapminder_relatedness"
    )


if __name__ == "__main__":
    main()
