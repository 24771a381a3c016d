"""Whether a server in the same container answers 200: `python -I healthy.py URL [HOST]`.

HOST is the name by which it is asked, where it answers to no other.
The token of the health server is read from the file that PUMONITOR_HEALTH_TOKEN_FILE names, or from
PUMONITOR_HEALTH_TOKEN. Exit status 0: it answers; 1: it does not.
"""

import os
import sys
import urllib.request
from pathlib import Path


def token() -> str:
    """The token of the health server; empty without one."""
    file = os.environ.get("PUMONITOR_HEALTH_TOKEN_FILE")
    if file:
        return Path(file).read_text(encoding="ascii").strip()
    return os.environ.get("PUMONITOR_HEALTH_TOKEN", "")


def main(url: str, *host: str) -> int:
    """Ask it, once."""
    headers = {"Authorization": f"Bearer {token()}"} if token() else {}
    if host:
        headers["Host"] = host[0]
    # Itself, whatever proxy the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=5):  # noqa: S310
            return 0
    except OSError as error:
        sys.stderr.write(f"{url}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
