# SPDX-License-Identifier: MIT
"""Small drawings as SVG text, for docs/pictures: a line of text for each row or curve. They are as wide as a phone's page, follow its dark
theme, and use the colours of Okabe and Ito, which people with any kind of colour blindness tell apart."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log2, log10

LIGHT = {"ground": "#ffffff", "text": "#1f2328", "grid": "#d0d7de", "ours": "#0072b2", "peer": "#d55e00", "limit": "#6e7781",
         "c0": "#0072b2", "c1": "#d55e00", "c2": "#009e73", "c3": "#cc79a7", "c4": "#56b4e9", "c5": "#e69f00", "c6": "#1f2328"}  # fmt: skip
DARK = {"ground": "#0d1117", "text": "#e6edf3", "grid": "#3d444d", "ours": "#56b4e9", "peer": "#e69f00", "limit": "#9198a1",
        "c0": "#56b4e9", "c1": "#e69f00", "c2": "#009e73", "c3": "#cc79a7", "c4": "#7d8cff", "c5": "#f0e442", "c6": "#e6edf3"}  # fmt: skip
CURVES = 7
SIZE, HEIGHT = 13, 19  # of the text, and of a row
WIDTH = 480


def rules(theme: dict[str, str]) -> str:
    """CSS: what has a class that is a curve's is drawn, everything else is filled."""
    plain = f".ground{{fill:{theme['ground']}}}text{{fill:{theme['text']}}}.grid{{stroke:{theme['grid']}}}"
    marks = "".join(f".{name}{{fill:{theme[name]};stroke:{theme[name]}}}" for name in ("ours", "peer", "limit"))
    lines = "".join(f".c{i}{{stroke:{theme[f'c{i}']};fill:none}}text.c{i}{{fill:{theme[f'c{i}']};stroke:none}}" for i in range(CURVES))
    return plain + marks + lines


def width(words: str, size: int = SIZE) -> int:
    """At most, in the widest of the common sans-serif fonts: nothing is cut."""
    return ceil(size * sum(0.78 if letter.isupper() else 0.57 for letter in words))


def text(x: float, y: float, words: str, anchor: str = "start", **more: str) -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    place += "".join(f' {name.rstrip("_").replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:g}" y="{y:g}"{place}>{escape(words)}</text>'


def whole(width: float, height: float, lines: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
            f'font-family="sans-serif" font-size="{SIZE}">')
    style = f"<style>{rules(LIGHT)}.open{{fill:none}}@media(prefers-color-scheme:dark){{{rules(DARK)}.open{{fill:none}}}}</style>"
    return "\n".join([head, style, '<rect class="ground" width="100%" height="100%"/>', *lines, "</svg>"]) + "\n"


def mark(kind: str, x: float, y: float) -> str:
    """ours: a large dot; open: a ring, libgather's other form; peer: a small dot; limit: a bar across."""
    if kind == "limit":
        return f'<path class="limit" d="M{x:.1f},{y - 6:g}v12" stroke-width="3"/>'
    shown, size = {"ours": ("ours", 5), "open": ("ours open", 5), "peer": ("peer", 3.5)}[kind]
    return f'<circle class="{shown}" cx="{x:.1f}" cy="{y:g}" r="{size}"/>'


Row = tuple[str, list[tuple[str, float]], str]


def dots(title: str, legend: dict[str, str], parts: dict[str, list[Row]], ticks: dict[float, str], below: str = "") -> str:
    """Values as dots on a logarithmic axis, whose ticks are labelled. parts: by heading, of each row its name, its marks (kind, value), and
    what is written at its end. legend: what the kinds of marks are. below: how to read the axis."""
    left = 12 + max(width(name) for part in parts.values() for name, _, _ in part)
    values = [value for part in parts.values() for _, marks, _ in part for _, value in marks]
    low, high = min([*values, *ticks]), max([*values, *ticks])
    right = WIDTH - 66

    def at(value: float) -> float:
        return left + 8 + (right - left - 16) * log2(value / low) / log2(high / low)

    lines, y, x = [text(10, 20, title, font_weight="bold")], 40, 16.0
    for kind, words in legend.items():
        lines.append(mark(kind, x, y - 4) + text(x + 9, y, words))
        x += 26 + width(words)
    top, rows = y + 24, []
    y = top
    for heading, part in parts.items():
        if heading:
            y += HEIGHT + 4
            rows.append(text(10, y, heading, font_weight="bold"))
        for name, marks, shown in part:
            y += HEIGHT
            first = marks[0][0] == "ours"
            drawn = "".join(mark(kind, at(value), y - 4) for kind, value in sorted(marks, key=lambda one: one[0] != "peer"))
            rows.append(text(left, y, name, "end", **({"font_weight": "bold"} if first and any(m[0][0] == "peer" for _, m, _ in part) else {})) +
                        drawn + text(right + 6, y, shown))
    for value, label in ticks.items():
        lines.append(f'<path class="grid" d="M{at(value):.1f},{top + 4}V{y + 6}"/>' + text(at(value), top, label, "middle"))
    if below:
        y += HEIGHT + 4
        lines.append(text((left + right) / 2, y, below, "middle"))
    return whole(WIDTH, y + 14, [*lines, *rows])


def curves(title: str, parts: dict[str, list[tuple[float, float]]], below: str, beside: str, height: int = 420,
           ticks: dict[float, str] | None = None) -> str:  # fmt: skip
    """Points joined by lines, on two logarithmic axes, labelled at their ends. parts: of each curve its name and points; those of a name in
    brackets are dashed. ticks: of the upright axis, which ends at them or at the values; otherwise powers of ten."""
    xs, ys = (sorted({point[i] for part in parts.values() for point in part}) for i in (0, 1))
    beside_them = max(width(name, 11) for name in parts) + 18
    left, right, top, bottom = 44, WIDTH - beside_them, 66, height - 42
    low, high = floor(log10(ys[0])), ceil(log10(ys[-1]))
    shown = ticks or {10.0**power: f"1e{power}" for power in range(low, high + 1)}
    if ticks:
        low, high = log10(min([ys[0], *ticks])), log10(max([ys[-1], *ticks]))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (log2(x) - log2(xs[0])) / (log2(xs[-1]) - log2(xs[0]) or 1)
        return left + (right - left) * across, bottom - (bottom - top) * (log10(y) - low) / (high - low)

    lines = [text(10, 20, title, font_weight="bold"), text(10, 42, beside)]
    for value, label in shown.items():
        y = place(xs[0], value)[1]
        lines.append(f'<path class="grid" d="M{left},{y:.1f}H{right}"/>' + text(left - 6, round(y + 4, 1), label, "end"))
    lines += [text(round(place(x, 10.0**low)[0], 1), bottom + 18, f"{x:g}", "middle") for x in xs]
    lines.append(text((left + right) / 2, height - 8, below, "middle"))
    ends = sorted(((place(*points[-1])[1], i) for i, points in enumerate(parts.values())))
    levels, floor_ = {}, float(top - HEIGHT)
    for y, i in ends:
        floor_ = levels[i] = max(y + 4, floor_ + HEIGHT - 3)
    over = max(0.0, max(levels.values(), default=0) - (bottom + 8))
    for i, (name, points) in enumerate(parts.items()):
        dashed = ' stroke-dasharray="5 4"' if "(" in name else ""
        kind, end, level = f"c{i % CURVES}", place(*points[-1]), levels[i] - over
        line = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        lines.append(f'<polyline class="{kind}" points="{line}" stroke-width="2"{dashed}/>'
                     f'<path class="{kind}" d="M{end[0]:.1f},{end[1]:.1f}L{right + 12},{level - 4:.1f}" stroke-width="0.7"/>' +
                     text(right + 15, round(level, 1), name, class_=kind, font_size="11"))  # fmt: skip
    return whole(WIDTH, height, lines)
