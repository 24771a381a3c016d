"""The caller's own metrics, `mlflow.models.make_metric`, computed beside ours."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pumonitor.views.numbers import PREFIX, UNDEFINED
from pumonitor_mlflow.configuration import Configuration
from pumonitor_mlflow.rows import Rows

if TYPE_CHECKING:
    import pandas
    from mlflow.models import EvaluationMetric


def refuse_other_than_metrics(metrics: Sequence[Any]) -> None:
    """Check before anything is computed that these are MLflow metrics with names of their own.

    Raises
    ------
    TypeError, ValueError
    """
    from mlflow.models import EvaluationMetric

    names: set[str] = set()
    for index, metric in enumerate(metrics):
        if not isinstance(metric, EvaluationMetric):
            msg = (
                f"extra_metrics[{index}] must come from mlflow.models.make_metric, got "
                f"{type(metric).__name__}"
            )
            raise TypeError(msg)
        if metric.name in names:
            msg = f"extra_metrics has two metrics named {metric.name!r}: rename one"
            raise ValueError(msg)
        names.add(metric.name)


def extra_metric_values(
    metrics: Sequence[EvaluationMetric],
    rows: Rows | None,
    values: Mapping[str, float],
    *,
    configuration: Configuration,
) -> dict[str, float]:
    """Compute extra metrics; they are named ``pu/<name>``, as all this evaluator logs.

    MLflow's own evaluators, when they run beside this one, compute the same functions on
    decisions and log them under the bare name.

    Parameters
    ----------
    metrics : sequence of EvaluationMetric
        Their functions may ask for ``predictions`` (the scores), ``targets`` (the labels),
        ``metrics`` (what is computed so far), ``sample_weight`` and ``propensity`` where
        configured, and columns of the data, renamed by ``col_mapping``; or take the two
        positional arguments ``(eval_df, builtin_metrics)``.
    rows : Rows or None
        None when counts are evaluated; only ``metrics`` exists then.
    values : mapping
        The metrics of the evaluator.

    Raises
    ------
    ValueError
        If a name is taken, an argument cannot be found, or what is returned is not a number.
    """
    found: dict[str, float] = {}
    for metric in metrics:
        computed = {**values, **found}
        result = _call(metric, rows, computed, configuration)
        for key, number in _numbers(metric, result).items():
            if key in values or f"{key}{UNDEFINED}" in values:
                msg = (
                    f"extra metric {metric.name!r} has the name of a metric of the evaluator: "
                    "rename it"
                )
                raise ValueError(msg)
            if math.isfinite(number):
                found[key] = number
            else:
                found[f"{key}{UNDEFINED}"] = 1.0
    return found


def frame_of_rows(rows: Rows) -> pandas.DataFrame:
    """The frame MLflow hands to functions of the older form: columns prediction and target."""
    import pandas

    return pandas.DataFrame({"prediction": rows.scores, "target": rows.labels})


def _call(
    metric: EvaluationMetric,
    rows: Rows | None,
    values: Mapping[str, float],
    configuration: Configuration,
) -> Any:
    function: Callable[..., Any] = metric.eval_fn
    parameters = inspect.signature(function).parameters
    available = _available(rows, values)
    positional, named, missing = [], {}, []
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        source = configuration.col_mapping.get(name, name)
        if not isinstance(source, str):
            value = source
        elif source in available:
            value = available[source]
        elif parameter.default is not parameter.empty:
            value = parameter.default
        else:
            missing.append(name)
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[name] = value
    if not missing:
        return function(*positional, **named)
    if len(missing) == len(parameters) == 2 and rows is not None:
        # The older form, (eval_df, builtin_metrics) under whatever names, as MLflow takes it too.
        return function(frame_of_rows(rows), dict(values))
    raise ValueError(_missing(metric.name, missing, list(available)))


def _available(rows: Rows | None, values: Mapping[str, float]) -> dict[str, Any]:
    from mlflow.metrics import MetricValue

    metrics = {key: MetricValue(aggregate_results={key: number}) for key, number in values.items()}
    if rows is None:
        return {"metrics": metrics}
    frame = frame_of_rows(rows)
    return {
        **rows.columns,
        **rows.weights,
        "predictions": frame["prediction"],
        "targets": frame["target"],
        "metrics": metrics,
    }


def _missing(metric: str, names: Sequence[str], available: Sequence[str]) -> str:
    if not available or list(available) == ["metrics"]:
        return (
            f"extra metric {metric!r} asks for {', '.join(names)}, which a table of counts does "
            "not have: only 'metrics' exists there"
        )
    return (
        f"extra metric {metric!r} asks for {', '.join(names)}, which are not among "
        f"{', '.join(available)}; map them with evaluator_config={{'pu': {{'col_mapping': "
        f"{{{names[0]!r}: '<column>'}}}}}}"
    )


def _numbers(metric: EvaluationMetric, result: Any) -> dict[str, float]:
    from mlflow.metrics import MetricValue

    key = PREFIX + (f"{metric.name}/{metric.version}" if metric.version else metric.name)
    if isinstance(result, MetricValue):
        results: Mapping[str, Any] = result.aggregate_results or {}
        # A summary named like the metric is the metric; the others come below it, as in MLflow.
        return {
            key if name == metric.name else f"{key}/{name}": float(number)
            for name, number in results.items()
            if number is not None
        }
    try:
        return {key: float(result)}
    except (TypeError, ValueError):
        msg = (
            f"extra metric {metric.name!r} must return a number or a MetricValue, got "
            f"{type(result).__name__}"
        )
        raise ValueError(msg) from None
