# SPDX-License-Identifier: MIT
"""What the pages of all runs have in common: tables, and the machine of a run."""

from __future__ import annotations

MACHINE = {
    "date": "date", "cpu": "CPU", "cpus": "CPUs in use", "hypervisor": "virtual machine", "caches": "caches of a CPU",
    "memory_gib": "memory, GiB", "page_bytes": "page, bytes", "huge_pages": "huge pages", "disk": "disk", "model": "model", "file_system": "file system",
    "read_ahead_kib": "readahead, KiB", "scheduler": "scheduler", "rotational": "rotational, as reported", "system": "system",
    "compiler": "compiler", "build_type": "build type", "flags": "flags", "isa": "kernels used", "pool": "thread pool",
    "python": "Python", "commit": "commit", "load": "load when it began", "server": "server", "network": "its network", "command": "command",
}  # fmt: skip


def opening(title: str, name: str, command: str) -> str:
    """name: of the results; command: what made them."""
    return (f"# {title}\n\nMade from [{name}.json](../{name}.json), the results of one run of `{command}`. docs/benchmarks.md says how it was "
            "measured and how to read it. Rows in which libgather is slower than a peer are included.\n")  # fmt: skip


def table(head: list[str], rows: list[list[str]], texts: int = 1) -> str:
    """The first columns are texts, the others numbers."""
    lines = [head, ["---"] * texts + ["---:"] * (len(head) - texts), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def machine(results: dict, run: str, *more: list[str]) -> str:
    """What a run knows of its machine; run: what was run there; more: other rows."""
    about = results["machine"]
    lines = [[name, str(about[key]).strip()] for key, name in MACHINE.items() if str(about.get(key, "")).strip()]
    lines.append(["versions", ", ".join(f"{name} {version}" for name, version in about["versions"].items())])
    absent = [f"{name} ({why})" for name, why in about["absent"].items()] if isinstance(about["absent"], dict) else about["absent"]
    lines.append(["absent", "; ".join(absent).replace("|", "/") or "none"])
    lines.append(["run", f"a {'quick' if results['settings']['quick'] else 'full'} run: {run}, {results['settings']['seconds']:.0f} s"])
    return table(["what", ""], [*lines, *more], 2)
