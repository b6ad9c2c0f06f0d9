# SPDX-License-Identifier: MIT
"""C as script/amalgamate reads it: tokens, and the declarations at file scope."""

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

COMMENT = r"/\*.*?\*/|//[^\n]*"
WORD = r'''(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)'''
MARK = r"(?P<mark>->|\.\.\.|\#\#|[-+*/%&|^=!<>]=|&&|\|\||.)"
TOKEN = re.compile(rf"(?P<space>(?:\s|\\\n)+)|(?P<comment>{COMMENT})|{WORD}|{MARK}", re.DOTALL)
# The same without groups for what code_of leaves out.
CODE = re.compile(rf"(?:\s|\\\n)+|{COMMENT}|^\#(?:\\\n|/\*.*?\*/|[^\n])*|{WORD}|{MARK}", re.DOTALL | re.MULTILINE)
# What has no names, and braces outside of it.
NO_NAMES = re.compile(rf"""{COMMENT}|^\#(?:\\\n|/\*.*?\*/|[^\n])*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL | re.MULTILINE)
BRACE = re.compile(rf"{NO_NAMES.pattern}|[{{}}]", re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"(?P<own>[^"]+)"|<(?P<system>[^>]+)>)[^\n]*$', re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(?:[ \t]+(\w+))?(?:\\\n|[^\n])*", re.MULTILINE)
GUARD = re.compile(r"#ifndef (GATHER_\w+_H)\n#define \1\n")
KEYWORDS = set(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
    return short signed sizeof static struct switch typedef union unsigned void volatile while _Alignas _Alignof _Atomic _Bool
    _Static_assert _Noreturn _Thread_local alignas alignof bool""".split()
)


class Token(NamedTuple):
    kind: str | None
    text: str
    at: int


def tokens_of(text: str) -> list[Token]:
    return [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text)]


@lru_cache(maxsize=None)
def code_of(text: str) -> list[Token]:
    """The tokens outside of comments and directives."""
    return [Token(kind, m.group(), m.start()) for m in CODE.finditer(text) if (kind := m.lastgroup)]


def without_bodies(text: str) -> str:
    """With nothing between the braces at file scope but what enumerations name: enough for the declarations, and quick."""
    kept, start, depth = [], 0, 0
    for m in BRACE.finditer(text):
        if m.group() == "{":
            before = text[start : m.start()] if depth == 0 else ""
            if depth == 0 and re.search(r'\bextern\s+"C"\s*$', before):
                continue
            if depth == 0 and not re.search(r"\benum\b\s*\w*\s*$", before):
                kept.append(text[start : m.end()])
                start = -1
            elif depth == 0:
                kept.append(text[start : m.start()])
                start = m.start()
            depth += 1
        elif m.group() == "}" and depth > 0:
            depth -= 1
            if depth == 0 and start < 0:
                start = m.start()
    return "".join([*kept, text[start:]])


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\b[A-Za-z_]\w*", NO_NAMES.sub(" ", text)))


@dataclass
class Declaration:
    """One at file scope. kind: function (with its body), prototype, object, type. own: nothing outside the file can see it."""

    kind: str
    names: list[str]
    own: bool
    first: int
    end: int
    body: list[Token] = field(default_factory=list)


def declarations(code: list[Token]) -> list[Declaration]:
    found: list[Declaration] = []
    part: list[Token] = []
    brace = paren = 0
    body_from = -1
    for t in code:
        part.append(t)
        if t.text in "([":
            paren += 1
        elif t.text in ")]":
            paren -= 1
        elif t.text == "{":
            if brace == 0 and paren == 0 and len(part) > 1:
                words = {p.text for p in part}
                type_body = bool(words & {"struct", "union", "enum"}) and part[-2].text != ")"
                body_from = -1 if "=" in words or type_body else len(part)
                if words == {"extern", '"C"', "{"}:  # its contents are at file scope
                    part.clear()
                    body_from = -1
                    continue
            brace += 1
        elif t.text == "}":
            if brace == 0:  # the end of extern "C"
                part.clear()
                continue
            brace -= 1
        if brace or paren or not (t.text == ";" or (t.text == "}" and body_from >= 0)):
            continue
        found.append(declaration(part, body_from))
        part, body_from = [], -1
    return found


def declaration(part: list[Token], body_from: int) -> Declaration:
    texts = [p.text for p in part]
    head = texts[: body_from - 1] if body_from >= 0 else texts
    own = "static" in head or "GATHER_INLINE" in head
    first, end = part[0].at, part[-1].at + 1
    if body_from >= 0:
        name = before_parens(head)
        return Declaration("function", [name] if name else [], own, first, end, part[body_from:-1])
    names = enumerators(part)
    if "typedef" in texts:
        return Declaration("type", names + typedef_names(part), True, first, end)
    flat = outside_braces(part)
    if "=" not in flat and "(" in flat and (name := before_parens(flat[:-1])):
        return Declaration("prototype", [name], own, first, end)
    if flat[0] in ("struct", "union", "enum") and "".join(flat[1:] if flat[1] == "{" else flat[2:]) in (";", "{};"):
        return Declaration("type", names + [t for t in flat[1:] if t.isidentifier() and t not in KEYWORDS], True, first, end)
    return Declaration("object" if flat[0] != "extern" else "extern", names + declarators(flat), own, first, end)


def before_parens(texts: list[str]) -> str | None:
    """The name in front of the last pair of parentheses, which attributes may follow."""
    depth, at = 0, len(texts) - 1
    while at >= 0 and texts[at] != ")":
        at -= 1
    while at >= 0:
        depth += (texts[at] in ")]") - (texts[at] in "([")
        if depth == 0:
            break
        at -= 1
    name = texts[at - 1] if at > 0 else ""
    if name in ("GATHER_POSIX",):
        return before_parens(texts[: at - 1])
    return name if re.match(r"[A-Za-z_]\w*$", name) and name not in KEYWORDS else None


def outside_braces(part: list[Token]) -> list[str]:
    flat, depth = [], 0
    for p in part:
        depth -= p.text == "}"
        if depth == 0:
            flat.append(p.text)
        depth += p.text == "{"
    return flat


def declarators(flat: list[str]) -> list[str]:
    """The names of `const T a = ..., *b[3];`: each is followed by = , ; or [ outside of brackets and initialisers."""
    names, depth, value = [], 0, False
    for k, text in enumerate(flat[:-1]):
        follows = flat[k + 1]
        if depth == 0 and not value and text.isidentifier() and text not in KEYWORDS and follows in "=,;[":
            names.append(text)
        depth += (text in "([") - (text in ")]")
        value = (value or text == "=") and not (depth == 0 and text == ",")
    return names


def typedef_names(part: list[Token]) -> list[str]:
    flat = outside_braces(part)
    pointer = re.search(r"\( \* (\w+) \)", " ".join(flat))
    return [pointer[1]] if pointer else declarators(flat)


def enumerators(part: list[Token]) -> list[str]:
    names, inside, depth = [], False, 0
    for k, p in enumerate(part):
        if p.text == "enum":
            inside = True
        if p.text == "{":
            depth += 1
        if p.text == "}":
            depth -= 1
            inside = False
        if inside and depth >= 1 and p.kind == "name" and part[k - 1].text in "{,":
            names.append(p.text)
    return names


def without_declaration(text: str, d: Declaration) -> str:
    """Without it, and the comment in front of it if that is about nothing else."""
    start = text.rfind("\n", 0, d.first) + 1
    end = text.find("\n", d.end) + 1 or len(text)
    before = text[:start]
    if text[end : end + 1] in ("\n", "#", "/", "") and (m := re.search(r"(?:^|\n)(/\*(?:(?!\*/).)*\*/\n)\Z", before, re.DOTALL)):
        before = before[: m.start(1)]
    return before + text[end:]


def strip_comments(text: str) -> str:
    text = "".join(" " if t.kind == "comment" else t.text for t in tokens_of(text))
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n", text)


def rename(text: str, names: dict[str, str]) -> str:
    """The tokens with these names, but for members of structs and parts of names."""
    if not names:
        return text
    tokens = tokens_of(text)
    solid = [k for k, t in enumerate(tokens) if t.kind not in ("space", "comment")]
    out = [t.text for t in tokens]
    bodies: list[bool] = []  # for each open brace: whether it is that of a struct
    macros = [
        (m.end(), set(re.findall(r"\w+", m[1] or "")))
        for m in re.finditer(r"^#[ \t]*define[ \t]+\w+(?:\(([^)]*)\))?(?:\\\n|[^\n])*", text, re.MULTILINE)
    ]  # each's end, and its parameters
    starts = [m.start() for m in re.finditer(r"^#[ \t]*define[ \t]+\w+", text, re.MULTILINE)]
    for n, k in enumerate(solid):
        t = tokens[k]
        macro = bisect_right(starts, t.at) - 1
        if macro >= 0 and t.at < macros[macro][0] and t.text in macros[macro][1]:
            continue
        before = tokens[solid[n - 1]].text if n else ""
        before2 = tokens[solid[n - 2]].text if n > 1 else ""
        after = tokens[solid[n + 1]].text if n + 1 < len(solid) else ""
        if t.text == "{":
            bodies.append(before in ("struct", "union") or before2 in ("struct", "union"))
        elif t.text == "}" and bodies:
            bodies.pop()
        if t.kind != "name" or t.text not in names or before in (".", "->", "##") or after == "##":
            continue
        if bodies and bodies[-1] and (after in (";", ",", "[", ":") or (after == ")" and before2 == "(")):
            continue
        out[k] = names[t.text]
    return "".join(out)


def join_conditions(text: str, conditions: set[str]) -> str:
    """Makes one block of neighbours with the same condition, between which only comments are."""
    for condition in sorted(conditions - {""}):
        opening = f"#if {condition}\n"
        at = text.find(opening)
        while at >= 0:
            end = text.index("#endif\n", at)
            between = re.compile(r"((?:\s|/\*(?:(?!\*/).)*\*/)*)" + re.escape(opening), re.DOTALL).match(text, end + 7)
            if between:
                text = text[:end] + between[1] + text[between.end() :]
            else:
                at = text.find(opening, end)
    return text


def after_block(text: str, word: str, more: str) -> str:
    """Puts lines behind the #endif of the first #if around a line that begins with a word."""
    opened: list[int] = []
    inside = -1
    for m in DIRECTIVE.finditer(text):
        if m[1] in ("if", "ifdef", "ifndef"):
            opened.append(m.start())
        elif m[1] == "endif":
            start = opened.pop()
            if inside >= 0 and start == inside:
                return text[: m.end()] + "\n" + more + text[m.end() :]
        elif m.group().lstrip().startswith(word) and inside < 0:
            inside = opened[1]  # within the guard
    sys.exit(f"amalgamate: no {word}")
