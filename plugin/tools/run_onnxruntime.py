# SPDX-License-Identifier: MIT
"""script/plugins onnxruntime: ONNX Runtime's plug-in in many versions, on many cases and models, under stress, and its costs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import onnxruntime_venvs as venvs
import ort_runs as runs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def arguments():
    parser = argparse.ArgumentParser(prog="script/plugins onnxruntime", description=__doc__.partition(": ")[2])
    parser.add_argument("--versions", nargs="*", metavar="VERSION", help=f"both doors in these versions of ONNX Runtime (default: {' '.join(venvs.VERSIONS)})")
    parser.add_argument("--cases", action="store_true", help="ONNX's node cases and generated ones, compared with the built-in kernels by bytes")
    parser.add_argument("--models", action="store_true", help="unmodified models at each level of graph optimisation")
    parser.add_argument("--subgraphs", nargs="?", const=1, type=int, metavar="ROUNDS", help="gathers in If, Loop and Scan: every type and source, about 2000 models a round")
    parser.add_argument("--seed", type=int, default=28, help="of the first round of --subgraphs")
    parser.add_argument("--stress", nargs="?", const="all", choices=("all", "plain", "asan", "valgrind"), help="threads, registrations, fork; under valgrind and ASan too")
    parser.add_argument("--bench", nargs="?", const="", metavar="JSON", help="costs per node and per run beside the built-in kernels")
    parser.add_argument("--memory", action="store_true", help="an external table larger than memory")
    return parser.parse_known_args()


def models(library: str) -> list[str]:
    import onnxruntime_models

    return onnxruntime_models.main(library)


def subgraphs(library: str, first: int, rounds: int) -> list[str]:
    """Each round has another seed, and draws anew what it does not go through."""
    import ort_subgraphs

    faults = []
    for seed in range(first, first + rounds):
        chosen = ort_subgraphs.all_cases(seed) + ort_subgraphs.quantised_cases(seed, 100)
        plain = ort_subgraphs.ask(chosen, "built-in", library)
        for door in runs.DOORS[1:]:
            faults += ort_subgraphs.faults_among(chosen, plain, ort_subgraphs.ask(chosen, door, library), door)
        print(f"seed {seed}: {len(chosen)} models, {sum('outputs' in answer for answer in plain)} of which run without the plug-in; {len(faults)} faults so far", flush=True)
    return faults


def main() -> int:
    known, rest = arguments()
    library, faults = runs.library_path(), []
    if rest and not known.memory:
        sys.exit(f"script/plugins onnxruntime: unknown argument {rest[0]!r}; --help lists them")
    if known.versions is not None:
        import onnxruntime_versions

        faults += onnxruntime_versions.main(library, known.versions or venvs.VERSIONS)
    if known.cases:
        import onnxruntime_cases

        faults += onnxruntime_cases.main(library)
    if known.models:
        faults += models(library)
    if known.subgraphs:
        faults += subgraphs(library, known.seed, known.subgraphs)
    if known.stress:
        import onnxruntime_stress

        faults += onnxruntime_stress.main(library, known.stress)
    if known.bench is not None:
        import plugin_onnxruntime

        faults += plugin_onnxruntime.main(library, known.bench)
    if known.memory:
        import onnxruntime_memory

        faults += onnxruntime_memory.main(rest) or []
    print(*(faults or ["no faults"]), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
