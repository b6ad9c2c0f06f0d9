# SPDX-License-Identifier: MIT
"""Small drawings as SVG text, a line for each bar or curve: those of the documents, in docs/pictures."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log2, log10

BLUE, YELLOW, GREY, RED = "#4269d0", "#efb118", "#9498a0", "#d0422f"
CURVES = (BLUE, YELLOW, "#6cc5b0", "#a463f2", RED, "#9c6b4e", "#70757c", "#ff8ab7")
HEIGHT = 18  # of a bar with the space below it


def text(x: float, y: float, words: str, anchor: str = "start", **more: str) -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    place += "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:g}" y="{y:g}"{place}>{escape(words)}</text>'


def whole(width: float, height: float, lines: list[str]) -> str:
    """On a light ground, also in dark pages."""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
            'font-family="sans-serif" font-size="12">')
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *lines, "</svg>"]) + "\n"


def bars(title: str, parts: dict[str, list[tuple[str, float, str, str]]], base: float = 0, width: int = 720, left: int = 230) -> str:
    """Horizontal bars on a logarithmic axis. parts: by heading, of each bar the name, the value, what is written beside it, and the colour.
    base: where bars begin: those of ratios at 1, so that a loss points to the left; 0: below the least one."""
    values = [value for part in parts.values() for _, value, _, _ in part]
    low, high = min(values) if base else min(values) / 2, max(values)
    low, high = (min(low, base), max(high, base)) if base else (low, high)

    def at(value: float) -> float:
        return left + (width - left - 90) * log2(value / low) / log2(high / low)

    lines, y, start = [text(10, 20, title, font_weight="bold")], 30, at(base or low)
    for heading, part in parts.items():
        if heading:
            y += HEIGHT
            lines.append(text(left, y, heading, font_style="italic"))
        for name, value, shown, colour in part:
            y += HEIGHT
            x, end = sorted((start, at(value)))
            bar = f'<rect x="{x:.1f}" y="{y - 10}" width="{end - x:.1f}" height="12" fill="{colour}"/>'
            lines.append(text(left - 8, y, name, "end") + bar + text(round(end + 5, 1), y, shown))
    if base:
        lines.append(f'<line x1="{start:.1f}" y1="34" x2="{start:.1f}" y2="{y + 6}" stroke="black"/>')
    return whole(width, y + 16, lines)


def curves(title: str, parts: dict[str, list[tuple[float, float]]], below: str, beside: str, width: int = 820, height: int = 360) -> str:
    """Points joined by lines, on two logarithmic axes. parts: of each curve its name and points; those of a name in brackets are dashed."""
    xs, ys = (sorted({point[i] for part in parts.values() for point in part}) for i in (0, 1))
    left, right, top, bottom = 70, width - 300, 40, height - 45
    low, high = floor(log10(ys[0])), ceil(log10(ys[-1]))

    def place(x: float, y: float) -> str:
        across = (log2(x) - log2(xs[0])) / (log2(xs[-1]) - log2(xs[0]) or 1)
        return f"{left + (right - left) * across:.1f},{bottom - (bottom - top) * (log10(y) - low) / (high - low):.1f}"

    lines = [text(10, 20, title, font_weight="bold")]
    for power in range(low, high + 1):
        y = bottom - (bottom - top) * (power - low) / (high - low)
        lines.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#e4e6e9"/>' + text(left - 6, round(y + 4, 1), f"1e{power}", "end"))
    lines += [text(float(place(x, 10.0**low).split(",")[0]), bottom + 16, f"{x:g}", "middle") for x in xs]
    lines += [text((left + right) / 2, height - 10, below, "middle"), text(left, top - 6, beside)]
    for i, (name, points) in enumerate(parts.items()):
        dashed = ' stroke-dasharray="5 4"' if "(" in name else ""
        colour, y = CURVES[i % len(CURVES)], top + 10 + i * HEIGHT
        line = f'<polyline points="{" ".join(place(*point) for point in points)}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'
        lines.append(line + f'<line x1="{right + 14}" y1="{y - 4}" x2="{right + 40}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dashed}/>' + text(right + 46, y, name))
    return whole(width, height, lines)
