# SPDX-License-Identifier: MIT
"""docs/benchmarks-plugins.md: one section per plug-in, each written by that plug-in's benchmark; the others stay as they are."""

from __future__ import annotations

import os
import platform
import re
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks-plugins.md"
HEAD = """# Benchmarks of the plug-ins

What libgather costs inside other people's runtimes, beside their own kernels, losses included. Each section is written by the
command that it names, and says on which machine and when. The tables of the others are in their pages: [PyTorch](plugin-torch.md#times), [JAX](plugin-jax.md#speed),
[DuckDB](plugin-duckdb.md#speed), [OpenVINO](plugin-openvino.md#figures).
"""
ORDER = ("onnxruntime", "torch", "jax", "duckdb", "openvino")


def machine() -> str:
    """A sentence: the CPU, how many, the system, the date, and how busy it was."""
    name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    cpus, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    busy = " Other programs used the machine: times of several threads say little." if load > 1.5 * cpus else ""
    return (f"{name.group(1) if name else platform.machine()}, {cpus} CPUs, {platform.system()} {platform.release().split('-')[0]}, "
            f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}, load {load:.1f}.{busy}")


def sections(text: str) -> dict[str, str]:
    found = re.findall(r"<!-- begin (\w+) -->\n(.*?)<!-- end \1 -->\n", text, re.S)
    return dict(found)


def write_section(host: str, title: str, command: str, text: str, page: Path = PAGE) -> None:
    """Replaces a host's section of the page, or adds it. text: Markdown without a heading of the first two levels."""
    kept = sections(page.read_text()) if page.exists() else {}
    kept[host] = f"## {title}\n\n`{command}` writes this section.\n\n{text.strip()}\n"
    listed = [name for name in ORDER if name in kept] + [name for name in kept if name not in ORDER]
    body = "\n".join(f"<!-- begin {name} -->\n{kept[name]}<!-- end {name} -->\n" for name in listed)
    page.write_text(f"{HEAD}\n{body}")
