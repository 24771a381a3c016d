"""Tables written to files."""

from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.onboarding.configuration_text import configuration_text


def written(folder, predictions, positives, *, names=("predictions.csv", "confirmed.csv")):
    for frame, name in zip((predictions, positives), names, strict=True):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    return str(folder)


def monitor_of(found, folder):
    text = configuration_text(found, folder=folder)
    wide = [line for line in text.splitlines() if len(line) > 100]
    assert all("#" not in line.partition(": ")[2] for line in wide), "comments run over keys"
    read = read_configuration_text(text, path=folder / "pumonitor.yaml", environment={})
    return read.configuration.monitors[found.name]
