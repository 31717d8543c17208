"""A client without the library: one JSON file in, one out. The same in any language.

Run it beside a daemon: FWDPERM_ROOT=... python examples/raw_client.py bash 'git status'
"""

import hashlib
import json
import os
import sys
import time
import uuid
from pathlib import Path


def ask(root: Path, surface: str, value: str, *, parent: str = "root", wait_s: float = 60.0) -> tuple[bool, str]:
    """Ask the daemon that serves `root`; give the verdict and its reason. Silence, and anything unreadable, mean no."""
    inbox = root / "sessions" / parent
    request_id = f"raw-{uuid.uuid4().hex}"
    now = int(time.time() * 1000)
    body = {
        "id": request_id,
        "createdAt": now,
        "deadlineMs": now + int(wait_s * 1000),
        "requesterSessionId": f"raw-{os.getpid()}",
        "targetSessionId": parent,
        "requesterAgentName": "raw",
        "accessIntent": {"surface": surface, "matchValues": [value], "requesterCwd": str(Path.cwd())},
    }
    content = json.dumps(body).encode()
    for part in ("requests", "responses"):
        (inbox / part).mkdir(mode=0o700, parents=True, exist_ok=True)
    request = inbox / "requests" / f"{request_id}.json"
    response = inbox / "responses" / f"{request_id}.json"
    half = request.with_suffix(".tmp")
    half.write_bytes(content)
    half.rename(request)
    end = time.monotonic() + wait_s
    while time.monotonic() < end:
        try:
            answer = json.loads(response.read_bytes())
        except FileNotFoundError:
            time.sleep(0.02)
            continue
        response.unlink()
        ours = answer.get("requestDigest") == hashlib.sha256(content).hexdigest()
        approved = ours and answer.get("approved") is True and answer.get("state") == "approved"
        return approved, str(answer.get("note") or answer.get("denialReason") or "")
    request.unlink(missing_ok=True)
    return False, "nobody answered"


if __name__ == "__main__":
    allowed, said = ask(Path(os.environ["FWDPERM_ROOT"]), sys.argv[1], sys.argv[2])
    print("allowed" if allowed else "denied", said)
    sys.exit(0 if allowed else 10)
