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
     "Picks slices of DATA along an axis: the result has the shape of DATA with the\n"
     "axis replaced by the shape of INDICES. With --batch-dims B, the first B\n"
     "dimensions are shared: each batch of INDICES picks from its own batch of DATA.\n"
     "Every index is checked before anything is written.\n"},
    {GATHER_CLI_COMMAND_TAKE, "Files larger than memory",
     "Rows along axis 0 of a file go through a table: what the system has of the file\n"
     "in memory is copied, the rest is read from the disk, many reads at a time. INDICES\n"
     "and the output are taken part by part, so neither need fit into memory. Other\n"
     "axes, batch_dims, data in Fortran order, strings, packed rows that end within a\n"
     "byte, and standard input go another way, for which the options below are refused.\n"
     "\n"
     "--memory is a ceiling on what the whole program keeps in memory, but for its own\n"
     "code and a literal or text file of indices. --engine chooses how rows are read:\n"
     "\n"
     "  auto   the fastest of the others that there is (the default)\n"
     "  mmap   the mapped file; the system is told of each batch ahead\n"
     "  pread  threads that read\n"
     "  uring  io_uring of Linux, past the page cache where the file system can do that\n"
     "\n"
     "gather info says which work here; where one does not, another reads, and a note\n"
     "says so. --part adds files: their rows follow those of DATA, and their types and\n"
     "row shapes are the same (raw bytes: each file has the shape that --shape says).\n"
     "\n"
     "  gather take table.npy ids.npy -o rows.npy --memory 2GiB\n"
     "  gather take a.npy ids.npy -o rows.npy --part b.npy --part c.npy\n"},
    {GATHER_CLI_COMMAND_SHUFFLE, "Description",
     "Writes the rows of DATA in an order at random (--seed; it is printed, so that the\n"
     "run can be repeated) or in the order of --order, which is indices as take has them.\n"
     "Neither DATA nor OUT need fit into memory: rows are taken part by part, or in two\n"
     "passes through a file beside OUT, whichever is faster (--passes chooses).\n"
     "\n"
     "OUT appears whole, or not at all. A run that was stopped leaves the folder\n"
     ".gather-shuffle-NAME beside it, from which --resume goes on; -f begins anew.\n"
     "\n"
     "  gather shuffle train.npy -o shuffled.npy --seed 7 --memory 2GiB\n"
     "  gather shuffle x.npy -o y.npy --order order.npy\n"},
    {GATHER_CLI_COMMAND_BENCH, "Description",
     "Measures how fast rows at random come out of FILE, on this disk, engine by engine:\n"
     "cold, when the system has nothing of the file in memory, and warm. Nothing is\n"
     "written to FILE. Its pages are put out of memory as any user may ask for that; what\n"
     "stays all the same, as of a file that another program has mapped, is said.\n"
     "\n"
     "disk limit is what the disk gives: single blocks at random, of the size that a\n"
     "row needs, many at once, measured before and after each round. plain mmap and\n"
     "plain pread are loops as programs have them: one row after the other. of limit\n"
     "counts the blocks that the rows need, each once. read/need is how many bytes were\n"
     "read for each one that was needed; warm is from rows that were just read.\n"
     "\n"
     "All ways take turns in 5 rounds, each of which begins with another way. The\n"
     "middle round counts; +- is half of the distance between the quartiles. The run is\n"
     "too noisy to compare engines, and none is recommended, where\n"
     "\n"
     "  - the disk limit varies by more than +- 25 %, or differs by more than 25 %\n"
     "    between the beginning and the end,\n"
     "  - an engine reaches more than 110 % of the limit: its measurement was disturbed,\n"
     "  - the rounds of auto or of the fastest engine vary by more than +- 25 %.\n"
     "\n"
     "Else an engine is recommended over auto only if it was faster in every round, and\n"
     "by more than 10 % in the middle one.\n"
     "\n"
     "  gather bench table.npy\n"
     "  gather bench model.safetensors:embed --engine uring --rows 20000\n"},
    {GATHER_CLI_COMMAND_BENCH, "JSON",
     "  {\"command\":\"bench\",\"file\":\"x.npy\",\"row_bytes\":512,\"file_system\":\"ext4\",\n"
     "   \"direct\":true,\"rows\":40000,\"rounds\":5,\"cold\":true,\"block_bytes\":4096,\n"
     "   \"limits\":[...],\"engines\":[...],\"plain\":[...],\"depths\":[...],\"best\":{...},\n"
     "   \"verdict\":\"auto\",\"noisy\":false,\"why\":\"...\"}\n"
     "\n"
     "verdict is auto (leave --engine at auto), engine (name best.way), noisy, nothing\n"
     "(--engine was given) or unknown (the file was not cold). best is the fastest, also\n"
     "of a noisy run.\n"
     "\n"
     "Each way has way, engine, direct, depth, why, cold and warm (rows_per_second,\n"
     "least, most, spread), share_of_limit, blocks_per_row, bytes_read_per_useful and\n"
     "memory_peak; limits have before and after. cold false means that the file could not be put out of memory "
     "(resident: how much of it\n"
     "stayed), so that cold figures are too good.\n"},
    {GATHER_CLI_COMMAND_ELEMENTS, "Description",
     "Picks one element of DATA for each element of INDICES: the result has the shape\n"
     "of INDICES, and each index says where along the axis its element comes from.\n"
     "Every index is checked before anything is written.\n"},
    {GATHER_CLI_HELP_GATHER, "Naming a tensor",
     "FILE or FILE:NAME, where a file holds many; if a file of the whole name exists,\n"
     "that one. - is standard input. The format is found by content, not by name;\n"
     "gather info --formats lists them. Every .npy dtype of fixed size is read, and its\n"
     "descr is kept; pickled objects are refused.\n"
     "\n"
     "Raw bytes are described: --type T --shape 3x4 [--offset N] for DATA,\n"
     "--indices-type, --indices-shape and --indices-offset for INDICES. Bytes after the\n"
     "end are allowed. Type names are NumPy's and ml_dtypes' (float32, bfloat16, int4);\n"
     "ONNX's (FLOAT) and OpenVINO's (f32) are accepted.\n"
     "\n"
     "INDICES may also be a literal of type int64, or text:\n"
     "\n"
     "  3                    a single index, 0-D\n"
     "  '[[0, 2], [1, -1]]'  two rows of two\n"
     "  ids.txt              whole numbers separated by white space or commas; '# ...'\n"
     "                       is a comment, the first line may be one word of letters\n"
     "  ids.csv:user_id      a column of a table, by the name in its first line; its\n"
     "                       separators are tabs, commas or semicolons (RFC 4180)\n"
     "  ids.csv:#0           column number 0 of a table without a header\n"
     "\n"
     "A file whose name looks like a literal is written ./3. A Parquet file is converted\n"
     "first; the error says how.\n"},
    {GATHER_CLI_HELP_GATHER, "Indices",
     "Let n be the length of the axis. Where negative indices are on, an index in\n"
     "[-n, -1] gets + n. Whatever is then outside [0, n-1] is bad, and --on-bad says\n"
     "what happens:\n"
     "\n"
     "  error    or raise: the command fails, says where, and writes nothing\n"
     "  clamp    or clip: below goes to 0, above to n-1\n"
     "  wrap     the true modulo of the index as it was written\n"
     "  zero     the slice or element is all bits zero (the empty string)\n"
     "  fill=V   it is V: a number (nan, inf, -0.0 too), true or false, 1+2j, text,\n"
     "           or 0x and the bytes of one element\n"
     "  promise  you promise that there is none; no other memory is touched if there is\n"
     "\n"
     "What the type cannot hold exactly is refused as V; floats round as NumPy does.\n"
     "Where n is 0, clamp and wrap cannot repair an index: that is an error. What is\n"
     "meant where neither option is given stands under Rules.\n"},
    {GATHER_CLI_COMMAND_TAKE, "Rules", NULL},
    {GATHER_CLI_COMMAND_ELEMENTS, "Rules", NULL},
    {GATHER_CLI_HELP_GATHER, "Output",
     "The format follows the extension of OUT: .npy, .safetensors, .pb (ONNX\n"
     "TensorProto), .bin or .raw. .npy keeps the descr of DATA and is in C order; the\n"
     "others are little-endian. A type that a format cannot carry is refused;\n"
     ".safetensors carries bfloat16 and float8. Its tensor has the name that DATA has,\n"
     "else data; OUT.safetensors:NAME gives it another. OUT appears whole or\n"
     "not at all, and an existing one is kept unless -f is given. With -o - the result\n"
     "goes to standard output as .npy, and the JSON object to standard error. A terminal\n"
     "gets it only with -f.\n"},
    {GATHER_CLI_COMMAND_CHECK, "Description",
     "Finds every Gather and GatherElements node of MODEL (ONNX or OpenVINO IR): in\n"
     "the main graph, in subgraphs and in local functions. Shapes and constants are\n"
     "followed through the model; where the indices and the length of the axis are\n"
     "known, every index is checked. A node is ok, bad, or unknown: it is never ok\n"
     "without a check. Nodes of other operators that take indices, as GatherND and\n"
     "ScatterND, are not looked at; the first line counts them (\"not_checked\").\n"
     "\n"
     "--input gives a tensor to an input of the model, as FILE, FILE:NAME, a literal\n"
     "or a text file; these two have the type that the model declares for the input\n"
     "(flag=false, x=1.5, ids='[0, 2]').\n"
     "--dim gives a length to a dimension that has a name. With a bad node the exit\n"
     "code is 1, and the answer says what each runtime would do; also where the rules\n"
     "repair indices that are out of range.\n"
     "\n"
     "Each node has a line: the verdict, the operator, the axis, the shape of the data\n"
     "by that of the indices, and its place. Below it stands why, and what to give so\n"
     "that an unknown one becomes known. -q shows bad ones alone.\n"},
    {GATHER_CLI_COMMAND_EXPLAIN, "Description",
     "Draws one gather so that one sees which cell of the output comes from which cell\n"
     "of the data, by which index. DATA, INDICES and the options are those of take,\n"
     "with --elements those of elements; --data 3x4 stands for DATA and makes a table\n"
     "up. Large tensors show their ends and what is gathered; ranks above 2 are drawn\n"
     "as slices.\n"
     "\n"
     "With MODEL (ONNX, OpenVINO IR) alone it draws one gather node: --node names it,\n"
     "as check prints it or without the path of its graph; a node without a name goes\n"
     "by its output's too. The model says operator, rules, axis and constants; --input\n"
     "and --dim give the rest, as for check, and --input also any value in between.\n"
     "Where only the shape of the data is known, its cells show their numbers. What is\n"
     "missing is said: exit code 2.\n"
     "\n"
     "-o OUT.svg writes a picture for light and dark pages; without it the drawing\n"
     "fits the terminal (COLUMNS, where it is set). A bad index that is an error is\n"
     "drawn and marked, and then reported; of a model's node also what each runtime\n"
     "would do.\n"
     "\n"
     "  gather explain --data 3x4 '[2, 0, -1]'\n"
     "  gather explain --data 3x3 '[[0, 2, 1]]' --elements -o picture.svg\n"
     "  gather explain model.onnx --node embed --input ids='[[3, 1]]'\n"},
    {GATHER_CLI_COMMAND_RUN, "Description",
     "Runs a model (ONNX, OpenVINO IR) whose nodes are gather nodes and what comes\n"
     "with them: constants, Identity, casts between integers, Shape, Reshape, Squeeze\n"
     "and Unsqueeze. A model with any other operator is refused before any work;\n"
     "--node runs one gather node of it, with its constants from the model and the\n"
     "rest from --input.\n"
     "\n"
     "--output NAME=FILE writes an output, --output FILE all of them. One .safetensors\n"
     "file may hold several; NAME=FILE.safetensors:TENSOR names the tensor in it.\n"
     "Outputs without --output are summarised, not written. An existing file is kept\n"
     "unless -f is given. --test-data compares every output bit for bit, its type and\n"
     "shape too; a difference is exit code 1.\n"},
    {GATHER_CLI_COMMAND_RUN, "JSON",
     "  {\"command\":\"run\",\"model\":\"m.onnx\",\"outputs\":[{\"name\":\"y\",\n"
     "   \"type\":\"float32\",\"shape\":[2,2],\"output\":\"y.npy\"}],\"compared\":[]}\n"
     "\n"
     "With --test-data, compared has, for each output and set, {\"set\":\n"
     "\"test_data_set_0\",\"name\":\"y\",\"equal\":true,\"mismatches\":0}; where they differ,\n"
     "position too. An error at a node names it: \"node\".\n"},
    {GATHER_CLI_COMMAND_INFO, "Description",
     "Shows the tensors of FILE (or the one of FILE:NAME): name, type, shape, bytes\n"
     "and where they begin; of a model also its gather nodes: where they stand, their\n"
     "rules, operands and axis, and how many nodes check does not look at. Without\n"
     "FILE: the version, the CPU features found, the kernels in use, how many threads\n"
     "there would be, the thread pool, and how rows of large files can be read.\n"},
    {GATHER_CLI_COMMAND_OPS, "Description",
     "Lists the operator versions: what --rules takes, the document each comes from,\n"
     "whether negative indices count from the end, what a bad index does, and the types\n"
     "the document lists. Every other type works too.\n"},
    {GATHER_CLI_HELP_GATHER, "JSON",
     "  {\"command\":\"take\",\"rules\":\"onnx-13\",\"type\":\"float32\",\"shape\":[2,2],\n"
     "   \"bytes\":16,\"output\":\"o.npy\",\"indices\":{\"count\":4,\"bad\":0},\n"
     "   \"plan\":\"...\",\"seconds\":0.0001}\n"
     "\n"
     "bad counts the indices that were out of range and repaired. What went through a\n"
     "table also has \"table\": engine, direct (past the page cache), depth, why, rows,\n"
     "rows_resident, rows_cached, rows_read, reads, bytes_useful, bytes_read,\n"
     "memory_peak and memory_ceiling (0 = none). On failure:\n"
     "\n"
     "  {\"command\":\"take\",\"error\":{\"status\":\"index_out_of_range\",\"code\":5,\n"
     "   \"message\":\"...\",\"op\":\"Gather\",\"rules\":\"onnx-13\",\"position\":[1,0],\"value\":7,\n"
     "   \"low\":-3,\"high\":2,\"axis\":0,\"bad_count\":3}}\n"
     "\n"
     "position is the first bad place, as coordinates in INDICES; low and high are the\n"
     "valid range, both included. Other errors have status, code and message, and file,\n"
     "offset and input where they apply.\n"},
    {GATHER_CLI_HELP_GATHER, "Exit codes",
     "0 done, 1 the inputs are wrong, 2 the command line cannot be understood, 3 a file\n"
     "cannot be read or written or is malformed, 4 not supported, 130 stopped by Ctrl-C.\n"},
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
     "  1    the inputs are wrong: a bad index, shapes or types that do not fit\n"
     "  2    the command line cannot be understood\n"
     "  3    a file cannot be read or written, or is malformed\n"
     "  4    understood, but not supported\n"
     "  130  stopped by Ctrl-C; no partial file stays\n"},
    {GATHER_CLI_HELP_ENVIRONMENT, "Environment",
     "  COLUMNS        width of drawings and progress, in place of the terminal's\n"
     "  GATHER_TUNING  how a gather runs, never what it gives: gather help tuning\n"
     "  LC_ALL, LC_CTYPE, LANG\n"
     "                 drawings are ASCII where the encoding is not UTF-8\n"
     "  NO_COLOR       no colour where it is not empty; --color always overrides it\n"
     "  TERM           no colour and no progress where it is dumb or not set\n"},
    {GATHER_CLI_HELP_TUNING, "Tuning", NULL},
    {GATHER_CLI_COMMAND_COMPLETION, "Description",
     "Prints the script by which a shell completes commands, options, their values,\n"
     "file names, and the names of tensors behind FILE:. cmake --install puts the\n"
     "scripts where the shells look for them. Without that:\n"
     "\n"
     "  bash  eval \"$(gather completion bash)\"      in ~/.bashrc\n"
     "  zsh   source <(gather completion zsh)        in ~/.zshrc, after compinit\n"
     "  fish  gather completion fish | source        in ~/.config/fish/config.fish\n"},
};

const gather_cli_section *gather_cli_section_written(size_t i) {
  return i < sizeof SECTIONS / sizeof *SECTIONS ? &SECTIONS[i] : NULL;
}
