# SPDX-License-Identifier: MIT
"""The page of a run of `script/bench --python`, on calls from Python."""

from __future__ import annotations

from calls import NEW, OURS, OUT
from page_parts import machine, table
from summary import number, percent, times

TITLE = "# Calls from Python\n"

ABOUT = """This page is made from [{name}.json](../{name}.json), the results of one run of `script/bench --python`: the Python
package compared with NumPy and PyTorch, in one process, alternating in a varying order. A row names the statement as written in Python. Each round is a loop of some hundred calls (0.2 ms in all), repeated if the
system gave the CPU to another program meanwhile. Times are nanoseconds per call, medians of the rounds, with the
quartiles; an empty loop, included in all of them, takes {loop} ns. Each statement's result was first compared with
NumPy's, bit for bit. PyTorch is called without gradients and on one thread. `plan` is a `libgather.Plan` made
beforehand for such arrays.
"""

AGAIN = """```sh
script/bench --python --quick                        # some seconds
script/bench --python                                # under two minutes on an idle machine
script/bench --python --report                       # the page of what is in build/results
```
"""

SMALL = """## Small calls

*x / ours*: how many times as long the other statement takes as libgather's of that kind; above 1 libgather is faster.
*even*: the middle half of the rounds is on both sides of 1. *namesake* is the equivalent function by name (`np.take`),
*fastest* the fastest statement of that library that gives the same elements. In PyTorch an index in brackets or
`select` with a number is a view: no element is moved. NumPy's `out=` without `mode='clip'` gathers into temporary
memory, then copies; with it, indices out of range are clipped. libgather validates every index in all its forms, and
leaves `out` unchanged if one is out of range.
"""

LARGE = """## Large calls

{count} rows of 256 bytes from a table of 16 MiB, random, call after call, in milliseconds. *from C* is the same gather
in the same memory by `gather_plan_run`, called from C: if it equals the call from Python, the package adds nothing. New
results are new memory from the system in every library, which is most of their time. CPU time is the sum over all
threads; other programs do not prolong it.
"""

GIL = """## Running beside another thread

A second Python thread counts while the calls of the last table run one after another, on a thread of their own. *free*
is the share of the time in which that thread ran or waited only for a CPU, as the system counts it, whatever else the
machine does: 100% is a call that never blocks it. *counted* is what it counted, as a share of what it counts in the
same time while nobody else needs the interpreter; there are {cpus} CPUs, which both share with the rest of the machine.
`sum(repeat(1, many))`, which holds the interpreter's lock (GIL) throughout, is there as a reference: a thread that
waits for the lock requests it every 5 ms, and its wait for a CPU to do so counts as free time, so its value is above
0%. *ms* is the time of a call, including its wait for the lock after each release: about 5 ms each time, Python's
default, in which the other thread counts.
"""


def code(text: str) -> str:
    return f"`{text}`"


def ratio(found: dict | None) -> str:
    if not found:
        return "-"
    return times(found["ratio"]) + (f" {found['verdict']}" if found["verdict"] != "win" else "")


def machine_of(results: dict) -> str:
    forms = [form for row in results["calls"] for form in row["forms"]]
    disturbed, rounds = sum(form["disturbed"] for form in forms), sum(form["rounds"] for form in forms)
    return machine(results, f"{results['settings']['rounds']} rounds, {len(forms)} statements",
                   ["noise", f"other programs took the CPU in {disturbed} of {rounds} rounds of the small calls"])  # fmt: skip


def overview(results: dict, kind: str) -> str:
    lines = []
    for row in results["calls"]:
        found = row["kinds"].get(kind, {})
        if "best" not in found:
            continue
        namesake, best, plan = found["namesake"], found["best"], found.get("plan")
        lines.append([row["name"], code(namesake["form"]), f"**{number(found['ours']['median'])}**", number(namesake["ns"]),
                      ratio(namesake), code(best["form"]), number(best["ns"]), ratio(best),
                      number(plan["median"]) if plan else "-", ratio(found.get("best_to_plan"))])
    head = ["row", "namesake", "ours, ns", "namesake, ns", "namesake / ours", "fastest", "fastest, ns", "fastest / ours",
            "plan, ns", "fastest / plan"]
    return table(head, lines, 2)


def all_forms(results: dict) -> str:
    lines = []
    for row in results["calls"]:
        for form in sorted(row["forms"], key=lambda form: (form["kind"] == OUT, form["median"])):
            ours = row["kinds"].get(form["kind"], {}).get("ours")
            shown = code(form["form"])
            lines.append([row["name"], f"**{shown}**" if form["who"] == OURS else shown, number(form["median"]),
                          f"{number(form['low'])} - {number(form['high'])}",
                          times(form["median"] / ours["median"]) if ours and form["form"] != ours["form"] else "-"])
    return table(["row", "statement", "ns", "quartiles", "its time / ours"], lines, 2)


def wrong(results: dict) -> str:
    lines = [[row["name"], code(found["form"]), found["why"].replace("|", "/")] for row in results["calls"] for found in row["wrong"]]
    return "Left out:\n\n" + table(["row", "statement", "why"], lines, 3) if lines else ""


def lost(results: dict) -> str:
    """Every statement that is faster than ours of its kind, also if only the plan is slower."""
    lines = [[row["name"], code(found["best"]["form"]), f"{key}", ratio(found[to])]
             for row in results["calls"] for found in row["kinds"].values()
             for to, key in (("best", "the call"), ("best_to_plan", "the plan"))
             if found.get(to, {}).get("verdict") == "loss"]
    if not lines:
        return "None is slower.\n"
    return "Slower than the fastest statement:\n\n" + table(["row", "slower than", "what is slower", "its time / ours"], lines, 3)


def large(results: dict) -> str:
    lines = [[code(row["form"]) if row["who"] != "C" else row["form"], f"{row['threads']}", number(row["median"]),
              f"{number(row['low'])} - {number(row['high'])}", ratio(row.get("to_ours")),
              times(row["to_ours"]["cpu"]) if "to_ours" in row else "-"]
             for kind in (OUT, NEW) for row in results["large"] if row["kind"] == kind]
    head = ["call", "threads", "ms", "quartiles", "its time / libgather.take's", "its CPU time / libgather.take's"]
    return table(head, lines)


def gil(results: dict) -> str:
    lines = []
    for row in results["gil"]:
        free = ["-", "-"]
        if row["ready"] is not None:
            ready, low, high = (percent(min(1, row[key])) for key in ("ready", "low", "high"))  # the count is in ticks
            free = [ready, f"{low} - {high}"]
        lines.append([code(row["form"]), *free, percent(row["share"]), number(row["ms"])])
    return table(["call", "free", "quartiles", "counted", "ms"], lines)


def page(results: dict, name: str) -> str:
    """results: of a run of script/bench --python, which are in NAME.json."""
    loop, count = number(results["settings"]["loop"]["median"]), results["settings"]["large_rows"]
    parts = [TITLE, ABOUT.format(loop=loop, name=name), AGAIN, machine_of(results), SMALL]
    parts += ["New results:\n", overview(results, NEW), "Into `out=`:\n", overview(results, OUT)]
    parts += [lost(results), wrong(results)]
    parts += ["All statements:\n", all_forms(results)]
    if results["large"]:
        parts += [LARGE.format(count=f"{count:,}".replace(",", " ")), large(results)]
        parts += [GIL.format(cpus=results["machine"]["cpus"]), gil(results)]
    return "\n".join(part for part in parts if part)
