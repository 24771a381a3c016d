"""The auxiliary score, frozen: what it says of rows, and its bytes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.auxiliary.feature_columns import FeatureColumn, FeatureColumns, RawColumns
from pumonitor.prior.auxiliary.folds import fold_of
from pumonitor.prior.auxiliary.trees import Trees

_MAGIC: Final = b"PUA1"
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuxiliaryScore:
    """A cross-fitted score of the features: one model a fold, none of which saw its fold.

    Attributes
    ----------
    columns : FeatureColumns
        What it reads.
    models : tuple of Trees
        That of fold k scores the entities of fold k, whenever they come up.
    facts : mapping
        Plain JSON values: numbers of rows it was trained with, settings, seed, versions.
    """

    columns: FeatureColumns
    models: tuple[Trees, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def of(self, raw: RawColumns, keys: NDArray[Any]) -> FloatArray:
        """The score of rows, in (0, 1): a chance to be labeled, among the rows it was trained with.

        Parameters
        ----------
        raw : mapping of str to ndarray of shape (rows,)
            As `raw_columns` gives them; columns it was not trained with are left unread.
        keys : ndarray of shape (rows,)
            Of entities, as in training.

        Raises
        ------
        InputError
            If a column is absent, or holds another type than in training.
        """
        matrix, folds = self.columns.encoded(raw), fold_of(keys)
        found = np.empty(len(matrix))
        for fold, model in enumerate(self.models):
            here = np.flatnonzero(folds == fold)
            found[here] = special.expit(model.log_odds(matrix[here]))
        return found

    @property
    def hash(self) -> str:
        """SHA-256 of all that its scores depend on, in hexadecimal digits."""
        header, body = self._content()
        return sha256(_as_json({**header, "facts": None}) + body).hexdigest()

    def to_bytes(self) -> bytes:
        """A header in JSON, then plain arrays, all compressed: nothing in it can be executed.

        Examples
        --------
        >>> AuxiliaryScore.from_bytes(b"other")
        Traceback (most recent call last):
        ...
        ValueError: a stored auxiliary score must begin with b'PUA1', found b'othe'
        """
        header, body = self._content()
        described = _as_json(header)
        length = len(described).to_bytes(4, "little")
        return _MAGIC + zlib.compress(length + described + body, _LEVEL)

    @classmethod
    def from_bytes(cls, stored: bytes) -> AuxiliaryScore:
        """What `to_bytes` stored.

        Raises
        ------
        ValueError
            If it is nothing of the kind, or damaged.
        """
        if stored[:4] != _MAGIC:
            msg = (
                f"a stored auxiliary score must begin with {_MAGIC!r}, found {bytes(stored[:4])!r}"
            )
            raise ValueError(msg)
        try:
            return cls._read(zlib.decompress(stored[4:]))
        except (zlib.error, ValueError, KeyError, TypeError) as error:
            msg = f"a stored auxiliary score is damaged: {error}"
            raise ValueError(msg) from None

    def _content(self) -> tuple[dict[str, Any], bytes]:
        shapes = []
        parts = []
        for model in self.models:
            arrays = model.arrays()
            shapes.append(
                {
                    "baseline": model.baseline,
                    "arrays": [[name, one.dtype.str, *one.shape] for name, one in arrays.items()],
                }
            )
            parts += [one.tobytes() for one in arrays.values()]
        header = {
            "columns": [asdict(one) for one in self.columns.columns],
            "models": shapes,
            "facts": dict(self.facts),
        }
        return header, b"".join(parts)

    @classmethod
    def _read(cls, content: bytes) -> AuxiliaryScore:
        begin = 4 + int.from_bytes(content[:4], "little")
        header = json.loads(content[4:begin])
        models = []
        for one in header["models"]:
            arrays: dict[str, NDArray[Any]] = {}
            for name, kind, *shape in one["arrays"]:
                size = int(np.prod(shape))
                arrays[name] = np.frombuffer(content, np.dtype(kind), size, begin).reshape(shape)
                begin += arrays[name].nbytes
            models.append(Trees.of(float(one["baseline"]), **arrays))
        if begin != len(content):
            msg = f"{len(content) - begin} bytes are left over"
            raise ValueError(msg)
        return cls(
            columns=FeatureColumns(
                tuple(
                    FeatureColumn(**{**one, "categories": tuple(one["categories"])})
                    for one in header["columns"]
                )
            ),
            models=tuple(models),
            facts=header["facts"],
        )


def _as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()
