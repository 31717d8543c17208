"""A daemon as on another host: it knows no process of this machine, and waits less long for a silent owner."""

from __future__ import annotations

import os
import sys

from fwdperm.__main__ import main as run
from fwdperm.inbox import shared_lease


def main() -> None:
    shared_lease.this_machine = lambda: os.environ["HOST_NAME"]
    shared_lease.FENCE_S, shared_lease.STALE_S = 1.5, 3.0
    sys.exit(run())


if __name__ == "__main__":
    main()
