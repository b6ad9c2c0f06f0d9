# SPDX-License-Identifier: MIT
"""The text of a header's comment as reStructuredText. It keeps the text; what it adds is structure and links.

Conventions of the comments: "name: text" begins what is said of an argument, "Returns", "Threads", "Memory" and "Source" begin a
sentence of their own; "Word   text" in columns is a list of terms; other indented lines are code; names of the library are links.
"""

import re

STARTS = re.compile(r"(Returns|Also returns|Threads|Memory|Source|Policies)\b")
ARGUMENTS = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): ")
TERM = re.compile(r"( *)(\S+(?: \S+)?)( {2,})(\S.*)")
NAME = re.compile(r"`([^`\n]+)`|(?<![\w.])((?:gather|GATHER)_\w+(?:\.[a-z]\w*)?)(?![\w*])|\b(\w+\.h)\b"
                  r"|(?<![\w.`])([A-Za-z]\w*(?:->\w+)+|[A-Za-z]\w*_\w+)(?![\w*])")
SPECIAL = re.compile(r"([\\*`|_<>])")


def lines_of(comment: str) -> list[str]:
    """The lines of a comment without its stars."""
    return [re.sub(r"^\s*\*( |$)", "", line).rstrip() if number else line.strip() for number, line in enumerate(comment.split("\n"))]


class Writer:
    """kinds: the role of each name (func, struct, macro ...); pages: the headers that have a page."""

    def __init__(self, kinds: dict[str, str], pages: set[str]):
        self.kinds, self.pages = kinds, pages

    def link(self, name: str) -> str:
        """A name as a link to what it names, or as code."""
        if name in self.pages:
            return f":doc:`{name} <{name.removesuffix('.h')}>`"
        return f":c:{self.kinds[name]}:`{name}`" if name in self.kinds else f"``{name}``"

    def inline(self, text: str) -> str:
        """A sentence: names become links, everything else is text."""
        made, at = [], 0
        for match in NAME.finditer(text):
            made.append(SPECIAL.sub(r"\\\1", text[at:match.start()]))
            code, name, header, word = match.groups()
            code = code or word or ""
            made.append(self.link(code or name or header) if name or header or code in self.kinds else f"``{code}``")
            made.append("\\ " if match.end() < len(text) and re.match(r"[\w(\[{]", text[match.end()]) else "")
            at = match.end()
            if made[-2] and match.start() and re.match(r"[\w=+/-]", text[match.start() - 1]):
                made[-2] = "\\ " + made[-2]
        return "".join(made) + SPECIAL.sub(r"\\\1", text[at:])

    def block(self, comment: str, arguments: tuple[str, ...] = ()) -> list[str]:
        """A whole comment, as lines of reStructuredText."""
        made: list[str] = []
        for part in re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines_of(comment)).strip("\n")):
            made += [*self.part(part.split("\n"), arguments), ""]
        return made

    def part(self, lines: list[str], arguments: tuple[str, ...]) -> list[str]:
        """Lines without an empty one among them."""
        indent = min(len(line) - len(line.lstrip()) for line in lines)
        body = [line[indent:] for line in lines]
        head = next((i for i, line in enumerate(body) if TERM.fullmatch(line) and not ARGUMENTS.match(line)), None)
        if head is not None:
            before = [*self.part(body[:head], arguments), ""] if head else []
            return before + self.terms(body[head:])
        if indent >= 4:
            return ["::", "", *("    " + line for line in body)]
        return self.sentences(body, arguments)

    def terms(self, body: list[str]) -> list[str]:
        """Words in a column with their texts beside them."""
        made: list[str] = []
        text: list[str] = []
        left = len(body[0]) - len(body[0].lstrip())
        for line in body:
            match = TERM.fullmatch(line)
            if match and len(match.group(1)) == left:
                made += self.closed(text)
                made.append(self.inline(match.group(2)))
                text = [match.group(4)]
            else:
                text.append(line.strip())
        return made + self.closed(text)

    def closed(self, text: list[str]) -> list[str]:
        return ["   " + self.inline(" ".join(text)), ""] if text else []

    def sentences(self, body: list[str], arguments: tuple[str, ...]) -> list[str]:
        """Paragraphs; what is said of an argument is a row of a list."""
        made: list[str] = []
        current: list[str] = []
        mark = ""
        for line in body:
            match = ARGUMENTS.match(line)
            if match and set(match.group(1).split(", ")) <= set(arguments):
                made += self.paragraph(mark, current)
                mark, current = match.group(1), [line[match.end():]]
            elif STARTS.match(line) or line.startswith("GATHER_FAMILY_"):
                made += self.paragraph(mark, current)
                mark, current = "", [line]
            else:
                current.append(line.strip())
        return made + self.paragraph(mark, current)

    def paragraph(self, mark: str, text: list[str]) -> list[str]:
        said = self.inline(" ".join(text).strip())
        if not said:
            return []
        names = ", ".join(f"``{name}``" for name in mark.split(", ")) if mark else ""
        return [f"* {names}: {said}", ""] if mark else [said, ""]
