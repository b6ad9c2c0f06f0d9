# SPDX-License-Identifier: MIT
"""Completion: what `gather __complete` answers, and that bash, zsh and fish do with it what a person sees."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import numpy as np
import pytest
from models import onnx_model
from onnx import TensorProto, helper
from safetensors.numpy import save_file
from support.sample import STEP
from support.skip import skip_test
from test_take import DEFAULTS

ROWS = """m (int64[N] ids) => (float[N, 2] y) <float[3,2] w = {0,1, 10,11, 20,21}> { [embed] y = Gather (w, ids) }"""
SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def files(gather):
    gather.save("table.npy", np.zeros((4, 3), np.float32))
    np.savez(gather.folder / "two.npz", emb=np.zeros((4, 3), np.float32), pos=np.zeros(2))
    gather.save("with space.npy", np.zeros(2))
    onnx_model(gather.folder / "m.onnx", ROWS)
    (gather.folder / "folder").mkdir()


def complete(gather, *words) -> tuple[str, list[str]]:
    answer = gather("__complete", *words)
    assert answer.code == 0 and answer.err == b"", answer
    first, *rest = answer.text.splitlines()
    return first, [line.split("\t")[0] for line in rest]


def test_commands_and_options_come_from_the_tables(gather, files):
    first, commands = complete(gather, "")
    assert first == "none 0"
    shown = re.findall(r"^  ([a-z]+) +\S", gather("--help").text.split("Commands:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert commands == shown and {"take", "completion"} <= set(commands)
    for command in commands:
        listed = re.findall(r"^ +(?:-., )?(--[a-z-]+)", gather(command, "--help").text.split("\nOptions:\n")[1], re.MULTILINE)
        listed += ["--man"] if command == "help" else []  # its help is that of the whole, which leaves it to the others
        assert complete(gather, command, "--") == ("none 0", listed)
    assert complete(gather, "take", "--ru") == ("none 0", ["--rules"])
    assert complete(gather, "sh") == ("none 0", ["shuffle"])
    assert complete(gather, "nonsense", "x")[1] == []
    assert complete(gather, "help", "t")[1] == ["take", "tree", "tuning"]
    assert complete(gather, "completion", "")[1] == list(SHELLS)
    assert all(len(line) <= 90 for line in gather("__complete", "take", "--").text.splitlines())


def test_names_of_tensors_are_offered(gather, files):
    assert complete(gather, "take", "two.npz", "--tensor", "") == ("none 0", ["emb", "pos"])
    assert complete(gather, "info", "two.npz", "--tensor", "p") == ("none 0", ["pos"])
    assert complete(gather, "take", "table.npy", "two.npz", "--indices-tensor", "e") == ("none 0", ["emb"])
    assert complete(gather, "take", "--tensor", "") == complete(gather, "take", "none.npz", "--tensor", "") == ("none 0", [])


RULES = [rules for command, rules in DEFAULTS if command == "elements"]


@pytest.mark.parametrize(
    ("words", "first", "answers"),
    [
        (["elements", "--rules", ""], "none 0", RULES),
        (["elements", "--rules="], "none 8", [f"--rules={name}" for name in RULES]),
        (["elements", "x.npy", "-q", "--rules", "op"], "none 0", ["openvino-6"]),
        (["take", "--on-bad", "c"], "none 0", ["clamp", "clip"]),
        (["take", "--on-bad", "f"], "none 0", ["fill="]),
        (["take", "--negative="], "none 11", ["--negative=on", "--negative=off"]),
        (["take", "--engine", ""], "none 0", ["auto", "mmap", "pread", "uring", "http", "overlapped"]),
        (["take", "--type", "bf"], "none 0", ["bfloat16"]),
        (["take", "--indices-type", "uint"], "none 0", ["uint8", "uint16", "uint32", "uint64"]),
        (["ops", "--color", "a"], "none 0", ["auto", "always"]),
        (["take", "--axis", ""], "none 0", []),
        (["take", "ta"], "files 0", []),
        (["take", "table.npy", "i"], "files 0", []),
        (["take", "table.npy", "ids.npy", "x"], "none 0", []),
        (["take", "--", "table.npy", "--ru"], "files 0", []),
        (["take", "-o"], "none 0", []),
        (["take", "-o", "o"], "files 0", []),
        (["take", "-or"], "files 2", []),
        (["take", "-qo", "r"], "files 0", []),
        (["take", "--part=t"], "files 7", []),
        (["take", "-1"], "files 0", []),
        (["info", "two.npz:"], "none 0", ["two.npz:emb", "two.npz:pos"]),
        (["take", "two.npz:e"], "none 0", ["two.npz:emb"]),
        (["take", "none.npz:e"], "files 0", []),
        (["take", "table.npy:"], "none 0", []),
        (["run", "m.onnx", "--input", ""], "none 0", ["ids="]),
        (["run", "m.onnx", "--input", "ids=ta"], "files 4", []),
        (["run", "m.onnx", "--input=ids=two.npz:"], "none 12", ["--input=ids=two.npz:emb", "--input=ids=two.npz:pos"]),
        (["run", "m.onnx", "-o", ""], "none 0", ["y="]),
        (["explain", "m.onnx", "--node", ""], "none 0", ["embed"]),
        (["explain", "--on-bad", "s"], "none 0", []),
        (["explain", "--scatter", "--on-bad", "s"], "none 0", ["skip"]),
        (["explain", "--scatter", "--reduction", "m"], "none 0", ["mul", "min", "max", "mean"]),
        (["explain", "--scatter", "--rules=openvino-15"], "none 8", ["--rules=openvino-15"]),
        (["run", "none.onnx", "--input", ""], "none 0", []),
        (["run", "m.onnx", "--test-data", ""], "folders 0", []),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_values_files_and_names(gather, files, words, first, answers):
    assert complete(gather, *words) == (first, answers)


def test_names_that_a_terminal_would_obey_are_left_out(gather):
    np.savez(gather.folder / "bad.npz", **{"fine": np.zeros(1), "a\x1b[2J": np.zeros(1)})
    assert complete(gather, "info", "bad.npz:")[1] == ["bad.npz:fine"]


def test_the_scripts(gather):
    for shell in SHELLS:
        answer = gather("completion", shell)
        assert answer.code == 0 and answer.err == b"" and b"__complete" in answer.out
        assert gather.json("completion", shell) == {"command": "completion", "shell": shell, "script": answer.text}


def need(shell: str) -> str:
    path = shutil.which(shell)
    if not path:
        skip_test(shell, f"there is no shell {shell}")
    return path


def environment(gather) -> dict[str, str]:
    """A sanitizer that is loaded into our programs is no business of a shell's."""
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "BASH_ENV", "ENV", "INPUTRC", "ZDOTDIR")}
    env |= {"PATH": f"{gather.exe.parent}:{os.environ['PATH']}", "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": str(gather.folder)}
    return env | {"ZDOTDIR": str(gather.folder), "XDG_CONFIG_HOME": str(gather.folder / ".config"), "HISTFILE": "/dev/null"}


@pytest.mark.parametrize("shell", SHELLS)
def test_syntax(gather, shell):
    (gather.folder / "script").write_bytes(gather("completion", shell).out)
    done = subprocess.run([need(shell), "-n", "script"], cwd=gather.folder, capture_output=True, env=environment(gather))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


class Terminal:
    """An interactive shell on a pseudo-terminal."""

    def __init__(self, gather, words: list[str]):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(gather.folder)
            os.execvpe(words[0], words, environment(gather))

    def say(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def until(self, mark: str, seconds: float = 20) -> str:
        """What is shown until the mark stands there."""
        shown, end = "", time.monotonic() + seconds
        while mark not in shown and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    shown += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        assert mark in shown, shown
        return shown

    def close(self) -> None:
        os.close(self.fd)
        os.waitpid(self.pid, 0)


START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'bind "set enable-bracketed-paste off"; eval "$(gather completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], "unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; source <(gather completion zsh)"),
}
TYPED = [
    ("gather ta\t", ["take"]),
    ("gather take --ru\t", ["take", "--rules"]),
    ("gather elements --rules op\t", ["elements", "--rules", "openvino-6"]),
    ("gather elements --rules=op\t", ["elements", "--rules=openvino-6"]),
    ("gather take tab\t", ["take", "table.npy"]),
    ("gather take two.npz:e\t", ["take", "two.npz:emb"]),
    ("gather take with\t", ["take", "with space.npy"]),
    ("gather take table.npy 0 --part=tw\t", ["take", "table.npy", "0", "--part=two.npz"]),
    ("gather run m.onnx --input i\ttw\t", ["run", "m.onnx", "--input", "ids=two.npz"]),
    ("gather run m.onnx --test-data f\t", ["run", "m.onnx", "--test-data", "folder"]),
    ("gather take table.npy 0 --on-bad f\t7", ["take", "table.npy", "0", "--on-bad", "fill=7"]),
]


@pytest.mark.parametrize("shell", START)
def test_in_a_terminal(gather, files, shell):
    """Each line is typed with its tabs; then words are put before and behind it that print what the shell makes of it. All of a line is
    typed at once: the shell takes key after key, whatever time it needs for a tab."""
    need(shell)
    words, load = START[shell]
    terminal = Terminal(gather, words)
    try:
        terminal.say(load + "; PS1='> '; echo rea''dy\r")
        terminal.until("ready")
        for typed, wanted in TYPED:
            terminal.say(f"{typed}\x01printf '<%s>' mark \x05 end\r")
            shown = terminal.until("<end>")
            result = re.findall(r"<([^<>]*)>", shown[shown.index("<mark>") :].replace("\r", ""))
            assert [word.removesuffix("/") for word in result[1:-1]] == ["gather", *wanted], typed
        terminal.say("exit\r")
    finally:
        terminal.close()


# What a file may call its tensors: each character that a shell can do something with, and what people would write to have it done.
PRINTABLE = [f"p{ord(c):02x}_a{c}b" for c in map(chr, range(0x20, 0x7F))]
NASTY = ["emb$(touch${IFS}pwned)", "`touch pwned`", "x;touch pwned", "x|touch pwned", "x&touch pwned", "x>pwned", "$HOME", "~root", "-n", "--help",
         "!!", "x #y", "'", '"', "'$(touch pwned)'", '"$(touch pwned)"', "\\", "a\\'b", "two  blanks ", "*", "{a,b}", "[a-z]", "(x)", "a=b:c", "\u00e4\u2028", "%s%n",
         "${pwned}", "x\\ny", "<(touch pwned)", "$'\\x41'", "@(a|b)", "^a^b", "?"]  # fmt: skip
NAMED = {**{f"c{i:02d}{name}": name for i, name in enumerate(NASTY)}, **{name: name for name in PRINTABLE}}
SHOW = """#!/bin/sh
for word; do printf '<'; printf %s "$word" | od -An -v -tx1 | tr -d ' \\n'; printf '>'; done
"""
START_FISH = (["fish", "--no-config", "-i"], "gather completion fish | source; function fish_prompt; echo '> '; end; function fish_greeting; end")


@pytest.fixture
def nasty(gather):
    """Files whose names of tensors, nodes and inputs are what a shell would obey."""
    save_file({name: np.zeros((2, 2), np.float32) for name in NAMED}, gather.folder / "names.safetensors")
    (gather.folder / "show").write_text(SHOW)
    (gather.folder / "show").chmod(0o755)
    nodes = [helper.make_node("Gather", ["w", name], [f"y{name}"], name=name) for name in NAMED]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N"]) for name in NAMED]
    outputs = [helper.make_tensor_value_info(f"y{name}", TensorProto.FLOAT, None) for name in NAMED]
    graph = helper.make_graph(nodes, "m", inputs, outputs, [helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [0.0] * 4)])
    (gather.folder / "n.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString())


def offered(name: str) -> str:
    """What is typed of a name: enough to tell it from the others, and nothing that a shell reads."""
    return name[:4] if name.startswith("p") else name[:3]


@pytest.mark.parametrize("shell", SHELLS)
def test_names_from_files_are_words(gather, nasty, shell):
    """A tab completes to the very name; Enter then passes it on, whatever is in it, and runs nothing."""
    need(shell)
    words, load = START[shell] if shell in START else START_FISH
    terminal = Terminal(gather, words)
    nasty = [name for name in NAMED if name.startswith("c")]
    typed = [(f"gather info names.safetensors:{offered(name)}", f"names.safetensors:{name}") for name in NAMED]
    typed += [(f"gather info {quote}names.safetensors:{offered(name)}", f"names.safetensors:{name}") for name in nasty for quote in ("'", '"')]
    typed += [(f"gather check n.onnx --input {offered(name)}", f"{name}=") for name in nasty]
    typed += [(f"gather run n.onnx --node {offered(name)}", name) for name in nasty]
    try:
        terminal.say(load + ("; PS1='> '" if shell != "fish" else "") + "; echo rea''dy\r")
        terminal.until("ready")
        for line, wanted in typed[::STEP]:
            terminal.say(f"{line}\t\x01./show mark \x05 end\r")
            shown = terminal.until("<656e64>")
            got = re.findall(r"<([0-9a-f]*)>", shown.replace("\r", ""))
            got = [bytes.fromhex(word).decode() for word in got[got.index("6d61726b") :]]
            assert wanted in got, (shell, line, got)
            assert not (gather.folder / "pwned").exists(), (shell, line)
        terminal.say("exit\r")
    finally:
        terminal.close()


def test_in_fish(gather, files):
    """fish says itself what it would offer."""
    fish = need("fish")
    for typed, wanted in TYPED:
        line = re.sub(r"\t7$", "", typed.replace("i\ttw\t", "ids=tw")).removesuffix("\t")
        done = subprocess.run(
            [fish, "--no-config", "-c", 'gather completion fish | source; complete -C "$argv[1]"', line],
            cwd=gather.folder, capture_output=True, text=True, env=environment(gather), timeout=60,
        )  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done
        last = wanted[-1].replace("fill=7", "fill=")
        assert [row.split("\t")[0].removesuffix("/") for row in done.stdout.splitlines()] == [last], line
