"""SHA-256 of what a table holds, whichever way it came: from Parquet, a package or an archive."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import pandas

__all__ = ["content_digest"]

_END: Final = "\x1e"
_MISSING: Final = "\x00"


def content_digest(frame: pandas.DataFrame) -> str:
    """SHA-256 of the columns of a table: names, types and values, in their order.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (rows, columns)
        Columns of numbers and of text. The index does not count.

    Returns
    -------
    str
        64 hexadecimal digits.

    Notes
    -----
    Digested are, column by column: the name, a zero byte, the type (``text`` or numpy's name of
    the little-endian type), a zero byte and the values. Numbers are their bytes, each NaN the same
    one. Texts are UTF-8, each ended by 1e; a missing one is a zero byte.

    Examples
    --------
    >>> import pandas
    >>> content_digest(pandas.DataFrame({"size": [1.5, 2.0], "sort": ["a", None]}))[:16]
    '4bf26be53fcbf4b6'
    """
    import pandas

    digest = hashlib.sha256()
    for name in frame.columns:
        column = frame[name]
        if pandas.api.types.is_numeric_dtype(column):
            values = column.to_numpy()
            values = values.astype(values.dtype.newbyteorder("<"))
            if values.dtype.kind == "f":
                values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
            kind, content = values.dtype.str.replace("|", "<"), values.tobytes()
        else:
            texts = [
                _MISSING if absent else text
                for text, absent in zip(column, column.isna(), strict=True)
            ]
            kind, content = "text", "".join(f"{text}{_END}" for text in texts).encode()
        digest.update(f"{name}\0{kind}\0".encode())
        digest.update(content)
    return digest.hexdigest()
