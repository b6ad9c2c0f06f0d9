# SPDX-License-Identifier: MIT
"""One way in a process of its own: takes jobs from standard input, a line of JSON each, and answers likewise. The rows go to a file, which is
not timed."""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np
import remote_peers


def cpu() -> float:
    """Seconds of the CPU, children included."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> int:
    way = next(way for way in remote_peers.WAYS if way.name == sys.argv[1])
    for line in sys.stdin:
        told = json.loads(line)
        out, ids = told.pop("out"), np.load(told.pop("ids"))
        job = remote_peers.Job(ids=ids, **told)
        try:
            began, start = cpu(), time.perf_counter()
            rows = way.take(job)
            answer = {"seconds": time.perf_counter() - start, "cpu": cpu() - began}
            np.save(out, rows)
        except Exception as error:  # noqa: BLE001  (told on the page)
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
