"""A query that an operator wrote: one SELECT and nothing else, with its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp

    from pumonitor.sources.windows.counts_parts import Statement

PREDICTION_PARAMETERS: Final = frozenset({"start", "end"})
LABEL_PARAMETERS: Final = frozenset({"as_of"})
_KNOWN: Final = PREDICTION_PARAMETERS | LABEL_PARAMETERS
_FIRST_WORDS: Final = ("SELECT", "WITH", "(")
_MARK: Final = "pumonitor_parameter_"
_PARAMETER: Final = re.compile(rf"{_MARK}(\w+)")
WRITTEN_OUT: Final = f"{_MARK}{{}}"
"""The placeholder of drivers that take no parameters."""

_BOUND: Final = re.compile(r"(?<![:\w\\]):(\w+)")
_BARE_COLON: Final = re.compile(r"(?<![:\w\\]):(?=\w)")


def check_query(
    query: str,
    *,
    dialect: str | None = None,
    parameters: Collection[str] | None = None,
    name: str = "the query",
    placeholder: str | None = None,
) -> str:
    """Read a query, refuse what is not one SELECT, and write it anew.

    What was checked is what will run: the text is written from what was parsed, without comments.

    Parameters
    ----------
    query : str
    dialect : str, optional
        As sqlglot calls it; without it what most have in common is read.
    parameters : collection of str, optional
        Those it must have, and no others; without it any of :start, :end and :as_of.
    name : str
        For messages.
    placeholder : str, optional
        How the driver takes a parameter, {} for its name, such as "${}"; without it the text is one
        for SQLAlchemy.

    Raises
    ------
    InputError
        For a second statement, for one that writes or locks, for a parameter too many or too few.

    Examples
    --------
    >>> check_query("select id from p where made >= :start and made < :end -- the day's")
    'SELECT id FROM p WHERE made >= :start AND made < :end'
    >>> check_query("select id from p where made <= :as_of", dialect="duckdb", placeholder="${}")
    'SELECT id FROM p WHERE made <= $as_of'
    >>> check_query("delete from p")
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: the query begins with DELETE: it must be one SELECT that only \
reads
    """
    from sqlglot import exp

    tree = _only_statement(query, dialect=dialect, name=name)
    writing = tree.find(
        exp.Insert,
        exp.Update,
        exp.Delete,
        exp.Merge,
        exp.Create,
        exp.Drop,
        exp.Command,
        exp.Into,
        exp.Lock,
    )
    if writing is not None or not isinstance(tree, exp.Query):
        word = "other statements" if writing is None else writing.key.upper()
        msg = f"{name} holds {word}: it must be one SELECT that only reads"
        raise InputError(msg)
    found = {str(node.this) for node in tree.find_all(exp.Placeholder)}
    found |= {str(node) for node in tree.find_all(exp.Parameter)}
    _check_parameters(found, parameters, name)
    for node in list(tree.find_all(exp.Placeholder)):
        node.replace(exp.Var(this=f"{_MARK}{node.this}"))
    written = tree.sql(dialect=dialect, comments=False)
    if placeholder is None:
        return for_sqlalchemy(written).replace(_MARK, ":")
    return _PARAMETER.sub(lambda found: placeholder.format(found[1]), written)


def written_out(sql: str, values: Mapping[str, object], constant: Callable[[object], str]) -> str:
    """Put constants in place of parameters that were written as `WRITTEN_OUT` says.

    Examples
    --------
    >>> query = check_query("select id from p where made <= :as_of", placeholder=WRITTEN_OUT)
    >>> written_out(query, {"as_of": 7}, str)
    'SELECT id FROM p WHERE made <= 7'
    """
    return _PARAMETER.sub(lambda found: constant(values[found[1]]), sql) if values else sql


def spelled_out(statement: Statement, constant: Callable[[object], str]) -> str:
    r"""A statement that was written for SQLAlchemy as its engine reads it, with its values.

    Examples
    --------
    >>> from pumonitor.sources.windows.counts_parts import Statement
    >>> sql = r"SELECT ':a', b\:\:INT64 FROM p WHERE made < :end"
    >>> given = Statement(sql=sql, values={"end": 7})
    >>> spelled_out(given, str)
    "SELECT ':a', b::INT64 FROM p WHERE made < 7"
    """
    values = statement.values

    def value(found: re.Match[str]) -> str:
        return constant(values[found[1]]) if found[1] in values else found[0]

    return _BOUND.sub(value, statement.sql).replace("\\:", ":")


def for_sqlalchemy(sql: str) -> str:
    r"""Write colons so that SQLAlchemy takes nothing for a parameter.

    Examples
    --------
    >>> print(for_sqlalchemy("name = 'of :x'"))
    name = 'of \:x'
    """
    return _BARE_COLON.sub(r"\\:", sql)


def _only_statement(query: str, *, dialect: str | None, name: str) -> exp.Expr:
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tokens = sqlglot.tokenize(query, read=dialect)
        word = tokens[0].text.upper() if tokens else "nothing"
        if word not in _FIRST_WORDS or _MARK in query:
            msg = f"{name} begins with {word}: it must be one SELECT that only reads"
            raise InputError(msg)
        statements = [one for one in sqlglot.parse(query, dialect=dialect) if one is not None]
    except RecursionError:
        msg = f"{name} has too many brackets or conditions one inside the other to be read as SQL"
        raise InputError(msg) from None
    except SqlglotError as error:
        # Its first line; the parser underlines words with signs for a terminal.
        plain = re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()[0]
        msg = f"{name} cannot be read as SQL: {plain}"
        raise InputError(msg) from None
    if len(statements) != 1:
        msg = f"{name} has {len(statements)} statements: it must be one SELECT that only reads"
        raise InputError(msg)
    return statements[0]


def _check_parameters(found: Collection[str], wanted: Collection[str] | None, name: str) -> None:
    known = _KNOWN if wanted is None else frozenset(wanted)
    listed = ", ".join(f":{one}" for one in sorted(known, reverse=True))
    for one in sorted(found):
        if one not in known:
            hint = did_you_mean(one, known)
            msg = f"{name} has a parameter '{one}', and what it is given is {listed}{hint}"
            raise InputError(msg)
    missing = [] if wanted is None else sorted(set(wanted) - set(found), reverse=True)
    if missing:
        listed = " and ".join(f":{one}" for one in missing)
        msg = (
            f"{name} lacks {listed}: without it all rows would be read for every window; put it "
            "into the WHERE, for example scored_at >= :start AND scored_at < :end (predictions) "
            "or confirmed_at <= :as_of (positives)"
        )
        raise InputError(msg)
