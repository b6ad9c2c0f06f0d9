# SPDX-License-Identifier: MIT
"""Links of a built site, without a browser: every one leads to a file of the site and to an anchor in it, and nothing is loaded from another machine."""

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # and whether the page loads it
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag in LOADS and given.get(LOADS[tag]) and given.get("rel") not in {"canonical", "next", "prev", "search", "index"}:
            self.links.append((given[LOADS[tag]], True))
        elif tag in {"a", "link"} and given.get("href"):
            self.links.append((given["href"], False))


def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def faults(site: Path) -> tuple[list[str], int]:
    """What is wrong, one line each; and how many links were followed."""
    known = pages(site)
    found, count = [], 0
    for path, page in known.items():
        for link, loaded in page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if loaded:
                    found.append(f"{path.relative_to(site)}: is loaded from another machine: {link}")
                continue
            count += 1
            if fault := one(known, path, unquote(parts.path), unquote(parts.fragment), site):
                found.append(f"{path.relative_to(site)}: {link}: {fault}")
    return found, count


def one(known: dict[Path, Page], path: Path, target: str, anchor: str, site: Path) -> str:
    """What is wrong with a link; or ""."""
    place = Path(os.path.normpath(path.parent / target)) if target else path
    if place.is_dir():
        place = place / "index.html"
    if not place.exists():
        return "there is no such file"
    if site not in place.parents:
        return "is outside the site"
    if anchor and place in known and anchor not in known[place].anchors:
        return f"{place.relative_to(site)} has no such anchor"
    return ""
