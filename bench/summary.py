# SPDX-License-Identifier: MIT
"""From times to a row of the results: medians, the best peer, the share of the ceiling, who won; and means over rows."""

from __future__ import annotations

from math import exp, log
from statistics import median

LOOP = "C loop"  # no library, and it checks nothing: shown beside the peers
GATHER = "Gather"  # libgather's own Gather of the same rows, beside its GatherND
KEPT = "kept plan"  # libgather's scatter by indices that were sorted before, which no peer can do
ASIDE = (LOOP, GATHER, KEPT)  # not peers
KINDS = ("stream", "touch", "copy")  # of limits, see limits.py
FROM_C = ", from C"  # follows the name of a form that is called without Python


def per_row(times: list[float], divisor: float) -> dict:
    ns = sorted(t / divisor for t in times)
    return {"median": median(ns), "low": ns[len(ns) // 4], "high": ns[-1 - len(ns) // 4], "min": ns[0], "max": ns[-1], "rounds": len(ns)}


def best_form(contenders, peer: str):
    """A peer's fastest form."""
    measured = [c for c in contenders if c.peer == peer and c.times and not c.form.endswith(FROM_C)]
    return min(measured, key=lambda c: median(c.times), default=None)


def ratios(other, ours) -> dict:
    """How many times as long the other one takes: of the medians, of the fastest rounds (which a busy machine disturbs less), and
    the quartiles of the rounds, which were measured in turns."""
    each = sorted(a / b for a, b in zip(other.times, ours.times))
    return {"ratio": median(other.times) / median(ours.times), "fastest": min(other.times) / min(ours.times),
            "cpu": median(other.cpu) / median(ours.cpu), "low": each[len(each) // 4], "high": each[-1 - len(each) // 4]}


def verdict(ratio: dict) -> str:
    """Even where the middle half of the rounds lies on both sides of 1."""
    if ratio["low"] <= 1 <= ratio["high"]:
        return "even"
    return "faster" if ratio["ratio"] > 1 else "slower"


def ceiling_of(bounds, divisor: float) -> dict:
    """The best of each kind, and the slowest of the kinds."""
    kinds = {}
    for kind in KINDS:
        forms = [c for c in bounds if c.form.startswith(kind) and c.times]
        if forms:
            best = min(forms, key=lambda c: median(c.times))
            kinds[f"{kind}_ns"], kinds[f"{kind}_form"] = median(best.times) / divisor, best.form
    if not kinds:
        return {}
    if reads := [median(c.times) for c in bounds if c.peer == "limit: read" and c.times]:
        kinds["read_ns"] = min(reads) / divisor
    if writes := [median(c.times) for c in bounds if c.peer == "limit: write" and c.times]:
        kinds["write_ns"] = min(writes) / divisor
    return {"ns": max(kinds.get(f"{kind}_ns", 0) for kind in KINDS), **kinds}


def timed(contender, divisor: float) -> dict:
    """One form of ours."""
    return {"form": contender.form, **per_row(contender.times, divisor), "disturbed": contender.disturbed}


def standing(ours, first, loop, ceiling: dict, divisor: float, from_c: dict, gather=None) -> dict:
    """How one form of ours stands against the fastest library, the C loop and the ceiling. The loop is called from C: where calls
    count, so are we (from_c: by name)."""
    found = {}
    if first:
        found["best"] = {"peer": first.peer, **ratios(first, ours)}
        found["best"]["verdict"] = verdict(found["best"])
    if loop:
        found["loop"] = ratios(loop, from_c.get(ours.form + FROM_C, ours))
        found["loop"]["verdict"] = verdict(found["loop"])
    if gather:
        found["gather"] = ratios(gather, ours)
    if ceiling:
        found["share"] = ceiling["ns"] / (median(ours.times) / divisor)
        if "read_ns" in ceiling:
            found["share_reading_twice"] = (ceiling["ns"] + ceiling["read_ns"]) / (median(ours.times) / divisor)
    return found


def own_forms(contenders):
    """As of every peer the fastest form of ours counts; the first one is the default, which keeps the output on an error."""
    return best_form(contenders, "ours"), next(c for c in contenders if c.peer == "ours")


def row(case, contenders, bounds, wrong: list[dict], way: str) -> dict:
    divisor = 1 if case.regime == "tiny calls" else max(1, case.rows)
    forms = [{"peer": c.peer, "form": c.form, **per_row(c.times, divisor)} for c in contenders if c.times]
    forms += [{"peer": c.peer, "form": c.form, "median": c.probe / divisor, "rounds": 0} for c in contenders if not c.times]
    ours, kept = own_forms(contenders)
    names = list(dict.fromkeys(c.peer for c in contenders if c.peer != "ours"))
    best = {name: best_form(contenders, name) for name in names}
    first = min((c for name, c in best.items() if name not in ASIDE and c), key=lambda c: median(c.times), default=None)
    from_c = {c.form: c for c in contenders if c.peer == "ours" and c.form.endswith(FROM_C) and c.times}
    against = (first, best.get(LOOP), ceiling_of(bounds, divisor), divisor, from_c, best.get(GATHER))
    return {
        "name": case.name, "regime": case.regime, "op": case.op, "dtype": case.dtype, "shape": case.shape,
        "index_shape": case.index_shape, "index": case.index, "order": case.order, "state": case.state, "axis": case.axis,
        "batch_dims": case.batch_dims, "threads": case.threads, "rows": case.rows, "row_bytes": case.moved_bytes / max(1, case.rows),
        "table_bytes": case.table_bytes, "out_bytes": case.out_bytes, "unit": "call" if divisor == 1 else "row", "way": way,
        "ours": timed(ours, divisor), "forms": forms, "wrong": wrong, "ceiling": against[2],
        "peers": {name: {"form": c.form, **per_row(c.times, divisor)} for name, c in best.items() if c},
        **standing(ours, *against), "kept": {**timed(kept, divisor), **standing(kept, *against)},
    }  # fmt: skip


def as_kept(rows: list[dict]) -> list[dict]:
    """The same rows with the default form in the place of the fastest one."""
    keys = ("best", "loop", "share", "share_reading_twice")
    return [{**{key: value for key, value in r.items() if key not in keys}, "ours": r["kept"],
             **{key: r["kept"][key] for key in keys if key in r["kept"]}} for r in rows if "kept" in r]


def only_kept(rows: list[dict]) -> list[dict]:
    """as_kept, of the rows where another form is the fastest."""
    return as_kept([r for r in rows if "kept" in r and r["kept"]["form"] != r["ours"]["form"]])


def number(value: float) -> str:
    """Three digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value >= 0.001 else f"{value:.1e}"


def line(found: dict, held: str = "") -> str:
    """A row for the terminal. held: the instruction set that libgather was held to."""
    best, loop, kept = found.get("best"), found.get("loop"), found["kept"]
    name = f"{found['name']} [{held}]" if held else found["name"]
    text = f"{name:48} ours {number(found['ours']['median']):>7}"
    text += f"  {best['peer']:13}{best['ratio']:6.2f}x {best['verdict']:4}" if best else "  no peer" + " " * 18
    text += f"  transactional {number(kept['median']):>7}" + (f"{kept['best']['ratio']:6.2f}x {kept['best']['verdict']:4}" if best else "")
    text += f"  loop {loop['ratio']:6.2f}x {loop['verdict']:4}" if loop else ""
    text += f"  {found['share']:4.0%} of limit" if "share" in found else ""
    text += f"  {found['bandwidth']['share']:4.0%} of bandwidth" if "bandwidth" in found else ""
    text += f"  Gather {found['gather']['ratio']:.2f}x" if "gather" in found else ""
    text += f"  written {found['ours']['median'] / found['ceiling']['write_ns']:.2f} times" if "write_ns" in found["ceiling"] else ""
    wrong = sorted({f"{w['peer']}: {w['why']}" for w in found["wrong"] if not w["why"].startswith("left out")})
    return text + (f"  [{'; '.join(wrong)}]" if wrong else "")


def table(head: list[str], rows: list[list[str]], texts: int = 1) -> str:
    """In Markdown. The first columns are texts, the others numbers."""
    lines = [head, ["---"] * texts + ["---:"] * (len(head) - texts), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def times(value: float) -> str:
    return f"{value:.2f}x" if value == value else "-"


def percent(value: float) -> str:
    return f"{value:.0%}" if value == value else "-"


def mean(values) -> float:
    values = list(values)
    return exp(sum(log(v) for v in values) / len(values)) if values else float("nan")


def by(rows: list[dict], threads: int, regime: str = "") -> list[dict]:
    return [r for r in rows if r["threads"] == threads and (not regime or r["regime"] == regime)]


def regimes(rows: list[dict]) -> list[str]:
    return list(dict.fromkeys(r["regime"] for r in rows))


def threads_of(rows: list[dict]) -> list[int]:
    return sorted({r["threads"] for r in rows})


def is_curve(row: dict) -> bool:
    """Rows that show growth; their regimes have no part in any mean."""
    return row["regime"].startswith("growth: ")


def in_means(rows: list[dict]) -> list[dict]:
    return [r for r in rows if not is_curve(r)]


def cpu_mean(rows: list[dict], key: str = "best") -> float:
    """Of the CPU time: rows of one thread only, where it is the wall time that an idle machine would give."""
    return ratio_mean([r for r in rows if r["threads"] == 1], key, "cpu")


def ratio_mean(rows: list[dict], key: str = "best", of: str = "ratio") -> float:
    return mean(r[key][of] for r in rows if key in r)


def share_mean(rows: list[dict], key: str = "share") -> float:
    return mean(r[key] for r in rows if key in r)


def lost(rows: list[dict], key: str = "best") -> list[dict]:
    return [r for r in rows if r.get(key, {}).get("verdict") == "slower"]


def noise(rows: list[dict]) -> float:
    """How far the slowest round of ours lies above the median: the median row of all."""
    return median(r["ours"]["max"] / r["ours"]["median"] for r in rows)


def interrupted(rows: list[dict]) -> str:
    """How often the system took the CPU away, in spite of repetitions."""
    found, rounds = sum(r["ours"]["disturbed"] for r in rows), sum(r["ours"]["rounds"] for r in rows)
    return f"other programs took the CPU in {found} of {rounds} rounds of ours"


def disturbed(rows: list[dict]) -> str:
    """Rows in which two threads reach no better ceiling than one: something else ran on the second CPU."""
    single = {r["name"][:-3]: r["ceiling"]["ns"] for r in by(rows, 1) if r["ceiling"]}
    pairs = [(single[r["name"][:-3]], r["ceiling"]["ns"]) for r in by(rows, 2) if r["ceiling"] and r["name"][:-3] in single]
    worse = sum(1 for one, two in pairs if two > 0.9 * one)
    return f"in {worse} of {len(pairs)} rows two threads had no better limit than one"


def counts(rows: list[dict], key: str = "best") -> list[int]:
    """Won, even, lost."""
    return [sum(1 for r in rows if r.get(key, {}).get("verdict") == v) for v in ("faster", "even", "slower")]


def means(rows: list[dict], kept: bool = False) -> str:
    """Rows of one number of threads in a line. kept: of the transactional form, which has to read the indices twice."""
    threads = rows[0]["threads"]
    cpu = f", {times(cpu_mean(rows))} of CPU time" if threads == 1 else ""
    won, even, loss = counts(rows)
    twice = f", {percent(share_mean(rows, 'share_reading_twice'))} of the limit of two reads of the indices" if kept else ""
    return (f"best peer / ours {times(ratio_mean(rows))} ({times(ratio_mean(rows, 'best', 'fastest'))} of the fastest rounds{cpu}), "
            f"C loop / ours {times(ratio_mean(rows, 'loop'))}, {percent(share_mean(rows))} of the limit{twice} (geometric means); "
            f"{won} faster, {even} even, {loss} slower")


def closing(results: dict, held: str = "") -> str:
    """held: the instruction set of libgather, where several were measured."""
    rows, lines = results["rows"], ["", *([f"libgather with {held}:"] if held else [])]
    for threads in threads_of(in_means(rows)):
        here = by(in_means(rows), threads)
        lines.append(f"{threads} thread{'s' if threads > 1 else ''}: {means(here)}")
        lines.append(f"{' ' * len(str(threads))} transactional: {means(as_kept(here), True)}")
    lines.append(f"noise: the slowest round of ours is {noise(rows) - 1:.0%} above its median in the median row; "
                 f"{interrupted(rows)}; {disturbed(rows)}; load when it began {results['machine']['load']} on {results['machine']['cpus']} CPUs; "
                 f"{results['settings']['seconds']:.0f} s")
    if curves := [r for r in rows if is_curve(r)]:
        won, even, loss = counts(curves)
        lines.append(f"{len(curves)} rows of growth, not in these means: {won} faster, {even} even, {loss} slower")
    lines += [f"left out: {left['row']}: {left['why']}" for left in results.get("left_out", [])]
    for found, how in ((rows, ""), (only_kept(rows), " (transactional)")):
        lines += [f"slower{how}: {r['name']}: {r['best']['peer']} takes {r['best']['ratio']:.2f} of our time" for r in lost(found)]
        lines += [f"slower{how} than the C loop: {r['name']}: {r['loop']['ratio']:.2f}" for r in lost(found, "loop")]
    return "\n".join(lines)
