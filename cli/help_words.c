/* SPDX-License-Identifier: MIT
 *
 * help_words.c: the words of the help. Lines are at most 80 columns.
 */
#include "help.h"

static const gather_cli_section SECTIONS[] = {
    {GATHER_CLI_HELP_MAIN, "Examples",
     "  gather take table.npy '[3, 1, -1]' -o rows.npy\n"
     "  gather check model.onnx --input ids='[[3, 1]]'\n"},
    {GATHER_CLI_COMMAND_TAKE, "Description",
     "Takes slices of DATA along an axis: the result has the shape of DATA with the\n"
     "axis replaced by the shape of INDICES. With --batch-dims B, the first B\n"
     "dimensions are shared: each batch of INDICES takes from its own batch of DATA.\n"
     "All indices are validated before anything is written.\n"},
    {GATHER_CLI_COMMAND_TAKE, "Files larger than memory",
     "Rows along axis 0 of a file are not loaded: resident rows are copied, the others\n"
     "are read from the disk, many reads at a time. INDICES and the output are\n"
     "processed in blocks, so neither needs to fit into memory. The options below are\n"
     "refused for other axes, batch_dims, data in Fortran order, strings, packed rows\n"
     "that end within a byte, and standard input.\n"
     "\n"
     "--memory limits the memory of the whole program, except its own code and a\n"
     "literal or text file of indices. --engine selects how rows are read:\n"
     "\n"
     "  auto   the fastest engine that is available (the default)\n"
     "  mmap   a memory map; each batch is announced to the system in advance\n"
     "  pread  threads\n"
     "  uring  io_uring of Linux, with direct I/O if the file system supports it\n"
     "  http   ranges of URLs: the engine of every URL, and of no local file\n"
     "\n"
     "gather info says which work here; if one does not, another one reads, and a note\n"
     "says so. --part adds files: their rows follow those of DATA, and their types and\n"
     "row shapes are the same (raw bytes: each file has the shape given by --shape).\n"
     "\n"
     "  gather take table.npy ids.npy -o rows.npy --memory 2GiB\n"
     "  gather take a.npy ids.npy -o rows.npy --part b.npy --part c.npy\n"},
    {GATHER_CLI_COMMAND_TAKE, "Files on other machines",
     "DATA may be a URL: https://host/FILE:NAME, http://, s3://bucket/key, or\n"
     "hf://owner/repo/file of the Hugging Face hub. Only the header and the rows are\n"
     "read, by ranges of bytes, many requests at a time. A colon of the URL itself is\n"
     "written %3A. --plan prints what the network did, --json too.\n"
     "\n"
     "  gather take https://host/model.safetensors:emb ids.npy -o rows.npy\n"
     "  gather take s3://bucket/table.npy ids.npy -o rows.npy --cache ~/.cache/rows\n"},
    {GATHER_CLI_COMMAND_ND, "Files larger than memory",
     "What the tuples select is not loaded with the rest of DATA: resident bytes are\n"
     "copied, the others are read from the disk, many reads at a time. INDICES and the\n"
     "output are processed in blocks, so none of the three needs to fit into memory.\n"
     "The options below are as for take. They are refused for batch_dims, tuples\n"
     "without a number, elements of less than a byte, data in Fortran order, strings,\n"
     "and standard input.\n"
     "\n"
     "  gather nd cache.safetensors:keys slots.npy -o rows.npy --memory 2GiB\n"},
    {GATHER_CLI_COMMAND_SHUFFLE, "Description",
     "Writes the rows of DATA in random order (--seed; it is printed, so that the run\n"
     "can be repeated) or in the order of --order, which has the form of take's\n"
     "INDICES. Neither DATA nor OUT needs to fit into memory: rows are taken in\n"
     "blocks, or in two passes through a file beside OUT, whichever is faster\n"
     "(--passes chooses).\n"
     "\n"
     "OUT is written atomically. A run that was stopped leaves the folder\n"
     ".gather-shuffle-NAME beside it. --resume resumes it; -f starts again.\n"
     "\n"
     "  gather shuffle train.npy -o shuffled.npy --seed 7 --memory 2GiB\n"
     "  gather shuffle x.npy -o y.npy --order order.npy\n"},
    {GATHER_CLI_COMMAND_BENCH, "Description",
     "Measures how fast this disk delivers random rows of FILE, with each engine:\n"
     "cold, with no page of the file in the page cache, and warm. FILE is not written.\n"
     "Its pages are dropped from the page cache, which needs no privileges; pages that\n"
     "cannot be dropped, because another program has mapped them, are reported.\n"
     "\n"
     "disk limit is what the disk achieves: single random blocks, of the size that a\n"
     "row needs, many in flight, measured before and after each round. plain mmap and\n"
     "plain pread are simple loops: one row after the other. of limit counts the\n"
     "blocks that the rows need, each once. read/need is the number of bytes read per\n"
     "byte needed; warm is from rows that were just read.\n"
     "\n"
     "All methods take turns in 5 rounds, each of which begins with another one. The\n"
     "median round counts; +- is half of the interquartile range. A run is too noisy\n"
     "to compare engines, and none is recommended, if\n"
     "\n"
     "  - the disk limit varies by more than +- 25 %, or differs by more than 25 %\n"
     "    between the beginning and the end,\n"
     "  - an engine exceeds 110 % of the limit: its measurement was disturbed,\n"
     "  - the rounds of auto or of the fastest engine vary by more than +- 25 %.\n"
     "\n"
     "Otherwise an engine is recommended over auto only if it was faster in every\n"
     "round, and by more than 10 % in the median round.\n"
     "\n"
     "  gather bench table.npy\n"
     "  gather bench model.safetensors:embed --engine uring --rows 20000\n"
     "\n"
     "A URL has no disk: rows/s of random rows in 5 rounds, the same one row at a\n"
     "time, and what the network did. The table has no row cache meanwhile.\n"
     "\n"
     "  gather bench https://host/model.safetensors:embed --connections 16\n"},
    {GATHER_CLI_COMMAND_BENCH, "JSON",
     "  {\"command\":\"bench\",\"file\":\"x.npy\",\"row_bytes\":512,\"file_system\":\"ext4\",\n"
     "   \"direct\":true,\"rows\":40000,\"rounds\":5,\"cold\":true,\"block_bytes\":4096,\n"
     "   \"limits\":[...],\"engines\":[...],\"plain\":[...],\"depths\":[...],\"best\":{...},\n"
     "   \"verdict\":\"auto\",\"noisy\":false,\"why\":\"...\"}\n"
     "\n"
     "verdict is auto (leave --engine at auto), engine (name best.way), noisy, nothing\n"
     "(--engine was given) or unknown (the file was not cold). best is the fastest,\n"
     "also in a noisy run.\n"
     "\n"
     "Each method has way, engine, direct, depth, why, cold and warm (rows_per_second,\n"
     "least, most, spread), share_of_limit, blocks_per_row, bytes_read_per_useful and\n"
     "memory_peak, and devices as in the JSON of take; limits have before and after.\n"
     "cold false means that the file could\n"
     "not be dropped from the page cache (resident: how much of it remained), so the\n"
     "cold figures are too good.\n"},
    {GATHER_CLI_COMMAND_ELEMENTS, "Description",
     "Takes one element of DATA for each element of INDICES: the result has the shape\n"
     "of INDICES, and each index is the position of its element along the axis.\n"
     "All indices are validated before anything is written.\n"},
    {GATHER_CLI_COMMAND_ND, "Description",
     "Takes a slice or an element of DATA for each tuple of INDICES. The last\n"
     "dimension of INDICES has the numbers of a tuple, one for each of the first\n"
     "dimensions of DATA: [2, 0] selects DATA[2, 0, ...]. The result has the other\n"
     "dimensions of INDICES, then those of DATA that the tuples do not select on. With\n"
     "--batch-dims B, the first B dimensions are shared: each batch of INDICES takes\n"
     "from its own batch of DATA, and the tuples select on the dimensions after them.\n"
     "All indices are validated before anything is written.\n"
     "\n"
     "  gather nd grid.npy '[[2, 0], [0, 1]]' -o cells.npy\n"
     "  gather nd images.npy points.npy -o pixels.npy --batch-dims 1\n"},
    {GATHER_CLI_COMMAND_TREE, "Description",
     "Completes the sequences of a beam search. STEP_IDS and PARENT_IDS have the shape\n"
     "[steps, batch, beams]: the token that each beam chose in each step, and the beam\n"
     "of the step before that it continues. MAX_SEQ_LEN has the number of steps of\n"
     "each batch, END_TOKEN is a number. For each beam, the parents are followed from\n"
     "the last step to the first; what is behind the first END_TOKEN, and what is\n"
     "behind the last step, is END_TOKEN. The rules are OpenVINO GatherTree-1's.\n"
     "\n"
     "All four have one type, integer or float. Each is FILE, FILE:NAME, - (standard\n"
     "input), a literal or a text file; the latter two have the type of STEP_IDS,\n"
     "which is int64 if it is one itself.\n"
     "\n"
     "Parents are validated before anything is written. Only those that a sequence\n"
     "follows matter. For others than the default policy: clamp and wrap continue at\n"
     "another beam; with zero and fill=V, the earlier steps are 0 or V.\n"
     "\n"
     "  gather tree steps.npy parents.npy lengths.npy 2 -o sequences.npy\n"
     "  gather tree '[[[5, 6]], [[7, 8]]]' '[[[0, 0]], [[1, 0]]]' '[2]' 9 -o out.npy\n"},
    {GATHER_CLI_COMMAND_TREE, "JSON",
     "  {\"command\":\"tree\",\"rules\":\"openvino-1\",\"type\":\"int32\",\"shape\":[2,1,2],\n"
     "   \"bytes\":16,\"output\":\"o.npy\",\"indices\":{\"count\":4,\"bad\":0},\n"
     "   \"plan\":\"...\",\"seconds\":0.0001,\"dry_run\":false}\n"
     "\n"
     "indices counts the parents; bad those out of range that were repaired. The\n"
     "\"error\" of a failure is that of take: position has step, batch and beam.\n"},
    {GATHER_CLI_HELP_GATHER, "Naming a tensor",
     "FILE, or FILE:NAME if a file has several tensors. If a file named FILE:NAME\n"
     "exists, that file is used. - is standard input. The format is detected from the\n"
     "content, not from the name; gather info --formats lists the formats. Every .npy\n"
     "dtype of fixed size is supported, and its descr is kept; pickled objects are\n"
     "refused.\n"
     "\n"
     "Raw bytes are described by --type T --shape 3x4 [--offset N] for DATA, and by\n"
     "--indices-type, --indices-shape and --indices-offset for INDICES. Bytes after\n"
     "the end are allowed. Type names are NumPy's and ml_dtypes' (float32, bfloat16,\n"
     "int4); ONNX's (FLOAT) and OpenVINO's (f32) are accepted.\n"
     "\n"
     "INDICES may also be a literal of type int64, or text:\n"
     "\n"
     "  3                    a single index, 0-D\n"
     "  '[[0, 2], [1, -1]]'  two rows of two\n"
     "  ids.txt              integers separated by white space or commas; '# ...' is a\n"
     "                       comment, the first line may be one word of letters\n"
     "  ids.csv:user_id      a column of a table, by the name in its first line; its\n"
     "                       separators are tabs, commas or semicolons (RFC 4180)\n"
     "  ids.csv:#0           column number 0 of a table without a header\n"
     "\n"
     "Write ./3 for a file whose name looks like a literal. Parquet is not supported;\n"
     "the error says how to convert the file.\n"},
    {GATHER_CLI_HELP_GATHER, "Indices",
     "Let n be the length of the axis. If negative indices are on, an index in [-n,\n"
     "-1] gets + n. An index that is then outside [0, n-1] is out of range, and\n"
     "--on-bad is the policy for it:\n"
     "\n"
     "  error    or raise: the command fails, names the position, and writes nothing\n"
     "  clamp    or clip: below the range becomes 0, above it n-1\n"
     "  wrap     the true modulo of the index as written\n"
     "  zero     the slice or element is all bits zero (the empty string)\n"
     "  fill=V   it is V: a number (also nan, inf, -0.0), true or false, 1+2j, text,\n"
     "           or 0x and the bytes of one element\n"
     "  promise  unchecked: you guarantee that there is none; even if there is, the\n"
     "           command accesses no memory outside the tensors\n"
     "\n"
     "V must be exactly representable in the type; floats are rounded like in NumPy.\n"
     "If n is 0, clamp and wrap cannot repair an index, and that is an error. The\n"
     "defaults of both options are listed under Rules.\n"},
    {GATHER_CLI_COMMAND_TAKE, "Rules", NULL},
    {GATHER_CLI_COMMAND_ELEMENTS, "Rules", NULL},
    {GATHER_CLI_COMMAND_ND, "Tuples",
     "Each number of a tuple is an index of its own axis, with the range and the\n"
     "repair policy above: clamp and wrap repair it alone, zero and fill=V the whole\n"
     "slice. In an error, position is that of the number, and its last coordinate the\n"
     "component within the tuple; axis is batch_dims plus the component. bad and\n"
     "bad_count count numbers, not tuples. Under rules that allow tuples without a\n"
     "number (openvino-5, openvino-8 and microsoft-1), each of them selects all of\n"
     "DATA. openvino-5 makes one dimension of the batch dimensions.\n"},
    {GATHER_CLI_COMMAND_ND, "Rules", NULL},
    {GATHER_CLI_HELP_GATHER, "Output",
     "The extension of OUT selects the format: .npy, .safetensors, .pb (ONNX\n"
     "TensorProto), .bin or .raw. .npy keeps the descr of DATA and is in C order; the\n"
     "others are little-endian. A type that the format does not support is refused;\n"
     ".safetensors supports bfloat16 and float8. Its tensor has the name that DATA\n"
     "has, else data; OUT.safetensors:NAME gives it another name. OUT is written\n"
     "atomically, and an existing file is not replaced without -f. With -o - the\n"
     "result goes to standard output as .npy, and the JSON object to standard error.\n"
     "It is written to a terminal only with -f.\n"},
    {GATHER_CLI_COMMAND_CHECK, "Description",
     "Finds every Gather and GatherElements node of MODEL (ONNX or OpenVINO IR): in\n"
     "the main graph, in subgraphs and in local functions. It infers shapes and\n"
     "constants through the model. If the indices and the length of the axis are\n"
     "known, it validates every index. A node is ok, bad, or unknown; it is never ok\n"
     "without validation. Nodes of other operators that take indices, such as GatherND\n"
     "and ScatterND, are not checked; the first line counts them (\"not_checked\").\n"
     "\n"
     "--input gives a tensor for an input of the model, as FILE, FILE:NAME, a literal\n"
     "or a text file; the latter two have the type that the model declares for the\n"
     "input (flag=false, x=1.5, ids='[0, 2]').\n"
     "--dim gives a length to a named dimension. If a node is bad the exit code is 1,\n"
     "and the answer says what each runtime would do; it also says so if the rules\n"
     "repair indices out of range.\n"
     "\n"
     "Each node has a line: the verdict, the operator, the axis, the shape of the data\n"
     "by that of the indices, and its path. The lines below it say why, and what to\n"
     "give to make an unknown node known. -q shows only bad nodes.\n"},
    {GATHER_CLI_COMMAND_EXPLAIN, "Description",
     "Draws one gather: which cell of the output comes from which cell of the data, by\n"
     "which index. DATA, INDICES and the options are those of take, with --elements\n"
     "those of elements; --data 3x4 generates a table in place of DATA. Large tensors\n"
     "show their ends and the gathered rows; ranks above 2 are drawn as slices.\n"
     "\n"
     "With only MODEL (ONNX, OpenVINO IR) it draws one gather node: --node names it,\n"
     "as printed by check or without the path of its graph; a node without a name can\n"
     "be named by its output. The model gives operator, rules, axis and constants;\n"
     "--input and --dim give the rest, as for check, and --input also any intermediate\n"
     "value. If only the shape of the data is known, its cells show their numbers. If\n"
     "something is missing, an error says what; exit code 2.\n"
     "\n"
     "-o OUT.svg writes a picture for light and dark pages; without it the drawing\n"
     "fits the terminal (COLUMNS, if set). An index out of range that is an error is\n"
     "drawn and marked, and then reported; for a node of a model also with what each\n"
     "runtime would do.\n"
     "\n"
     "  gather explain --data 3x4 '[2, 0, -1]'\n"
     "  gather explain --data 3x3 '[[0, 2, 1]]' --elements -o picture.svg\n"
     "  gather explain model.onnx --node embed --input ids='[[3, 1]]'\n"},
    {GATHER_CLI_COMMAND_RUN, "Description",
     "Runs a model (ONNX, OpenVINO IR) that consists of gather nodes and the nodes\n"
     "around them: constants, Identity, casts between integers, Shape, Reshape,\n"
     "Squeeze, Unsqueeze, Transpose and Concat. A model with any other operator is\n"
     "refused before any work; --node runs one of its gather nodes, with its constants\n"
     "from the model and the rest from --input. Where other nodes dequantise a table\n"
     "of constants, only the rows that are gathered are decoded.\n"
     "\n"
     "--output NAME=FILE writes an output, --output FILE all of them. One .safetensors\n"
     "file may contain several; NAME=FILE.safetensors:TENSOR names the tensor in it.\n"
     "Outputs without --output are summarised, not written. An existing file is not\n"
     "replaced without -f. --test-data compares every output bit for bit, including\n"
     "type and shape; a difference is exit code 1.\n"},
    {GATHER_CLI_COMMAND_RUN, "JSON",
     "  {\"command\":\"run\",\"model\":\"m.onnx\",\"outputs\":[{\"name\":\"y\",\n"
     "   \"type\":\"float32\",\"shape\":[2,2],\"output\":\"y.npy\"}],\"compared\":[]}\n"
     "\n"
     "With --test-data, compared has, for each output and set, {\"set\":\n"
     "\"test_data_set_0\",\"name\":\"y\",\"equal\":true,\"mismatches\":0}; if they differ, also\n"
     "position. An error at a node names it: \"node\".\n"},
    {GATHER_CLI_COMMAND_INFO, "Description",
     "Shows the tensors of FILE (or the one of FILE:NAME): name, type, shape, bytes\n"
     "and offset; for a model also its gather nodes: path, rules, operands and axis,\n"
     "and how many nodes of other operators check does not cover. Without FILE: the\n"
     "version, the CPU features found, the kernels in use, the default number of\n"
     "threads, the thread pool, and the engines for large files.\n"},
    {GATHER_CLI_COMMAND_OPS, "Description",
     "Lists the operator versions: the values of --rules, the document of each,\n"
     "whether negative indices count from the end, what an index out of range does,\n"
     "and the types the document lists. Every other type works too.\n"},
    {GATHER_CLI_HELP_GATHER, "JSON",
     "  {\"command\":\"take\",\"rules\":\"onnx-13\",\"type\":\"float32\",\"shape\":[2,2],\n"
     "   \"bytes\":16,\"output\":\"o.npy\",\"indices\":{\"count\":4,\"bad\":0},\n"
     "   \"plan\":\"...\",\"seconds\":0.0001}\n"
     "\n"
     "bad counts the indices that were out of range and repaired. With --pad-rows\n"
     "padding has row_bytes and padded_bytes. Rows read through a\n"
     "table also have \"table\": engine, direct (direct I/O), depth, why, rows,\n"
     "rows_resident, rows_cached, rows_read, reads, bytes_useful, bytes_read,\n"
     "memory_peak, memory_ceiling (the limit; 0 = none) and devices: of each device file\n"
     "(the first one), files, direct, depth, most_in_flight, reads, bytes_read and\n"
     "seconds_per_read. On failure:\n"
     "\n"
     "  {\"command\":\"take\",\"error\":{\"status\":\"index_out_of_range\",\"code\":5,\n"
     "   \"message\":\"...\",\"op\":\"Gather\",\"rules\":\"onnx-13\",\"position\":[1,0],\"value\":7,\n"
     "   \"low\":-3,\"high\":2,\"axis\":0,\"bad_count\":3}}\n"
     "\n"
     "position is that of the first index out of range, as coordinates in INDICES; low\n"
     "and high are the valid range, inclusive. Other errors have status, code and\n"
     "message, and file, offset and input if they apply.\n"},
    {GATHER_CLI_HELP_GATHER, "Exit codes",
     "0 done, 1 the inputs are wrong, 2 the command line is invalid, 3 a file cannot\n"
     "be read or written or is malformed, 4 not supported, 130 stopped by Ctrl-C.\n"},
    {GATHER_CLI_HELP_EXAMPLES, "More examples",
     "  gather take table.npy ids.txt -o columns.npy --axis 1\n"
     "  gather elements scores.npy best.npy -o picked.npy --axis -1\n"
     "  gather take table.bin '[7]' -o row.npy --type float32 --shape 1000x64\n"
     "  gather take model.safetensors:wte ids.npy -o rows.npy --memory 2GiB\n"
     "  gather take table.npy '[[0, 9]]' -o rows.npy --on-bad clamp\n"
     "  gather shuffle train.npy -o shuffled.npy --seed 7\n"
     "  gather info table.npy\n"
     "  gather bench table.npy\n"
     "  gather explain model.onnx --node embed --input ids='[[3, 1]]'\n"},
    {GATHER_CLI_HELP_EXIT_CODES, "Exit codes",
     "  0    done\n"
     "  1    the inputs are wrong: an index out of range, wrong shapes or types\n"
     "  2    the command line is invalid\n"
     "  3    a file cannot be read or written, or is malformed\n"
     "  4    understood, but not supported\n"
     "  130  stopped by Ctrl-C; no partial file remains\n"},
    {GATHER_CLI_HELP_ENVIRONMENT, "Environment",
     "  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,\n"
     "  AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL\n"
     "                 for s3:// URLs: who asks, and where\n"
     "  COLUMNS        width of drawings and progress, overrides the terminal's\n"
     "  CURL_CA_BUNDLE, SSL_CERT_FILE\n"
     "                 certificates (PEM) to verify servers with\n"
     "  GATHER_TUNING  how a gather runs, never its result: gather help tuning\n"
     "  HF_ENDPOINT, HF_TOKEN\n"
     "                 the hub of hf:// URLs, and a token, which is sent to it alone\n"
     "  LC_ALL, LC_CTYPE, LANG\n"
     "                 drawings are ASCII if the encoding is not UTF-8\n"
     "  NO_COLOR       no colour if not empty; --color always overrides it\n"
     "  TERM           no colour and no progress if it is dumb or not set\n"},
    {GATHER_CLI_HELP_TUNING, "Tuning", NULL},
    {GATHER_CLI_COMMAND_COMPLETION, "Description",
     "Prints a script that completes commands, options, their values, file names, and\n"
     "the names of tensors after FILE:. cmake --install puts the scripts where the\n"
     "shells look for them. Without that:\n"
     "\n"
     "  bash  eval \"$(gather completion bash)\"      in ~/.bashrc\n"
     "  zsh   source <(gather completion zsh)        in ~/.zshrc, after compinit\n"
     "  fish  gather completion fish | source        in ~/.config/fish/config.fish\n"},
};

const gather_cli_section *gather_cli_section_written(size_t i) {
  return i < sizeof SECTIONS / sizeof *SECTIONS ? &SECTIONS[i] : NULL;
}
