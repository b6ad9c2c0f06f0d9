# SPDX-License-Identifier: MIT
"""libgather with a tuning parameter at a value, so that one process measures several values in turns."""

from __future__ import annotations

import gather_bench_native as native


class Tuned:
    """ours: an object of the class Ours of peers.py or of another kind's. Plans read the parameter while they are made, calls without a plan while they run."""

    def __init__(self, ours, parameter: str, value: int):
        self.ours, self.parameter, self.value = ours, parameter, value
        self.name, self.version = ours.name, ours.version

    def tune(self) -> None:
        native.tune(self.parameter, self.value)

    def plan(self, memory, *more):
        self.tune()
        return self.ours.plan(memory, *more)

    def way(self, memory) -> str:
        self.tune()
        return self.ours.way(memory)

    def contenders(self, memory):
        self.tune()
        for contender in self.ours.contenders(memory):
            contender.value, before = self.value, contender.setup
            contender.setup = lambda before=before: (self.tune(), before())
            yield contender
