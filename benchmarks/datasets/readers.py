"""Make the table of each data set from the files of its archive.

Tables have one form: features under their names, columns that are no features begin with `meta_`,
`target` is the original target, not binarised, and comes last. Whole numbers take the smallest type
that holds them. Rows stay in the archive's order, train before test.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from benchmarks.datasets.errors import DatasetMissingError

if TYPE_CHECKING:
    import pandas

__all__ = ["READERS", "Files"]

Files = Callable[[str], bytes]
"""Content of a file of the archive, by name."""


def _csv(content: bytes, **options: Any) -> pandas.DataFrame:
    import pandas

    frame: pandas.DataFrame = pandas.read_csv(io.BytesIO(content), **options)
    return frame


def _small(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The table with whole numbers in the smallest type of signed integers that holds them."""
    import pandas

    small = {
        name: pandas.to_numeric(frame[name], downcast="integer")
        if pandas.api.types.is_numeric_dtype(frame[name])
        else frame[name]
        for name in frame.columns
    }
    return pandas.DataFrame(small).reset_index(drop=True)


def _rows(
    content: bytes, names: Sequence[str], separator: str = ",", **options: Any
) -> pandas.DataFrame:
    """A table without a header; a number of columns other than that of the names is an error."""
    frame = _csv(content, header=None, sep=separator, skipinitialspace=True, **options)
    frame.columns = list(names)
    return frame


def _stacked(parts: Mapping[str, pandas.DataFrame], column: str) -> pandas.DataFrame:
    """Tables under each other; the column before the target says which each row is from."""
    import pandas

    for value, part in parts.items():
        part.insert(part.shape[1] - 1, column, value)
    return _small(pandas.concat(list(parts.values()), ignore_index=True))


def _target_last(frame: pandas.DataFrame, target: str) -> pandas.DataFrame:
    features = [name for name in frame.columns if name != target]
    return frame[[*features, target]].rename(columns={target: "target"})


def _numbered(letter: str, number: int) -> list[str]:
    return [f"{letter}{place}" for place in range(1, number + 1)]


def _abalone(files: Files) -> pandas.DataFrame:
    names = ["Sex", "Length", "Diameter", "Height", "Whole_weight", "Shucked_weight"]
    names += ["Viscera_weight", "Shell_weight", "target"]
    return _small(_rows(files("abalone.data"), names))


def _airfoil(files: Files) -> pandas.DataFrame:
    names = ["frequency", "attack_angle", "chord_length", "velocity", "displacement_thickness"]
    return _small(_rows(files("airfoil_self_noise.dat"), [*names, "target"], r"\s+"))


def _anuran(files: Files) -> pandas.DataFrame:
    raw = _csv(files("Frogs_MFCCs.csv"))
    frame = raw.iloc[:, :22].astype("float32")
    frame.columns = _numbered("MFCC_", 22)
    return frame.assign(
        meta_family=raw["Family"], meta_genus=raw["Genus"], target=raw["Species"]
    ).reset_index(drop=True)


def _bank(files: Files) -> pandas.DataFrame:
    raw = _csv(files("bank-full.csv"), sep=";", keep_default_na=False)
    return _small(raw.rename(columns={"y": "target"}))


def _casp(files: Files) -> pandas.DataFrame:
    frame = _small(_target_last(_csv(files("CASP.csv")), "RMSD"))
    whole = {"F8", "target"}
    return frame.astype({name: "float32" for name in frame.columns if name not in whole})


def _concrete(files: Files) -> pandas.DataFrame:
    import pandas

    try:
        frame = pandas.read_excel(io.BytesIO(files("Concrete_Data.xls")), engine="calamine")
    except ImportError:
        raise DatasetMissingError(
            "concrete",
            "its archive holds an Excel sheet, which package python-calamine reads: "
            "pip install python-calamine",
        ) from None
    names = ["cement", "slag", "fly_ash", "water", "superplasticizer"]
    frame.columns = [*names, "coarse_aggregate", "fine_aggregate", "age_days", "target"]
    return _small(frame)


_COVERTYPE_RANGES: Final = {
    "Elevation": (1859, 3858),
    "Aspect": (0, 360),
    "Slope": (0, 66),
    "Horizontal_Distance_To_Hydrology": (0, 1397),
    "Vertical_Distance_To_Hydrology": (-173, 601),
    "Horizontal_Distance_To_Roadways": (0, 7117),
    "Hillshade_9am": (0, 254),
    "Hillshade_Noon": (0, 254),
    "Hillshade_3pm": (0, 254),
    "Horizontal_Distance_To_Fire_Points": (0, 7173),
}
"""Lowest and highest value in all 581,012 rows; the download is scaled by them to 0 .. 1."""


def _covertype(files: Files) -> pandas.DataFrame:
    frame = _csv(files("test.csv"))
    for name, (low, high) in _COVERTYPE_RANGES.items():
        frame[name] = (low + (high - low) * frame[name]).round()
    return _small(_target_last(frame, "Cover_Type"))


def _heart(files: Files) -> pandas.DataFrame:
    names = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang"]
    names += ["oldpeak", "slope", "ca", "thal", "target"]
    return _small(_rows(files("processed.cleveland.data"), names, na_values="?"))


def _iris(files: Files) -> pandas.DataFrame:
    # iris.data has two cells that differ from Fisher's paper; this file of the archive has not.
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width", "target"]
    frame = _rows(files("bezdekIris.data"), names)
    return frame.assign(target=frame["target"].str.removeprefix("Iris-"))


def _landsat(files: Files) -> pandas.DataFrame:
    names = [*_numbered("a", 36), "target"]
    parts = {"train": "sat.trn", "test": "sat.tst"}
    read = {part: _rows(files(file), names, r"\s+") for part, file in parts.items()}
    return _stacked(read, "meta_split")


def _mushroom(files: Files) -> pandas.DataFrame:
    names = ["target", "cap_shape", "cap_surface", "cap_color", "bruises", "odor"]
    names += ["gill_attachment", "gill_spacing", "gill_size", "gill_color", "stalk_shape"]
    names += ["stalk_root", "stalk_surface_above_ring", "stalk_surface_below_ring"]
    names += ["stalk_color_above_ring", "stalk_color_below_ring", "veil_type", "veil_color"]
    names += ["ring_number", "ring_type", "spore_print_color", "population", "habitat"]
    content = files("agaricus-lepiota.data")
    return _target_last(_rows(content, names, na_values="?", keep_default_na=False), "target")


def _pageblocks(files: Files) -> pandas.DataFrame:
    names = ["height", "lenght", "area", "eccen", "p_black", "p_and", "mean_tr", "blackpix"]
    names += ["blackand", "wb_trans", "target"]
    return _small(_rows(files("page-blocks.data"), names, r"\s+"))


def _pendigits(files: Files) -> pandas.DataFrame:
    names = [*_numbered("p", 16), "target"]
    parts = {"train": "pendigits.tra", "test": "pendigits.tes"}
    return _stacked({part: _rows(files(file), names) for part, file in parts.items()}, "meta_split")


def _shuttle(files: Files) -> pandas.DataFrame:
    names = ["time", *_numbered("a", 9)[1:], "target"]
    parts = {"train": "shuttle.trn", "test": "shuttle.tst"}
    read = {part: _rows(files(file), names, r"\s+") for part, file in parts.items()}
    return _stacked(read, "meta_split")


_SPAMBASE_WORDS: Final = """
    make address all 3d our over remove internet order mail receive will people report addresses
    free business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data
    415 85 technology 1999 parts pm direct cs meeting original project re edu table conference
""".split()  # noqa: SIM905 - a list of them is 50 lines


def _spambase(files: Files) -> pandas.DataFrame:
    names = [f"word_freq_{word}" for word in _SPAMBASE_WORDS]
    names += [f"char_freq_{sign}" for sign in ";([!$#"]
    names += [f"capital_run_length_{kind}" for kind in ("average", "longest", "total")]
    return _small(_rows(files("spambase.data"), [*names, "target"]))


def _splice(files: Files) -> pandas.DataFrame:
    import pandas

    raw = _rows(files("splice.data"), ["target", "meta_instance", "sequence"], dtype=str)
    letters = raw["sequence"].str.strip().map(list).tolist()
    frame = pandas.DataFrame(letters, columns=_numbered("pos_", 60))
    return frame.assign(meta_instance=raw["meta_instance"].str.strip(), target=raw["target"])


def _thyroid(files: Files) -> pandas.DataFrame:
    names = ["Age", "Sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication"]
    names += ["sick", "pregnant", "thyroid_surgery", "I131_treatment", "query_hypothyroid"]
    names += ["query_hyperthyroid", "lithium", "goitre", "tumor", "hypopituitary", "psych"]
    names += ["TSH", "T3", "TT4", "T4U", "FTI", "target"]
    parts = {"train": "ann-train.data", "test": "ann-test.data"}
    read = {part: _rows(files(file), names, r"\s+") for part, file in parts.items()}
    return _stacked(read, "meta_split")


def _waveform(files: Files) -> pandas.DataFrame:
    return _small(_rows(files("waveform.data"), [*_numbered("x", 21), "target"]))


def _wilt(files: Files) -> pandas.DataFrame:
    import pandas

    names = ["target", "GLCM_Pan", "Mean_G", "Mean_R", "Mean_NIR", "SD_Pan"]
    parts = [_rows(files(file), names, skiprows=1) for file in ("training.csv", "testing.csv")]
    return _target_last(pandas.concat(parts, ignore_index=True), "target")


def _wine(files: Files) -> pandas.DataFrame:
    parts = {color: _csv(files(f"winequality-{color}.csv"), sep=";") for color in ("red", "white")}
    for part in parts.values():
        part.columns = [name.replace(" ", "_") for name in part.columns[:-1]] + ["target"]
    return _stacked(parts, "meta_color")


READERS: Final[Mapping[str, Callable[[Files], pandas.DataFrame]]] = {
    "abalone": _abalone,
    "airfoil": _airfoil,
    "anuran": _anuran,
    "bank": _bank,
    "casp": _casp,
    "concrete": _concrete,
    "covertype_16pct": _covertype,
    "heart_cleveland": _heart,
    "iris": _iris,
    "landsat": _landsat,
    "mushroom": _mushroom,
    "pageblocks": _pageblocks,
    "pendigits": _pendigits,
    "shuttle": _shuttle,
    "spambase": _spambase,
    "splice": _splice,
    "thyroid_ann": _thyroid,
    "waveform": _waveform,
    "wilt": _wilt,
    "wine_quality": _wine,
}
"""By the name of the data set."""
