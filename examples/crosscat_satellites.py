"""Satellites: a table of many types
=================================

Not with the defaults but with ``covariance_type="diag"``, so that views and odd cells can be read, CrossCat is
fitted to a table of 1,164 satellites and 20 columns (Union of Concerned Scientists): numbers, categories, and
missing cells. You can check many of the results by what you know of satellites; others by a little physics.
"""

# %%
# The table
# ---------
#
# The types of the columns are chosen by the fit, except for two. Lifetimes are whole numbers of years: in a real
# column, each value could become a cluster. Power is positive: with the type ``skewed`` it is modelled by its
# logarithm, and no sample is negative.

import numpy as np
import pandas as pd
from _example import Example
from sklearn.model_selection import train_test_split

from sklearn_subanneal import CrossCat, CrossCatClassifier
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay

example = Example(__doc__, "satellites", "satellites_lace.csv.gz")
X = pd.read_csv(example.data, index_col="ID")
print(f"{X.shape[0]} satellites x {X.shape[1]} columns, {X.isna().sum().sum()} cells missing.")
types = {"Expected_Lifetime": "categorical", "Power_watts": "skewed"}
model = CrossCat(
    covariance_type="diag",
    feature_types=types,
    schedule=SubsampleAnneal(passes=200),
    n_chains=4,
    n_jobs=example.n_jobs,
    random_state=0,
).fit(X)

# %%
# Views and clusters
# ------------------
#
# Nearly all columns say something of what a satellite is for, so most of them are in one view. Its largest clusters
# should be kinds of satellites that you know, such as communication satellites above one place of the equator
# (GEO), or a fleet of one operator in a low orbit (LEO). A chain that disagrees with others gives a warning
# (:doc:`why chains disagree <chains_explained>`).

views = model.column_labels_[model.first_parts_]
for view in range(model.n_views_):
    members = ", ".join(X.columns[views == view])
    print(f"{model.view_labels_[:, view].max() + 1:3} clusters: {members}")
labels, confidence = model.view_labels_[:, 0], model.view_confidence_[:, 0]
for cluster in range(5):
    here = X[labels == cluster]
    shares = [here[name].value_counts(normalize=True) for name in ("Class_of_Orbit", "Purpose", "Country_of_Operator")]
    most = ", ".join(f"{share.index[0]} {share.iloc[0]:.0%}" for share in shares)
    print(f"{len(here):4} satellites, confidence {confidence[labels == cluster].mean():.2f}: {most}")
example.save(ViewsDisplay.from_estimator(model, X), "satellites_views")

# %%
# Which columns depend on one another?
# ------------------------------------
#
# The period of an orbit follows from its height (Kepler's third law), so period, apogee and perigee must be
# strongly related. The heavier a satellite, the more power it has.

dependence = pd.DataFrame(model.dependence_, X.columns, X.columns)
related = pd.DataFrame(model.relatedness_matrix(random_state=0), X.columns, X.columns)
for column in ("Period_minutes", "Launch_Mass_kg", "Purpose"):
    nearest = related[column].drop(column).nlargest(4)
    shares = (f"{name} {value:.2f} ({dependence.loc[column, name]:.0%} of draws)" for name, value in nearest.items())
    print(f"{column}:", ", ".join(shares))
alone = model.mutual_information("Purpose", "Users", random_state=0)
given = model.mutual_information("Purpose", "Users", given="Country_of_Operator", random_state=0)
print(f"Purpose and users share {alone.value:.2f} nats, and {given.value:.2f} given the operator's country.")
example.save(DependenceDisplay.from_estimator(model), "satellites_dependence")

# %%
# Odd cells, some of which are errors
# -----------------------------------
#
# The surprisal of a cell says how improbable it is, given the rest of its row. Surprisals of different columns can
# only be compared relative to the median of the column, as densities per kilometre and per radian differ.

surprisal = pd.DataFrame(model.surprisal(X), X.index, X.columns)
excess = surprisal - surprisal.median()
for (satellite, column), nats in excess.stack().nlargest(8).items():
    print(f"{nats:5.1f} nats  {satellite[:44]:46}{column:22}{X.loc[satellite, column]}")

# %%
# Three of them can be checked. No inclination is above pi, about 3.14. Strela satellites are alike. And a satellite
# in GEO is everywhere about 36,000 km high.

inclination = X["Inclination_radians"]
print("inclinations above pi:", *inclination[inclination > np.pi].items())
strela = inclination[X.index.str.startswith("Strela 3")].round(2).value_counts()
print(f"inclinations of Strela 3: {strela.to_dict()}")
dsp = "DSP 20 (USA 149) (Defense Support Program)"
print(f"DSP 20: class {X.loc[dsp, 'Class_of_Orbit']}, period {X.loc[dsp, 'Period_minutes']} minutes, ", end="")
print(f"{excess.loc[dsp, 'Period_minutes']:.1f} nats above the median")
asked = X.loc["Intelsat 903", ["Class_of_Orbit", "Period_minutes", "Purpose"]].to_dict()
low, high = model.conditional_quantiles("Apogee_km", [0.05, 0.95], given=asked)
print(f"apogee of Intelsat 903 in the table: {X.loc['Intelsat 903', 'Apogee_km']:,.0f} km; given its class, its")
print(f"period and its purpose, it is between {low:,.0f} and {high:,.0f} km with a probability of 90 %.")
others = X.loc["Intelsat 903"].drop("Apogee_km").dropna().to_dict()
low, high = model.conditional_quantiles("Apogee_km", [0.05, 0.95], given=others)
print(f"Given all its other cells, it would be between {low:,.0f} and {high:,.0f} km.")
apogee, perigee = (X.loc["Intelsat 903", name] + 6378 for name in ("Apogee_km", "Perigee_km"))
print(f"eccentricity in the table {X.loc['Intelsat 903', 'Eccentricity']:.3f}, ", end="")
print(f"computed from the table's apogee {(apogee - perigee) / (apogee + perigee):.3f}")

# %%
# The apogee of Intelsat 903 has a digit too many. Its eccentricity was computed from this apogee, and is wrong as
# well.
#
# Why does the question give three cells, and not all? The model has learned from this very row. Given all of its
# other cells, it finds the row again, with its error. ``surprisal`` is not deceived by this, because it leaves the
# row out.
#
# Odd rows need not be errors. These are scientific satellites on unusual orbits, or rows with wrong cells:

novelty = pd.Series(model.novelty(X), X.index)
print("\n".join(f"{nats:6.1f} nats  {satellite}" for satellite, nats in novelty.nlargest(5).items()))

# %%
# Missing cells
# -------------
#
# Unknown dry masses are imputed, each with its uncertainty. A dry mass must be below the launch mass. See for the
# smallest satellites whether it is: the model does not know this rule, and each cluster has only a typical mass.

filled, uncertainty = model.impute(X, return_uncertainty=True)
masses = pd.DataFrame(
    {
        "class": X["Class_of_Orbit"],
        "launch mass": X["Launch_Mass_kg"],
        "dry mass": filled["Dry_Mass_kg"].round(),
        "+/-": uncertainty[:, X.columns.get_loc("Dry_Mass_kg")].round(),
    }
)
missing = X["Dry_Mass_kg"].isna() & X["Launch_Mass_kg"].notna()
print(masses[missing].iloc[::80].rename(lambda name: name[:40]).to_string())
possible = (masses["dry mass"] <= masses["launch mass"])[missing].mean()
print(f"\n{possible:.0%} of the {missing.sum()} imputed dry masses are possible.")

# %%
# Prediction of one column
# ------------------------
#
# A classifier predicts the class of the orbit from columns that are known before the launch. It has the default
# covariance.

early = ["Country_of_Operator", "Users", "Purpose", "Launch_Mass_kg", "Expected_Lifetime", "Country_of_Contractor"]
train, test = train_test_split(X, test_size=0.25, random_state=0)
base = CrossCat(schedule=SubsampleAnneal(passes=50), n_chains=2, feature_types={"Expected_Lifetime": "categorical"})
classifier = CrossCatClassifier(base, random_state=0).fit(train[early], train["Class_of_Orbit"])
accuracy = classifier.score(test[early], test["Class_of_Orbit"])
most = (test["Class_of_Orbit"] == train["Class_of_Orbit"].mode()[0]).mean()
print(f"Of {len(test)} held-out satellites, {accuracy:.0%} are classified correctly; ", end="")
print(f"{most:.0%} are of the most frequent class.")
purposes = ["Communications", "Earth Observation", "Navigation/Global Positioning", "Early Warning"]
asked = pd.DataFrame({"Purpose": purposes}).reindex(columns=early)
probability = pd.DataFrame(classifier.predict_proba(asked), purposes, classifier.classes_)
print("\nProbabilities given only the purpose:\n" + probability.round(2).to_string())

# %%
# Satellites for navigation are in middle orbits (MEO), and those that look at the earth from near are in low ones
# (LEO).
#
# Samples
# -------
#
# Rows drawn from the model, given that they are military satellites in GEO. Their period should be a day, 1,436
# minutes. A row whose cells do not fit together shows where the model is too simple: within a cluster of this fit,
# columns are independent.

samples = model.sample(5, given={"Class_of_Orbit": "GEO", "Users": "Military"}, random_state=0)
print(
    samples[["Country_of_Operator", "Purpose", "Period_minutes", "Launch_Mass_kg", "Power_watts"]].round().to_string()
)

# %%
# Similar satellites
# ------------------
#
# The rows that are most often in the cluster of the space station: in all views, and in those of some columns.

station = X.index.get_loc(next(name for name in X.index if name.startswith("International Space Station")))
for columns in (None, ["Class_of_Orbit", "Perigee_km"], ["Launch_Mass_kg", "Power_watts"]):
    alike = model.row_similarity(station, np.arange(len(X)), columns=columns)[0]
    alike = pd.Series(alike, X.index).drop(X.index[station]).nlargest(3)
    print(f"{'overall' if columns is None else ' and '.join(columns)}:")
    print("\n".join(f"  {share:.2f}  {name}" for name, share in alike.items()))
