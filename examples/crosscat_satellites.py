"""Satellites: anomalies, imputation and prediction
================================================

This example shows the queries of CrossCat on a table of 1,164 satellites x 20 columns of mixed types with missing cells
(Union of Concerned Scientists).

The example finds dependent columns and a typing error in the table, imputes unknown masses, predicts the class of orbit
from the purpose, and finds satellites similar to the space station.
"""

import numpy as np
import pandas as pd
from _example import Example
from sklearn.model_selection import train_test_split

from sklearn_subanneal import CrossCat, CrossCatClassifier
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay


def main() -> None:
    example = Example(__doc__, "satellites", "satellites_lace.csv.gz")
    X = pd.read_csv(example.data, index_col="ID")
    print(f"{X.shape[0]} satellites x {X.shape[1]} columns, {X.isna().sum().sum()} cells missing.")
    # Lifetimes are whole numbers of years: in a real column, each value could become a cluster.
    types = {"Expected_Lifetime": "categorical"}
    # Not the default: with full covariance, a wrong apogee is not surprising if the eccentricity agrees with it.
    model = CrossCat(
        covariance_type="diag",
        feature_types=types,
        schedule=SubsampleAnneal(passes=200),
        n_chains=4,
        n_jobs=example.n_jobs,
        random_state=0,
    ).fit(X)

    example.heading("views of the representative draw")
    for view in range(model.n_views_):
        members = ", ".join(X.columns[model.column_labels_ == view])
        print(f"{model.view_labels_[:, view].max() + 1:3} clusters: {members}")
    print("Mean log joint density of each chain:", *model.log_joint_.mean(axis=1).round().astype(int))

    example.heading("dependence between columns")
    dependence = pd.DataFrame(model.dependence_, X.columns, X.columns)
    related = pd.DataFrame(model.relatedness_matrix(random_state=0), X.columns, X.columns)
    for column in ("Purpose", "Period_minutes", "Launch_Mass_kg"):
        nearest = related[column].drop(column).nlargest(4)
        print(
            f"{column}: "
            + ", ".join(
                f"{name} {value:.2f} ({dependence.loc[column, name]:.0%} of draws)" for name, value in nearest.items()
            )
        )
    alone = model.mutual_information("Purpose", "Users", random_state=0)
    given = model.mutual_information("Purpose", "Users", given="Country_of_Operator", random_state=0)
    print(f"Purpose and users share {alone.value:.2f} nats, and {given.value:.2f} given the operator's country.")

    example.heading("anomalous cells")
    surprisal = pd.DataFrame(model.surprisal(X), X.index, X.columns)
    # Surprisal relative to the median of the column: densities per kilometre and per radian cannot be compared.
    excess = (surprisal - surprisal.median()).stack().nlargest(8)
    for (satellite, column), nats in excess.items():
        print(f"{nats:5.1f} nats  {satellite[:44]:46}{column:22}{X.loc[satellite, column]}")
    without = X.loc[["Intelsat 903"]].assign(Apogee_km=np.nan)
    expected, deviation = model.impute(without, return_uncertainty=True)
    column = X.columns.get_loc("Apogee_km")
    print(
        f"The apogee of Intelsat 903 is given as {X.loc['Intelsat 903', 'Apogee_km']:,.0f} km. The rest of the row "
        f"suggests {expected['Apogee_km'].iloc[0]:,.0f} +/- {deviation[0, column]:,.0f} km: one digit too many."
    )

    example.heading("anomalous rows")
    novelty = pd.Series(model.novelty(X), X.index)
    print("\n".join(f"{nats:6.1f} nats  {satellite}" for satellite, nats in novelty.nlargest(5).items()))

    example.heading("imputation of missing dry masses")
    filled, uncertainty = model.impute(X, return_uncertainty=True)
    table = pd.DataFrame(
        {
            "class": X["Class_of_Orbit"],
            "launch mass": X["Launch_Mass_kg"],
            "dry mass": filled["Dry_Mass_kg"].round(),
            "+/-": uncertainty[:, X.columns.get_loc("Dry_Mass_kg")].round(),
        }
    )
    missing = X["Dry_Mass_kg"].isna() & X["Launch_Mass_kg"].notna()
    print(table[missing].iloc[::80].rename(lambda name: name[:40]).to_string())

    example.heading("prediction of the orbit from columns known before the launch")
    early = ["Country_of_Operator", "Users", "Purpose", "Launch_Mass_kg", "Expected_Lifetime", "Country_of_Contractor"]
    train, test = train_test_split(X, test_size=0.25, random_state=0)
    classifier = CrossCatClassifier(
        CrossCat(schedule=SubsampleAnneal(passes=50), n_chains=2, feature_types=types), random_state=0
    ).fit(train[early], train["Class_of_Orbit"])
    accuracy = classifier.score(test[early], test["Class_of_Orbit"])
    most = (test["Class_of_Orbit"] == train["Class_of_Orbit"].mode()[0]).mean()
    print(
        f"Of {len(test)} held-out satellites, {accuracy:.0%} are classified correctly; {most:.0%} are of the most "
        "frequent class."
    )
    purposes = ["Communications", "Earth Observation", "Navigation/Global Positioning", "Early Warning"]
    asked = pd.DataFrame({"Purpose": purposes}).reindex(columns=early)
    probability = pd.DataFrame(classifier.predict_proba(asked), purposes, classifier.classes_)
    print("\nProbabilities given only the purpose:\n" + probability.round(2).to_string())

    example.heading("densities: joint, conditional, and samples")
    asked = pd.DataFrame({"Period_minutes": [95.0, 717.0, 1436.0]}).reindex(columns=X.columns)
    alone, given = model.score_samples(asked), model.score_samples(asked, given={"Class_of_Orbit": "GEO"})
    for period, before, after in zip(asked["Period_minutes"], alone, given, strict=True):
        print(f"log p(period = {period:6.0f} min) = {before:6.2f}   given GEO {after:7.2f}")
    samples = model.sample(5, given={"Class_of_Orbit": "GEO", "Users": "Military"}, random_state=0)
    print("\nSynthetic military satellites in GEO:")
    print(samples[["Country_of_Operator", "Purpose", "Period_minutes", "Launch_Mass_kg", "Power_watts"]].to_string())

    example.heading("satellites similar to the space station")
    station = X.index.get_loc(next(name for name in X.index if name.startswith("International Space Station")))
    for columns in (None, ["Class_of_Orbit", "Perigee_km"], ["Launch_Mass_kg", "Power_watts"]):
        alike = model.row_similarity(station, np.arange(len(X)), columns=columns)[0]
        alike = pd.Series(alike, X.index).drop(X.index[station]).nlargest(3)
        print(f"{'overall' if columns is None else ' and '.join(columns)}:")
        print("\n".join(f"  {share:.2f}  {name}" for name, share in alike.items()))

    example.heading("clusters of the rows in view 0")
    labels, confidence = model.view_labels_[:, 0], model.view_confidence_[:, 0]
    for cluster in range(5):
        here = X[labels == cluster]
        of = {
            name: here[name].value_counts(normalize=True)
            for name in ("Class_of_Orbit", "Purpose", "Country_of_Operator")
        }
        most = ", ".join(f"{share.index[0]} {share.iloc[0]:.0%}" for share in of.values())
        print(f"{len(here):4} satellites, confidence {confidence[labels == cluster].mean():.2f}: {most}")

    example.heading("figures")
    example.save(ViewsDisplay.from_estimator(model, X), "satellites_views")
    example.save(DependenceDisplay.from_estimator(model), "satellites_dependence")


if __name__ == "__main__":
    main()
