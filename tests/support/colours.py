# SPDX-License-Identifier: MIT
"""Colours as people with a colour deficiency see them, and how far apart they are. Sources: the matrices of Viénot, Brettel and Mollon (1999)
for deuteranopia and protanopia, on linear sRGB; the CIE's L*a*b* under D65, and its distance of 1976, in which 2.3 can just be seen."""


def linear(colour: str) -> tuple[float, ...]:
    """Of #rrggbb."""
    values = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values)


def times(matrix, values) -> tuple[float, ...]:
    return tuple(sum(a * b for a, b in zip(row, values)) for row in matrix)


SEEN = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    "protanopia": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
}


def lab(rgb: tuple[float, ...]) -> tuple[float, ...]:
    xyz = times(((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.072175), (0.0193339, 0.119192, 0.9503041)), rgb)
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (max(0.0, a / b) for a, b in zip(xyz, (0.95047, 1, 1.08883))))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: str, other: str, eyes: str = "deuteranopia") -> float:
    a, b = (lab(times(SEEN[eyes], linear(colour))) for colour in (one, other))
    return sum((p - q) ** 2 for p, q in zip(a, b)) ** 0.5


def nearest(colours: dict[str, str], eyes: str = "deuteranopia") -> tuple[float, str, str]:
    """The two of them that are hardest to tell apart, by name."""
    names = sorted(colours)
    return min((distance(colours[a], colours[b], eyes), a, b) for i, a in enumerate(names) for b in names[i + 1:])
