# SPDX-License-Identifier: MIT
"""Checks of a built site that need a browser. Each returns what is wrong, one line each."""

import json
import subprocess
from pathlib import Path
from urllib.parse import quote

from browser import Browser, BrowserError

HERE = Path(__file__).resolve().parent
# Pages of every kind: text, tables, code, C, Python, the explainer.
KINDS = ("index.html", "docs/use/python.html", "docs/measured/benchmarks.html", "docs/use/command.html", "api/c/gather.html", "api/python.html", "explainer.html",
         "docs/embed/ops/onnx-Gather-13.html")
# Lines of the explainer: fields, and the arguments of `gather` that they stand for.
LINES = (
    ({}, ["--data", "4x3", "[1, 7, -4]"]),
    ({"data": "4x3", "indices": "[2, 0, -1]"}, ["--data", "4x3", "[2, 0, -1]"]),
    ({"data": "3x5", "axis": "-1", "indices": "[[0, 2], [4, 4]]"}, ["--data", "3x5", "--axis", "-1", "[[0, 2], [4, 4]]"]),
    ({"data": "2x3x2", "rules": "openvino-8", "axis": "1", "batch": "1", "indices": "[[0, 2], [1, 9]]"},
     ["--data", "2x3x2", "--rules", "openvino-8", "--axis", "1", "--batch-dims", "1", "[[0, 2], [1, 9]]"]),
    ({"op": "GatherElements", "data": "3x3", "indices": "[[0, 2, 1]]"}, ["--data", "3x3", "--elements", "[[0, 2, 1]]"]),
    ({"op": "GatherND", "data": "2x3x2", "indices": "[[1, 0], [0, 3]]"}, ["--data", "2x3x2", "--nd", "[[1, 0], [0, 3]]"]),
    ({"op": "GatherND", "rules": "openvino-8", "data": "2x3", "batch": "1", "indices": "[[2], [-1]]"},
     ["--data", "2x3", "--nd", "--rules", "openvino-8", "--batch-dims", "1", "[[2], [-1]]"]),
    ({"bad": "fill", "fill": "-7"}, ["--data", "4x3", "--on-bad", "fill=-7", "[1, 7, -4]"]),
    ({"bad": "wrap", "negative": "off"}, ["--data", "4x3", "--on-bad", "wrap", "--negative", "off", "[1, 7, -4]"]),
    ({"indices": "-4"}, ["--data", "4x3", "--", "-4"]),
    ({"data": "1000000x3", "indices": "[5, 999999, 7]"}, ["--data", "1000000x3", "[5, 999999, 7]"]),
    ({"data": "(4, 3)", "indices": "1, 2"}, ["--data", "4x3", "[1, 2]"]),
    ({"data": "4, 3"}, ["--data", "4x3", "[1, 7, -4]"]),
    ({"indices": "[1, x]"}, ["--data", "4x3", "[1, x]"]),
    ({"data": "4x-3"}, ["--data", "4x-3", "[1, 7, -4]"]),
    ({"axis": "7"}, ["--data", "4x3", "--axis", "7", "[1, 7, -4]"]),
    ({"indices": "[99999999999999999999]"}, ["--data", "4x3", "[99999999999999999999]"]),
    ({"data": "", "indices": "[1]"}, ["--data", "", "[1]"]),
)
# Whatever is typed, the page answers: with a picture, or in words.
HOSTILE = ({"data": "9223372036854775807x9223372036854775807"}, {"data": "x" * 5000}, {"indices": "[" * 9000}, {"indices": "[" + "1," * 9000 + "1]"},
           {"indices": "<img src=x onerror=alert(1)>"}, {"data": "1000x1000x100", "indices": "[" + "1000000000," * 1500 + "0]"}, {"indices": "[1," * 30000},
           {"data": "1x" * 70 + "1", "axis": "69"}, {"data": "4x3", "fill": "\0", "bad": "fill"}, {"data": "0x0", "bad": "wrap"})


def url(site: Path, page: str, rest: str = "") -> str:
    return (site / page).as_uri() + rest


def every_page(browser: Browser, site: Path, width: int) -> list[str]:
    """Errors of the console, and pages that are wider than a phone's screen."""
    found = []
    browser.look(width, 780)
    names = [str(path.relative_to(site)) for path in sorted(site.rglob("*.html"))]
    for name in names:
        browser.open(url(site, name))
        if (wide := browser.ask("document.documentElement.scrollWidth")) > width:
            found.append(f"{name}: is {wide} pixels wide on a screen of {width}")
        found += [f"{name}: {fault}" for fault in browser.faults()]
    print(f"check: {len(names)} pages at {width} pixels")
    return found


def contrast(browser: Browser, site: Path) -> list[str]:
    """Text that is hard to read, in light and dark pages."""
    found, texts = [], 0
    script = (HERE / "contrast.js").read_text(encoding="utf-8")
    for dark in (False, True):
        browser.look(dark=dark)
        for name in KINDS:
            browser.open(url(site, name))
            answer = browser.ask(script)
            texts += answer["texts"]
            found += [f"{name}, {'dark' if dark else 'light'}: {fault}" for fault in answer["found"]]
            shade = browser.ask("getComputedStyle(document.body).backgroundColor")
            if dark != (sum(map(int, shade.strip("rgba()").split(",")[:3])) < 384):
                found.append(f"{name}: the background is {shade} where {'dark' if dark else 'light'} pages are preferred")
    print(f"check: contrast of {texts} texts")
    return found


def search(browser: Browser, site: Path) -> list[str]:
    """The search finds functions of C and of Python, and a word of a document."""
    found = []
    for word, page in (("gather_plan_create", "api/c/gather.html"), ("take_along_axis", "api/python.html"), ("prefetch", "docs/extend/tuning.html")):
        browser.open(url(site, "search.html", f"?q={word}"))
        browser.until("document.querySelector('#search-results p') && /(finished|found|match)/i.test(document.querySelector('#search-results').innerText)")
        hits = browser.ask("[...document.querySelectorAll('#search-results a')].map((link) => link.href)")
        if not any(page in hit for hit in hits):
            found.append(f"search: {word} does not lead to {page}: {len(hits)} results")
    return found


# What people ask, and the page that must be found first.
QUESTIONS = (
    ("index out of bounds", "docs/use/failing-model"), ("S3 credentials", "docs/use/buckets"), ("safetensors", "docs/use/tables"),
    ("memmap", "docs/use/tables"), ("DataLoader", "docs/use/python"), ("GatherElements", "docs/embed/operators"), ("h5ad", "docs/use/chunked"),
    ("zarr", "docs/use/chunked"), ("DuckDB", "docs/embed/duckdb"), ("out of memory", "docs/use/tables"), ("negative index", "docs/use/python"),
    ("clamp", "docs/use/python"), ("io_uring", "docs/use/tables"), ("install", "docs/use/install"), ("shuffle", "docs/use/shuffle"),
    ("quantised", "docs/use/quantised"), ("scatter", "docs/embed/scatter"), ("MPI", "docs/use/nodes"), ("plan", "docs/embed/guide"),
    ("static library", "docs/use/install"),
)


def questions(browser: Browser, site: Path) -> list[str]:
    """Each question finds its page first."""
    found = []
    for question, page in QUESTIONS:
        browser.open(url(site, "search.html", "?q=" + quote(question)))
        browser.until("document.querySelector('#search-results p') && /(finished|found|match)/i.test(document.querySelector('#search-results').innerText)")
        hits = browser.ask("[...document.querySelectorAll('#search-results li > a')].map((link) => link.href)")
        first = [hit.split(f"/{site.name}/", 1)[-1].split("?")[0] for hit in hits[:4]]
        if not first or not first[0].startswith(f"{page}.html"):
            found.append(f"search: {question!r} does not find {page} first: {first}")
    print(f"check: {len(QUESTIONS)} questions")
    return found


def answer_of(browser: Browser, site: Path, fields: dict) -> dict:
    """What the explainer shows for some fields."""
    pairs = json.dumps({"data": "4x3", "indices": "[1, 7, -4]", "op": "Gather", "rules": "onnx-13", **{name: "" for name in ("axis", "batch", "bad", "fill", "negative")}, **fields})
    browser.ask("document.getElementById('ex-picture').setAttribute('aria-busy', 'true')")
    browser.ask(f"(() => {{ const form = document.getElementById('explainer-form'); for (const [name, value] of Object.entries({pairs})) {{"
                " form.elements[name].value = value; form.elements[name].dispatchEvent(new Event('input', { bubbles: true })); } })()")
    return browser.until("document.getElementById('ex-picture').ariaBusy === 'false' && { svg: document.getElementById('ex-picture').dataset.svg,"
                         " said: document.getElementById('ex-message').hidden ? '' : document.getElementById('ex-message').innerText,"
                         " hash: location.hash, command: document.getElementById('ex-command').textContent }")


def explainer(browser: Browser, site: Path, command: Path | None) -> list[str]:
    """Pictures and errors are the command's; whatever is typed, there is an answer; a shared address shows the same."""
    found = []
    browser.look()
    browser.open(url(site, "explainer.html"))
    browser.until("document.getElementById('ex-picture').ariaBusy === 'false'")
    for fields, arguments in LINES:
        answer = answer_of(browser, site, fields)
        if command is None:
            continue
        end = arguments.index("--") if "--" in arguments else len(arguments) - 1
        expected = subprocess.run([command, "explain", *arguments[:end], "-o", "-", *arguments[end:]], capture_output=True, text=True, check=False)
        lines = [line.removeprefix("gather: ") for line in expected.stderr.splitlines()]
        said = "\n".join(browser.ask(f"{json.dumps(lines)}.map(explainerLine.said).filter(Boolean)"))
        if "--" in answer["said"]:
            found.append(f"explainer: {fields}: names an option of the command: {answer['said']!r}")
        if answer["svg"] != expected.stdout:
            found.append(f"explainer: {fields}: another picture than the command's")
        if "".join(answer["said"].split()) != "".join(said.split()):
            found.append(f"explainer: {fields}: says {answer['said']!r}, the command {said!r}")
    for fields in HOSTILE:
        answer = answer_of(browser, site, fields)
        if not answer["svg"] and not answer["said"]:
            found.append(f"explainer: {str(fields)[:60]}: no answer")
    found += last_picture(browser)
    if without := browser.ask("[...document.getElementById('explainer-form').elements].filter((field) => !field.labels.length).map((field) => field.id)"):
        found.append(f"explainer: fields without a label: {without}")
    found += shared(browser, site) + [f"explainer: {fault}" for fault in browser.faults()]
    print(f"check: {len(LINES)} pictures and errors, {len(HOSTILE)} hostile inputs")
    return found


def last_picture(browser: Browser) -> list[str]:
    """While the input is invalid the last picture stays, dimmed; on a phone the picture comes first and is not cut."""
    found, image = [], "document.querySelector('#ex-picture img')"
    browser.ask("document.querySelector('#ex-examples button').click()")
    browser.until(f"{image} && {image}.complete && !document.querySelector('.explainer-last')")
    browser.ask("(() => { const field = document.getElementById('ex-indices'); field.value = '[1, x'; field.dispatchEvent(new Event('input', { bubbles: true })); })()")
    try:
        browser.until(f"document.querySelector('.explainer-last') && getComputedStyle(document.getElementById('ex-picture')).opacity < 1 && {image}.offsetHeight > 50")
    except BrowserError:
        found.append("explainer: the last picture is not kept, dimmed, while the indices are invalid")
    browser.look(390, 844)
    if browser.ask(f"{image}.getBoundingClientRect().bottom > document.getElementById('ex-op').getBoundingClientRect().top"):
        found.append("explainer: on a phone the picture is not first")
    if browser.ask(f"{image}.getBoundingClientRect().right > 390"):
        found.append("explainer: on a phone the picture is cut")
    browser.look()
    return found


def start_page(browser: Browser, site: Path) -> list[str]:
    """The first page fits a laptop's screen, and no line of code is cut."""
    browser.look(1280, 800)
    browser.open(url(site, "index.html"))
    found = browser.ask("""[...document.querySelectorAll('article pre')].filter((code) => code.scrollWidth > code.clientWidth).map((code) => `code is cut: ${code.innerText}`)
        .concat([...document.querySelectorAll('.start, .start img, .start-door')].filter((part) => { const box = part.getBoundingClientRect();
        return box.bottom > 800 || box.right > 1280; }).map((part) => `${part.className || part.tagName} does not fit 1280 x 800`))
        .concat(document.querySelectorAll('.start-door').length === 3 ? [] : ['there are not three doors'])""")
    return [f"index.html: {fault}" for fault in found]


def shared(browser: Browser, site: Path) -> list[str]:
    """The address of the page is enough to see the same picture."""
    first = answer_of(browser, site, {"data": "5x2", "bad": "fill", "fill": "9", "indices": "[[4], [8]]"})
    browser.open(url(site, "explainer.html", first["hash"]))
    again = browser.until("document.getElementById('ex-picture').dataset.svg")
    return [] if again == first["svg"] else [f"explainer: {first['hash']} does not show what was typed"]
