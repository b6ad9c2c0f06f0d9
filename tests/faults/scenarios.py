# SPDX-License-Identifier: MIT
"""What is run: each command, engine and format. IN stands for the folder of the inputs, URL for a server that serves it."""

from dataclasses import dataclass

PRECIOUS = b"precious"


@dataclass(frozen=True)
class Scenario:
    name: str
    line: str
    outputs: tuple[str, ...] = ("o.npy",)
    replaces: bool = False  # the outputs are there before; what stood in them is PRECIOUS
    stable: bool = False  # standard output is the same each time
    data_to_stdout: bool = False  # -o -: the JSON object goes to stderr
    cold: str = ""  # this input is put out of the page cache before each run
    resumes: bool = False  # a shuffle: goes on with --resume
    loops: int = 0  # it makes the same calls in rounds: how many of each name are tried; 0 = all
    least: int = 60  # points that are tried without GATHER_TEST_ROUNDS

    remote: bool = False  # it needs a build that reads URLs, and the server

    def words(self, inputs: str, url: str, json: bool) -> list[str]:
        words = [word.replace("IN/", f"{inputs}/").replace("URL/", url) for word in self.line.split()]
        return words + (["--json"] if json else [])


def take(name: str, line: str, **more) -> Scenario:
    return Scenario(f"take-{name}", f"take {line}", **more)


def said(name: str, line: str, **more) -> Scenario:
    """A command whose answer is what it prints."""
    return Scenario(name, line, **{"outputs": (), "stable": True, **more})


TABLE = "IN/x.npy IN/i.npy -o o.npy --memory 8M --engine"
SCENARIOS = [
    take("npy", "IN/x.npy IN/i.npy -o o.npy"),
    take("replace", "IN/x.npy IN/i.npy -o o.npy -f", replaces=True),
    take("fortran", "IN/fortran.npy [5,1,-1] -o o.npy --axis 1 --plan"),
    take("npz", "IN/x.npz:t IN/x.npz:i -o o.npy"),
    take("hdf5", "IN/x.h5:t IN/x.h5:g/i -o o.npy"),
    take("safetensors", "IN/x.safetensors:t IN/i.npy -o o.npy"),
    take("shards", "IN/model.safetensors.index.json:b IN/i.npy -o o.npy"),
    take("arrow", "IN/x.arrow:t IN/i.npy -o o.npy"),
    take("gguf", "IN/x.gguf:t IN/i.npy -o o.npy"),
    take("raw", "IN/x.raw IN/i.txt -o o.raw --type int32 --shape 600x6", outputs=("o.raw",)),
    take("onnx", "IN/m.onnx:t [[3],[599]] -o o.pb", outputs=("o.pb",)),
    take("openvino", "IN/m.xml:table IN/i.npy -o o.npy"),
    take("stdout", "IN/x.npy IN/i.npy -o -", outputs=(), data_to_stdout=True),
    take("clamp", "IN/x.npy [5,700,-9999] -o o.npy --on-bad clamp"),
    take("bad", "IN/x.npy [5,700,-9999] -o o.npy"),
    take("dry", "IN/x.npy IN/i.npy --dry-run", outputs=()),
    take("threads", "IN/large.npy IN/l.npy -o o.npy --threads 4"),
    take("mmap", f"{TABLE} mmap"),
    take("pread", f"{TABLE} pread"),
    take("uring", f"{TABLE} uring"),
    take("auto", f"{TABLE} auto", cold="x.npy"),
    take("parts", "IN/x.npy IN/i.npy -o o.npy --memory 8M --part IN/y.npy"),
    take("table-npz", "IN/x.npz:t IN/i.npy -o o.npy --engine pread --memory 8M"),
    take("table-shards", "IN/model.safetensors.index.json:b IN/i.npy -o o.npy --engine auto --memory 8M"),
    take("table-arrow", "IN/x.arrow:t IN/i.npy -o o.npy --engine uring --memory 8M"),
    take("table-threads", "IN/large.npy IN/l.npy -o o.npy --threads 4 --memory 16M --engine uring", cold="large.npy"),
    take("safetensors-out", "IN/x.npy IN/i.npy -o o.safetensors:rows", outputs=("o.safetensors",)),
    take("quantised", "IN/q.gguf:t IN/i.npy -o o.npy --as float32"),
    take("quantised-sides", "IN/q.safetensors:c.weight IN/i.npy -o o.npy --as float16 --engine pread --memory 8M"),
    take("csv", "IN/x.npy IN/i.csv:row -o o.npy"),
    take("as-raw", "IN/x.npy [1,0] -o o.raw --type uint8 --shape 4x32 --raw", outputs=("o.raw",)),
    Scenario("elements", "elements IN/x.npy IN/e.npy -o o.npy"),
    Scenario("nd", "nd IN/x.npy [[3,0],[1,-1]] -o o.npy"),
    Scenario("scatter", "scatter IN/x.npy [3,-1] [[1,2,3,4,5,6],[6,5,4,3,2,1]] -o o.npy --reduction add"),
    Scenario("scatter-mean", "scatter IN/x.npy [3,3] [[1,2,3,4,5,6],[6,5,4,3,2,1]] -o o.npy --reduction mean --unique -f", replaces=True),
    Scenario("scatter-bad", "scatter IN/x.npy IN/i.npy IN/x.npy -o o.npy"),
    Scenario("bag", "bag IN/x.npy [3,1,-1] [0,2] -o o.npy --negative on --accumulate wide"),
    Scenario("run-onnx", "run IN/m.onnx --input ids=IN/i.npy --output y=o.npy --output z=p.npy", outputs=("o.npy", "p.npy")),
    Scenario("run-replace", "run IN/m.onnx --input ids=IN/i.npy --output y=o.npy -f", replaces=True),
    Scenario("run-openvino", "run IN/m.xml --input ids=[[1,2],[3,4]] --output pick=o.npy"),
    said("run-test-data", "run IN/m.onnx --test-data IN/data"),
    said("check-onnx", "check IN/m.onnx --input ids=IN/i.npy"),
    said("check-openvino", "check IN/m.xml --input ids=[[1,2],[3,4]]"),
    said("check-bad", "check IN/bad.onnx"),
    said("explain", "explain IN/x.npy [3,-1,700] --on-bad clamp"),
    said("explain-elements", "explain --data 3x3 [[0,2,1]] --elements"),
    said("explain-nd", "explain --data 3x3 [[0,2],[1,1]] --nd"),
    said("explain-model", "explain IN/m.onnx --node pick --input ids=IN/i.npy"),
    said("explain-openvino", "explain IN/m.xml --node pick --input ids=[[1,2],[3,4]]"),
    said("explain-axis", "explain --data 9x5x3 [[0,2],[1,-1]] --axis 1", least=150),
    said("explain-bad", "explain --data 9x5 [0,2,9]", least=150),
    Scenario("explain-svg", "explain --data 9x5x3 [[0,2],[1,-1]] --axis 1 -o o.svg", outputs=("o.svg",), least=150),
    Scenario("explain-svg-bad", "explain --data 9x5 [0,2,9] -o o.svg", outputs=("o.svg",)),
    Scenario("explain-svg-stdout", "explain --data 40x3 [0,2,30] -o -", outputs=(), data_to_stdout=True),
    said("info", "info", stable=False),
    said("info-formats", "info --formats"),
    said("info-npy", "info IN/x.npy"),
    said("info-npz", "info IN/x.npz"),
    said("info-hdf5", "info IN/x.h5"),
    said("info-safetensors", "info IN/x.safetensors"),
    said("info-shards", "info IN/model.safetensors.index.json"),
    said("info-arrow", "info IN/x.arrow"),
    said("info-quantised", "info IN/q.safetensors"),
    said("info-gguf", "info IN/x.gguf"),
    said("info-onnx", "info IN/m.onnx"),
    said("info-openvino", "info IN/m.xml"),
    said("ops", "ops"),
    said("help", "take --help"),
    said("completion", "completion bash"),
    said("man", "shuffle --man"),
    Scenario("shuffle-one", "shuffle IN/s.npy -o o.npy --seed 3 --memory 6M --passes 1", resumes=True),
    Scenario("shuffle-two", "shuffle IN/s.npy -o o.npy --seed 3 --memory 6M --passes 2", resumes=True),
    Scenario("shuffle-order", "shuffle IN/s.npy -o o.npy --order IN/order.npy --memory 6M --passes 2", resumes=True),
    Scenario("shuffle-replace", "shuffle IN/s.npy -o o.npy --seed 3 --memory 6M --passes 2 -f", replaces=True, resumes=True),
    take("http", "URL/x.npy IN/i.npy -o o.npy --timeout 8", remote=True, loops=8),
    take("http-ids", "URL/x.safetensors:t URL/i.npy -o o.npy --timeout 8", remote=True, loops=4, least=30),
    # A run of it begins 1600 threads: most points are tried on a file of less than a block, at a small depth.
    said("bench", "bench IN/x.npy --rows 2", stable=False, loops=12, least=12),
    said("bench-small", "bench IN/y.npy --rows 2 --depth 2", stable=False, loops=12, least=40),
]
