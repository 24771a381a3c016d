"""Tables from files in the form of the archives; whole data sets where they are here."""

import numpy as np
import pandas
import pytest

from benchmarks.datasets import TABLE, DatasetMissingError, available, load_table
from benchmarks.datasets.content import content_digest
from benchmarks.datasets.packaged import PACKAGED
from benchmarks.datasets.readers import READERS

THYROID = b"0.73 0 1 0 0 0 0 0 1 0 0 0 0 0 0 0 0.0006 0.015 0.12 0.082 0.146 3  \n"
WINE = b'"fixed acidity";"pH";"free sulfur dioxide";"quality"\n'

# Files, then of the table: columns, the first row as far as given, the last target.
FORMS = {
    "abalone": (
        {
            "abalone.data": b"M,0.455,0.365,0.095,0.514,0.2245,0.101,0.15,15\n"
            b"F,0.35,0.265,0.09,0.2255,0.0995,0.0485,0.07,7\n"
        },
        9,
        ["M", 0.455],
        7,
    ),
    "airfoil": (
        {
            "airfoil_self_noise.dat": b"800\t0\t0.3048\t71.3\t0.00266337\t126.201\r\n"
            b"1000\t0\t0.3048\t71.3\t0.00266337\t125.201\r\n"
        },
        6,
        [800, 0, 0.3048],
        125.201,
    ),
    "anuran": (
        {
            "Frogs_MFCCs.csv": (
                ",".join([*(f"MFCCs_{n:2}" for n in range(1, 23)), "Family,Genus,Species,RecordID"])
                + "\n"
                + ",".join(["1", *["0.25"] * 21, "Hylidae,Hyla,HylaMinuta,1"])
                + "\n"
            ).encode()
        },
        25,
        [1.0, 0.25],
        "HylaMinuta",
    ),
    "bank": (
        {
            "bank-full.csv": b'"age";"job";"balance";"y"\n58;"management";2143;"no"\n'
            b'33;"NA";2;"yes"\n'
        },
        4,
        [58, "management", 2143],
        "yes",
    ),
    "casp": (
        {"CASP.csv": b'"RMSD","F1","F8"\n17.284,13558.3,102\n6.021,6191.96,54\n'},
        3,
        [np.float32(13558.3), 102],
        6.021,
    ),
    "covertype_16pct": (
        {
            "test.csv": b"Elevation,Aspect,Slope,Horizontal_Distance_To_Hydrology,"
            b"Vertical_Distance_To_Hydrology,Horizontal_Distance_To_Roadways,Hillshade_9am,"
            b"Hillshade_Noon,Hillshade_3pm,Horizontal_Distance_To_Fire_Points,Soil_Type1,Cover_Type\n"
            b"0.67984,0.952778,0.19697,0.030064,0.23385,0.452157,0.76378,0.866142,0.649606,"
            b"0.574516,1,2\n"
        },
        12,
        [3218, 343, 13, 42, 8, 3218, 194, 220, 165, 4121, 1],
        2,
    ),
    "heart_cleveland": (
        {
            "processed.cleveland.data": b"63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,"
            b"2.3,3.0,0.0,6.0,0\n"
            b"53.0,0.0,3.0,128.0,216.0,0.0,2.0,115.0,0.0,0.0,1.0,0.0,?,2\n"
        },
        14,
        [63, 1, 1, 145],
        2,
    ),
    "iris": ({"bezdekIris.data": b"5.1,3.5,1.4,0.2,Iris-setosa\n\n"}, 5, [5.1, 3.5], "setosa"),
    "landsat": (
        {
            "sat.trn": b" ".join([b"92"] * 36) + b" 3\n",
            "sat.tst": b" ".join([b"200"] * 36) + b" 7\n",
        },
        38,
        [92] * 36 + ["train"],
        7,
    ),
    "mushroom": (
        {
            "agaricus-lepiota.data": b"p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u\n"
            b"e,x,s,y,t,a,f,c,b,k,e,?,s,s,w,w,p,w,o,p,n,n,g\n"
        },
        23,
        ["x", "s", "n"],
        "e",
    ),
    "pageblocks": (
        {
            "page-blocks.data": b"   5   7     35  1.400 .400 .657   2.33     14     23      6 1\n"
            b"   6   7     42  1.167 .429 .881     3.60     18     37      5 2\n"
        },
        11,
        [5, 7, 35, 1.4, 0.4],
        2,
    ),
    "pendigits": (
        {
            "pendigits.tra": b" 47,100, 27, 81, 57, 37,26, 0, 0, 23, 56, 53,100, 90, 40, 98, 8\n",
            "pendigits.tes": b" 88, 92,  2, 99, 16, 66,94,37,70, 0, 0,24, 42, 65,100,100, 9\n",
        },
        18,
        [47, 100, 27],
        9,
    ),
    "shuttle": (
        {
            "shuttle.trn": b"50 21 77 0 28 0 27 48 22 2\n",
            "shuttle.tst": b"55 0 81 0 -6 11 25 88 64 4\n",
        },
        11,
        [50, 21, 77, 0, 28, 0, 27, 48, 22, "train"],
        4,
    ),
    "spambase": (
        {"spambase.data": b",".join([b"0.5"] * 54) + b",3.756,61,278,1\n"},
        58,
        [0.5] * 54 + [3.756, 61, 278],
        1,
    ),
    "splice": (
        {"splice.data": b"EI,   ATRINS-DONOR-521,       " + b"CCAGCT" * 10 + b"\n"},
        62,
        list("CCAGCT"),
        "EI",
    ),
    "thyroid_ann": (
        {"ann-train.data": THYROID, "ann-test.data": THYROID.replace(b" 3  ", b" 1  ")},
        23,
        [0.73, 0, 1],
        1,
    ),
    "waveform": (
        {"waveform.data": b",".join([b"-1.23"] * 21) + b",0\n" + b",".join([b"2"] * 22) + b"\n"},
        22,
        [-1.23],
        2,
    ),
    "wilt": (
        {
            "training.csv": b"class,GLCM_pan,Mean_Green,Mean_Red,Mean_NIR,SD_pan\n"
            b"w,120.362774,205.5,119.395349,416.581395,20.676318\n",
            "testing.csv": b"class,GLCM_pan,Mean_Green,Mean_Red,Mean_NIR,SD_pan\n"
            b"n,127.735294,201.7,114.7,443.5,24.1\n",
        },
        6,
        [120.362774, 205.5],
        "n",
    ),
    "wine_quality": (
        {
            "winequality-red.csv": WINE + b"7.4;3.51;11;5\n",
            "winequality-white.csv": WINE + b"7;3;45.5;6\n",
        },
        5,
        [7.4, 3.51, 11.0, "red"],
        6,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_of_the_archive_becomes_a_table(name):
    files, columns, first, last_target = FORMS[name]
    table = READERS[name](files.__getitem__)
    assert table.shape[1] == columns
    assert table.columns[-1] == "target"
    assert table.iloc[0].tolist()[: len(first)] == first
    assert table["target"].tolist()[-1] == last_target
    assert table.index.tolist() == list(range(len(table)))


def test_every_set_of_an_archive_has_a_reader_and_every_reader_a_test():
    assert set(READERS) == {one.name for one in TABLE.values() if one.address}
    assert set(READERS) - set(FORMS) == {"concrete"}
    assert set(PACKAGED) == {one.name for one in TABLE.values() if one.package}


def test_a_missing_cell_is_missing_and_a_text_na_is_a_text():
    heart = READERS["heart_cleveland"](FORMS["heart_cleveland"][0].__getitem__)
    assert heart["thal"].isna().tolist() == [False, True]
    mushroom = READERS["mushroom"](FORMS["mushroom"][0].__getitem__)
    assert mushroom["stalk_root"].isna().tolist() == [False, True]
    bank = READERS["bank"](FORMS["bank"][0].__getitem__)
    assert bank["job"].tolist() == ["management", "NA"]


def test_concrete_names_the_package_that_reads_its_sheet(monkeypatch):
    def without(*_, **__):
        raise ImportError

    monkeypatch.setattr(pandas, "read_excel", without)
    with pytest.raises(DatasetMissingError) as caught:
        READERS["concrete"](lambda _: b"")
    assert str(caught.value) == (
        "no data set 'concrete': its archive holds an Excel sheet, which package python-calamine "
        "reads: pip install python-calamine"
    )


def test_concrete_takes_the_columns_by_place(monkeypatch):
    sheet = pandas.DataFrame([[540.0, 0.0, 0.0, 162.0, 2.5, 1040.0, 676.0, 28, 79.98611076]])
    monkeypatch.setattr(pandas, "read_excel", lambda *_, **__: sheet)
    table = READERS["concrete"](lambda _: b"")
    assert table.loc[0, ["cement", "age_days", "target"]].tolist() == [540, 28, 79.98611076]


@pytest.mark.parametrize("name", TABLE)
def test_a_set_that_is_here_is_as_published(name):
    if not available(name):
        pytest.skip(f"data set {name} is not here: make data")
    assert content_digest(load_table(name)) == TABLE[name].content


def test_the_digest_of_a_table_sees_every_change():
    table = pandas.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": [1, 2]})
    digests = [
        content_digest(one)
        for one in (
            table,
            table.rename(columns={"a": "d"}),
            table[["b", "a", "c"]],
            table.iloc[::-1],
            table.astype({"c": "int8"}),
            table.assign(a=[1.0, 0.0]),
            table.assign(b=["x", ""]),
            table.assign(b=["", "x"]),
            table.assign(c=[1, 3]),
        )
    ]
    assert len(set(digests)) == len(digests)
    same = table.assign(a=-table["a"].abs() * -1).set_index("c", drop=False)
    assert content_digest(same) == digests[0]
