#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py [--no-browser] [--command GATHER] SITE: checks a built site: the folder of one version.

Links and anchors lead somewhere, nothing is loaded from another machine, the reference has every declaration of the public headers. In a
headless browser: no page reports an error or is wider than a phone, text is readable in light and dark pages, the search finds a function,
and the explainer draws what the command draws.
"""

import argparse
import sys
import time
from pathlib import Path

import c_reference
import declarations
import links
import page_checks
from browser import Browser, program

PHONE = 360


def links_and_reference(site: Path) -> list[str]:
    found, count = links.faults(site)
    print(f"check: {count} links in {len(list(site.rglob('*.html')))} pages")
    more, entries = declarations.faults(site / "api/c", c_reference.HEADERS)
    print(f"check: {entries} declarations")
    return found + more


def in_browser(site: Path, command: Path | None) -> list[str]:
    if program() is None:
        raise SystemExit("check: no Chromium here; script/bootstrap site installs it, --no-browser leaves these checks out")
    with Browser() as browser:
        found = page_checks.every_page(browser, site, PHONE)
        found += page_checks.contrast(browser, site)
        found += page_checks.search(browser, site)
        found += page_checks.questions(browser, site)
        found += page_checks.start_page(browser, site)
        found += page_checks.explainer(browser, site, command)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--command", type=Path, help="the command whose pictures the explainer's must equal")
    arguments = parser.parse_args()
    site = arguments.site.resolve()
    if not (site / "index.html").exists():
        raise SystemExit(f"check: {site} has no index.html")
    begin = time.monotonic()
    found = links_and_reference(site)
    if not arguments.no_browser:
        found += in_browser(site, arguments.command.resolve() if arguments.command else None)
    print("\n".join(found) or "check: no fault", f"check: {len(found)} faults, {time.monotonic() - begin:.0f} s", sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
