"""ModelFolder: a fitted model as the command ``report`` leaves it, with the types file and the detector beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sklearn_subanneal.estimators import CrossCat, CrossCatDetector
from sklearn_subanneal.portable import load
from sklearn_subanneal.report import types_file
from sklearn_subanneal.report.types_file import TypesFile, read_types

MODEL, DETECTOR = "model.npz", "detector.npz"


@dataclass(frozen=True, eq=False)
class ModelFolder:
    """A fitted model.

    Attributes
    ----------
    name : str
        The folder or file.
    model : CrossCat
    detector : CrossCatDetector or None
    types : TypesFile
        How tables are read for it.
    decimal : {".", ","} or None
        The mark before decimals that the user gives for new tables; None: that of the types file, unless a table shows
        the other one.
    """

    name: str
    model: CrossCat
    detector: CrossCatDetector | None = None
    types: TypesFile = field(default_factory=TypesFile)
    decimal: str | None = None


def open_model(path: str | Path, with_detector: bool = False) -> ModelFolder:
    """Load the model in a folder that the command ``report`` wrote, or in a file.

    Parameters
    ----------
    path : str or Path
        Such a folder, or a file of :func:`sklearn_subanneal.save`; the types file is looked for beside it.
    with_detector : bool, default=False
        Whether the detector is needed.

    Returns
    -------
    ModelFolder

    Raises
    ------
    FileNotFoundError
        If there is no model, or no detector.
    ValueError
        If the file holds no fitted CrossCat.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    file = path / (DETECTOR if with_detector else MODEL) if path.is_dir() else path
    if not file.is_file():
        if path.is_dir() and with_detector and (path / MODEL).is_file():
            raise FileNotFoundError(
                f"{path} has no {DETECTOR}, by which new tables are checked: make the report again with --detector"
            )
        raise FileNotFoundError(
            f"There is no model {file}: name the folder of a report, as sklearn-subanneal report TABLE writes it"
        )
    held = load(file)
    detector = held if isinstance(held, CrossCatDetector) else None
    model = held if detector is None else getattr(held, "crosscat_", None)
    if not isinstance(model, CrossCat) or not hasattr(model, "feature_types_"):
        raise ValueError(
            f"{file} holds a {type(held).__name__}, and a fitted CrossCat is needed: name the folder of a report"
        )
    if with_detector and detector is None:
        raise ValueError(
            f"{file} holds a CrossCat without a detector, by which new tables are checked: make the report again with "
            f"--detector, and name its folder or {DETECTOR}"
        )
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(f"The model in {file} was fitted to an array without names of columns: fit it to a DataFrame.")
    beside = folder / types_file.NAME
    return ModelFolder(str(path), model, detector, read_types(beside) if beside.is_file() else TypesFile())
