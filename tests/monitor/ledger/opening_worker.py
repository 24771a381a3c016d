"""Opens a state database from several processes at once: ADDRESS PROCESSES."""

from __future__ import annotations

import os
import sys
import traceback

from pumonitor.monitor.ledger.database.migrations import upgrade  # noqa: F401  # loaded once, before the fork
from pumonitor.monitor.ledger.ledger import Ledger


def main(address: str, processes: int) -> int:
    gate_read, gate_write = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            os.close(gate_write)
            os.read(gate_read, 1)  # returns when the parent lets go of the other end
            try:
                with Ledger.open(address) as ledger:
                    ledger.ready()
            except BaseException:  # noqa: BLE001  # told by the exit status
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    os.close(gate_write)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.stdout.write(f"{codes.count(0)} opened\n")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
