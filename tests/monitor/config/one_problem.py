"""A good configuration, and what is said of it once something in it is wrong."""

import re

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration_text

GOOD = """\
monitors:
  fraud:
    predictions:
      source: p.csv
      id: id
      time: time
      score: score
      segments: [country]
    positives:
      source: c.csv
      id: id
      known_at: known
    window: 1d
    maturity: 30d
    threshold: 0.5
    reference: {start: 2026-01-01, end: 2026-02-01}
    rules:
      - {metric: f1, below: 0.5}
"""


def problems(text, **environment):
    with pytest.raises(InputError) as caught:
        read_configuration_text(text, environment=environment)
    lines = str(caught.value).splitlines()
    if len(lines) == 1:
        return [lines[0].removeprefix("pumonitor.yaml: ")]
    assert re.fullmatch(rf"pumonitor.yaml has {len(lines) - 1} problems:", lines[0])
    return [line.removeprefix("  ") for line in lines[1:]]


def only(text, **environment):
    (problem,) = problems(text, **environment)
    return problem
