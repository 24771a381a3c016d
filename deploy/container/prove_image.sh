#!/usr/bin/env bash
# Builds the image and runs it as a cluster would: read-only root, no user but 10001, no capability.
#
#   deploy/container/prove_image.sh ROOT [WHEELS]
#
# ROOT is a folder with a root file system that has Python 3.11 with venv; no registry is asked:
#   debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm ROOT
# WHEELS is a folder with the wheels of the lock, where no index is to be asked either:
#   pip download --no-deps --require-hashes -r deploy/container/requirements.lock -d WHEELS
# It needs root, buildah and runc, a wheel in dist/ (make dist) and .venv (make setup).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

root=$(realpath "$1")
wheels=${2:+$(realpath "$2")}
folder=$(mktemp -d)
base=localhost/pumonitor-base
image=localhost/pumonitor
created=()

clean_up() {
    if [[ -n ${service:-} ]]; then
        runc delete --force "$service" || true
    fi
    for container in "${created[@]}"; do
        buildah rm "$container" >/dev/null || true
    done
    rm -rf "$folder"
}
trap clean_up EXIT

said() {
    echo "== $*"
}

said "the base, from $root"
container=$(buildah from scratch)
created+=("$container")
buildah add --quiet "$container" "$root" / >/dev/null
buildah commit --quiet "$container" "$base" >/dev/null

said "the image"
options=()
if [[ -n $wheels ]]; then
    printf '[global]\nno-index = true\nfind-links = /wheels\n' >"$folder/pip.conf"
    options+=(--volume "$wheels:/wheels:ro" --secret "id=pip,src=$folder/pip.conf")
fi
buildah build --quiet --isolation chroot --format docker --file deploy/container/Containerfile \
    --build-arg "BASE=$base" "${options[@]}" --tag "$image" . >/dev/null
container=$(buildah from "$image")
created+=("$container")
mounted=$(buildah mount "$container")

# What a monitor needs: a configuration, tables, and a folder for the state database.
mkdir "$folder/etc" "$folder/state"
.venv/bin/python - "$folder/etc" <<'EOF'
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, "tests/monitor")
from monitored_shop import write_shop

today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
write_shop(
    Path(sys.argv[1]), days=3, first=today - timedelta(days=6), class_prior=0.1, panes="[0d]",
    state="sqlite:////var/lib/pumonitor/state.db",
)
EOF
chown -R 10001:10001 "$folder/state"
chmod -R a+rX "$folder"

# $1 the name, the rest is the command; entry point and user are those of the image.
bundle() {
    local name=$1
    shift
    mkdir "$folder/$name"
    buildah inspect --type image "$image" >"$folder/$name/image.json"
    (cd "$folder/$name" && runc spec)
    .venv/bin/python - "$folder/$name" "$mounted" "$folder" "$@" <<'EOF'
import json
import sys
from pathlib import Path

bundle, root, folder, *command = sys.argv[1:]
path = Path(bundle) / "config.json"
spec = json.loads(path.read_text())
image = json.loads((Path(bundle) / "image.json").read_text())["Docker"]["config"]
user, group = map(int, image["User"].split(":"))
entry = image["Entrypoint"]
spec["process"] |= {
    "terminal": False,
    "user": {"uid": user, "gid": group},
    "args": command[1:] if command[:1] == ["--"] else entry + (command or image["Cmd"]),
    "env": image["Env"],
    "cwd": image["WorkingDir"],
    "capabilities": {},
    "noNewPrivileges": True,
}
spec["root"] = {"path": root, "readonly": True}
spec["mounts"] += [
    {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev"]},
    {"destination": "/etc/pumonitor", "type": "bind", "source": f"{folder}/etc",
     "options": ["bind", "ro"]},
    {"destination": "/var/lib/pumonitor", "type": "bind", "source": f"{folder}/state",
     "options": ["bind", "rw"]},
]
# The network of the machine: there is no other where this is tried.
spec["linux"]["namespaces"] = [
    one for one in spec["linux"]["namespaces"] if one["type"] not in ("network", "cgroup")
]
spec["linux"].pop("resources", None)
spec["mounts"] = [one for one in spec["mounts"] if one["type"] != "cgroup"]
path.write_text(json.dumps(spec))
EOF
}

run() {
    local name="once-$RANDOM"
    bundle "$name" "$@"
    runc run --bundle "$folder/$name" "pumonitor-$name"
}

said "the entry point"
run --version
said "who runs, and what the root says to a write"
run -- python -c "
import os, sys
status = dict(line.split(':\t') for line in open('/proc/self/status').read().splitlines())
print('user', os.getuid(), 'group', os.getgid(), 'capabilities', status['CapEff'],
      'no new privileges', status['NoNewPrivs'])
for place in ('/opt/pumonitor/x', '/etc/x', '/x'):
    try:
        open(place, 'w')
    except OSError as error:
        print(place, error.strerror)
    else:
        sys.exit(f'{place} can be written')
"
said "the tables"
run migrate --config /etc/pumonitor/pumonitor.yaml
run migrate --check --config /etc/pumonitor/pumonitor.yaml
said "a round"
run run --config /etc/pumonitor/pumonitor.yaml
said "the service as the image starts it, its health check, and its end"
service=pumonitor-service-$RANDOM
bundle service
runc run --bundle "$folder/service" "$service" >"$folder/service.log" 2>&1 &
started=$!
check=$(buildah inspect --type image --format '{{index .Docker.Config.Healthcheck.Test 4}}' "$image")
for _ in $(seq 100); do
    sleep 0.5
    if runc exec "$service" python -I /opt/pumonitor/healthy.py "${check%healthz}readyz" 2>/dev/null; then
        echo "ready: $check"
        break
    fi
done
runc exec "$service" python -I /opt/pumonitor/healthy.py "$check"
runc kill "$service" TERM
wait "$started"
cat "$folder/service.log"
service=
said "everything that was promised holds"
