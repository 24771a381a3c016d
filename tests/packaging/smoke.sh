#!/usr/bin/env bash
# Build the wheel, install it with the lowest or the newest versions its metadata allows, and use it.
#   tests/packaging/smoke.sh lowest-direct|highest [PYTHON]
# Needs uv (pip install uv); leaves nothing behind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

resolution=${1:?lowest-direct or highest}
python=${2:-python3}
uv=$(command -v uv || echo .venv/bin/uv)
[[ -x $uv ]] || { echo "uv is not installed: pip install uv" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$uv" build --quiet --wheel --out-dir "$work" .
"$uv" venv --quiet --python "$python" "$work/env"
# From pyproject.toml: requirements of a wheel are indirect, and their lowest would not be taken.
"$uv" pip compile --quiet --python "$work/env/bin/python" --resolution "$resolution" \
    --only-binary :all: --extra demo --no-header --output-file "$work/requirements.txt" pyproject.toml
"$uv" pip install --quiet --python "$work/env/bin/python" --no-deps \
    --requirement "$work/requirements.txt" "$work"/*.whl
echo "== $resolution, $("$work/env/bin/python" --version)"
"$work/env/bin/python" tests/packaging/smoke.py
