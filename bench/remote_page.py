# SPDX-License-Identifier: MIT
"""Makes the page of a run of `script/remote --bench`. Nothing in the page is written elsewhere."""

from __future__ import annotations

from page_parts import machine, table

OURS = "libgather"

HEAD = """\
# Rows of files on a server: measurements

Made from [{name}.json](../{name}.json), the results of `script/remote --bench`. {count} rows and fewer are taken from a file on a server, {connections} connections at most, through a
relay that adds the round trip and limits the rate. Every way takes the same rows in the same run, one way after another in each of
{rounds} rounds, and connects anew each time: the time contains opening the file and its connections. The figures are medians. The rows of
every take are compared with those that were written.

All ways are told the URL, the numbers of the rows and their length{told}.

"""

READ = """\
## How to read the tables

- *time* is in seconds, *times ours* is that time divided by libgather's: above 1, libgather is faster.
- *requests* are those that the server answered, *MB* what passed the relay towards the client, headers included.
- *open* is the most connections that were open at a time.
- *CPU* is the time that the client computes, in seconds. Client, relay and server share {cpus} CPUs: where the CPU is the limit, a client
  that needs less of it looks better than on a machine of its own.
- The server keeps its files in memory. On a real one, what is read beyond the rows costs more than here.
{relay}
"""


def number(value: float, digits: int = 3) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def line(row: dict) -> str:
    """For the terminal."""
    name = f"{row['case']:7} {row['rtt'] * 1e3:5.0f} ms  {row['way']:18}"
    if "error" in row:
        return f"{name} {row['error']}"
    return (f"{name} {row['seconds']:8.3f} s  {row['requests']:6.0f} requests  {row['bytes'] / 1e6:9.2f} MB  "
            f"{row['peak']:4.0f} connections  {row['cpu']:6.2f} s CPU")  # fmt: skip


def groups(results: dict) -> dict[tuple[str, float], list[dict]]:
    found: dict[tuple[str, float], list[dict]] = {}
    for row in results["rows"]:
        found.setdefault((row["case"], row["rtt"]), []).append(row)
    return found


def ours_of(rows: list[dict]) -> float:
    return next((row["seconds"] for row in rows if row["way"] == OURS and "error" not in row), float("nan"))


def one_table(rows: list[dict]) -> str:
    ours, lines = ours_of(rows), []
    for row in sorted(rows, key=lambda row: row.get("seconds", float("inf"))):
        name = f"**{row['way']}**" if row["kind"] == "ours" else row["way"]
        if "error" in row:
            lines.append([name, "failed", "", "", "", "", ""])
            continue
        lines.append([name, number(row["seconds"]), number(row["seconds"] / ours), number(row["requests"], 4),
                      number(row["bytes"] / 1e6), f"{row['peak']:.0f}", number(row["cpu"], 2)])  # fmt: skip
    return table(["way", "time", "times ours", "requests", "MB", "open", "CPU"], lines)


def losses(results: dict) -> list[tuple[dict, float]]:
    """The peers that are faster than libgather, and how many times as long libgather takes."""
    return [(row, ours_of(rows) / row["seconds"]) for rows in groups(results).values() for row in rows
            if row["kind"] == "peer" and "error" not in row and row["seconds"] < ours_of(rows)]  # fmt: skip


def verdict(results: dict) -> str:
    if any("error" in row for row in results["rows"] if row["way"] == OURS):
        return "libgather failed."
    compared = sum(row["kind"] == "peer" and "error" not in row for row in results["rows"])
    lost = losses(results)
    text = f"libgather is faster in {compared - len(lost)} of {compared} comparisons with a peer."
    for row, factor in lost:
        text += f"\n- slower than {row['way']}: {row['case']}, {row['rtt'] * 1e3:.0f} ms: {factor:.2f} times its time"
    return text


def relay(results: dict) -> str:
    """Whether the relay is the limit."""
    shares = [row["relay"] for row in results["rows"] if row["way"] == OURS and "relay" in row]
    if not shares:
        return ""
    return f"- The relay, one thread in C, computed for {min(shares):.0%} to {max(shares):.0%} of the time of libgather's takes.\n"


def page(results: dict, name: str) -> str:
    settings = results["settings"]
    count = max(case["rows"] for case in results["cases"])
    told = ("; the peers also know where the rows begin, and only libgather reads that from the file" if settings.get("told") else
            ". Where the rows begin is in the header of the file, which takes each of them a request or two")  # fmt: skip
    text = HEAD.format(name=name, count=f"{count:,}", connections=settings["connections"], rounds=settings["rounds"], told=told)
    text += verdict(results) + "\n\n" + READ.format(cpus=results["machine"]["cpus"], relay=relay(results))
    whats = {case["case"]: case for case in results["cases"]}
    for (case_name, rtt), rows in groups(results).items():
        case = whats[case_name]
        text += f"## {case_name}, {rtt * 1e3:.0f} ms\n\n{case['rows']:,} rows: {case['what']}.\n\n{one_table(rows)}"
        failed = [f"- {row['way']}: {row['error']}" for row in rows if "error" in row]
        text += "\n".join(["", "Failed:", "", *failed, "", ""]) if failed else "\n"
    text += "## Ways\n\n" + "\n".join(f"- {way['way']}: {way['how']}" for way in results["ways"]) + "\n\n"
    return text + "## Machine\n\n" + machine(results, f"{settings['rounds']} rounds", ["rate", f"{settings['rate'] * 8 / 1e9:g} Gbit/s"])
