# SPDX-License-Identifier: MIT
"""The pictures of the pages in build/results. Without matplotlib there are none. bench/drawings.py has those of docs/benchmarks.md."""

from __future__ import annotations

from pathlib import Path

import grid
import growth
import summary

COLOURS = ("#4269d0", "#efb118", "#6cc5b0")
VERDICTS = {"win": "#4269d0", "even": "#9498a0", "loss": "#d0422f"}
WHAT = {
    "bench-regimes.svg": "Best peer's time over ours, by regime",
    "bench-ceiling.svg": "Share of the hardware limit, by regime",
    "bench-rows.svg": "Best peer's time over ours, all rows in order",
}
OURS = {growth.FRESH: "-", growth.KEPT: "--", growth.FROM_C: ":"}
OTHERS = ("#efb118", "#d0422f", "#3ca951", "#a463f2", "#97bbf5", "#9c6b4e", "#ff8ab7")


def settle(plt) -> None:
    """The same bytes for the same results; letters stay letters; a light ground in dark pages too."""
    plt.rcParams.update({"svg.hashsalt": "gather", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False, "savefig.facecolor": "white"})


def bars(plt, rows, value, each, title, path: Path, log: bool) -> None:
    """One bar per regime and number of threads, a dot for each row, and a diamond for the mean of the default form."""
    regimes, threads = summary.regimes(rows), summary.threads_of(rows)
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.42 * len(regimes)), layout="constrained")
    for t, count in enumerate(threads):
        at = [i + (t - (len(threads) - 1) / 2) * 0.36 for i in range(len(regimes))]
        means = [value(summary.by(rows, count, regime)) for regime in regimes]
        # Bars of ratios begin at 1, so that a loss points to the left.
        start = 1 if log else 0
        axes.barh(at, [m - start if m == m else 0 for m in means], 0.34, start, color=COLOURS[t % 3], alpha=0.75, label=f"{count} thread{'s' * (count > 1)}")
        kept = [value(summary.as_kept(summary.by(rows, count, regime))) for regime in regimes]
        axes.plot(kept, at, "D", markersize=4, markerfacecolor="white", markeredgecolor="black", label="transactional" if t == 0 else None)
        for place, regime in zip(at, regimes):
            dots = [each(r) for r in summary.by(rows, count, regime) if each(r) is not None]
            axes.plot(dots, [place] * len(dots), ".", color="black", markersize=3)
    axes.axvline(1, color="black", linewidth=0.8)
    if log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(regimes)), regimes)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
    axes.legend(frameon=False)
    save(plt, figure, path)


def save(plt, figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    # matplotlib ends lines with spaces, and editors and checks stumble over them.
    text = "\n".join(line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    path.write_text(text + "\n", encoding="utf-8")


def all_rows(plt, rows, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    found = sorted((r["best"] for r in rows if "best" in r), key=lambda best: best["ratio"])
    for verdict, colour in VERDICTS.items():
        points = [(i, best["ratio"]) for i, best in enumerate(found) if best["verdict"] == verdict]
        axes.plot([p[0] for p in points], [p[1] for p in points], ".", color=colour, label=f"{verdict}: {len(points)}")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("rows, in the order of their ratio")
    axes.set_title("best peer's time / ours: above 1 we win", loc="left")
    axes.legend(frameon=False)
    save(plt, figure, path)


def styles(names: list[str]) -> dict[str, dict]:
    """Ours are thick, the C loop and the ceiling are no libraries and grey."""
    found = {name: {"color": COLOURS[0], "linewidth": 2.2, "linestyle": OURS[name]} for name in names if name in OURS}
    found |= {name: {"color": "#70757c", "linewidth": 1.2, "linestyle": line}
              for name, line in ((summary.LOOP, "-"), (growth.CEILING, ":")) if name in names}
    peers = [name for name in names if name not in found]
    return found | {name: {"color": OTHERS[i % len(OTHERS)], "linewidth": 1.2} for i, name in enumerate(peers)}


def curves(plt, rows, regime: str, title: str, below: str, path: Path) -> None:
    """One part for each number of threads, or for each table, side by side."""
    parts = growth.panels(rows, regime)
    figure, every = plt.subplots(1, len(parts), figsize=(8, 4.2), sharey=True, squeeze=False, layout="constrained")
    look = styles(list(dict.fromkeys(name for part in parts.values() for name in part)))
    for axes, (name, part) in zip(every[0], parts.items()):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(plt.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        for curve, style in look.items():
            points = part.get(curve, [])
            axes.plot([x for x, _ in points], [y for _, y in points], marker=".", markersize=4, **style)
        places = sorted({x for points in part.values() for x, _ in points})
        turned = {"rotation": 60, "ha": "right"} if len(places) > 4 else {}
        axes.set_xticks(places, [tick(regime, x) for x in places], **turned)
        axes.minorticks_off()
        axes.grid(axis="y", color="#e4e6e9", linewidth=0.6)
        axes.set_xlabel(f"{below}; {name}")
    every[0][0].set_ylabel("ns per element")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    lines = [plt.Line2D([], [], **style) for style in look.values()]
    figure.legend(lines, list(look), loc="outside right upper", frameon=False)
    save(plt, figure, path)


def tick(regime: str, x: int) -> str:
    if regime == grid.BY_THREADS:
        return f"{x}"
    return grid.size_name(x) if regime == grid.BY_TABLE else grid.size_name(x).removesuffix("B").rstrip()


def names(results: dict) -> list[str]:
    """The pictures that these results give."""
    regimes = {row["regime"] for row in results["rows"]}
    of_all = WHAT if summary.in_means(results["rows"]) else ()
    return [*of_all, *(name for name, (regime, *_) in growth.CURVES.items() if regime in regimes)]


def title(name: str) -> str:
    return WHAT.get(name) or growth.CURVES[name][1]


def draw(results: dict, folder: Path) -> list[str]:
    """Draws all, and returns their names."""
    try:
        import matplotlib

        matplotlib.use("svg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        print(f"bench: skipped: pictures: {error}")
        return []
    settle(plt)
    folder.mkdir(parents=True, exist_ok=True)
    rows, drawn = summary.in_means(results["rows"]), names(results)
    if rows:
        of_all(plt, rows, folder)
    for name, (regime, what, below) in growth.CURVES.items():
        if name in drawn:
            curves(plt, results["rows"], regime, what, below, folder / name)
    return drawn


def of_all(plt, rows: list[dict], folder: Path) -> None:
    """The pictures of WHAT."""
    bars(plt, rows, summary.ratio_mean, lambda r: r["best"]["ratio"] if "best" in r else None,
         "best peer's time / ours (bars: geometric means, dots: rows)", folder / "bench-regimes.svg", True)
    ceiling = [r for r in rows if "share" in r]
    bars(plt, ceiling, summary.share_mean, lambda r: r.get("share"), "share of the limit (bars: geometric means, dots: rows)",
         folder / "bench-ceiling.svg", False)
    all_rows(plt, rows, folder / "bench-rows.svg")
