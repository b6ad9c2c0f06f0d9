/* SPDX-License-Identifier: MIT
 *
 * py_docs.h: what help() says of the extension's functions.
 */
#ifndef GATHER_PY_DOCS_H
#define GATHER_PY_DOCS_H

#define GATHER_PY_DOC_INPUTS                                                                                           \
  "x : array\n"                                                                                                        \
  "    Any rank from 1, any dtype, any strides: a NumPy array, a torch tensor, anything with __dlpack__, the buffer\n" \
  "    protocol or __array_interface__. CPU memory. It is read in place, never copied or written.\n"
#define GATHER_PY_DOC_POLICY                                                                                           \
  "out : array, optional\n"                                                                                            \
  "    Where the result goes: writable, of x's dtype and the result's shape, not overlapping x or indices.\n"          \
  "    Written directly; not written if an index out of range is an error.\n"                                          \
  "mode : {'raise', 'wrap', 'clip', 'zero', 'fill', 'promise'}, optional\n"                                            \
  "    Policy for an index out of range. 'raise': an error; 'wrap': modulo the length of the axis; 'clip': the\n"      \
  "    first or last row; 'zero': zeros (all bits; the empty string); 'fill': fill_value; 'promise': unchecked,\n"     \
  "    you guarantee that there is none (if there is one, anything may happen, including invalid memory\n"             \
  "    accesses). Default: 'raise', or that of rules.\n"                                                               \
  "fill_value : scalar, optional\n"                                                                                    \
  "    Only with mode='fill'. A value that x's dtype cannot represent is an error; floats are rounded to the\n"        \
  "    nearest value.\n"                                                                                               \
  "negative : bool, optional\n"                                                                                        \
  "    Whether an index in [-n, -1] counts from the end of an axis of length n; if not, it is out of range. Default: " \
  "True,\n"                                                                                                            \
  "    or what rules says.\n"
#define GATHER_PY_DOC_THREADS                                                                                        \
  "threads : int, optional\n"                                                                                        \
  "    Maximum number of threads, at least 1; small calls use one. Default: get_threads(). The result is the same\n" \
  "    for any number.\n"
#define GATHER_PY_DOC_RAISES                                                         \
  "\nRaises\n------\n"                                                               \
  "GatherIndexError (an IndexError)\n"                                               \
  "    The first index out of range: position, value, low, high, axis, bad_count.\n" \
  "GatherAxisError, GatherValueError, GatherTypeError\n"                             \
  "    Invalid axis, shapes or types.\n"                                             \
  "GatherNotSupportedError (a NotImplementedError)\n"                                \
  "    Memory of another device; a tensor that requires a gradient.\n"

static const char gather_py_doc_take[] =
    "take(x, indices, /, *, axis=None, batch_dims=0, out=None, mode=None, fill_value=None, negative=None, rules=None, "
    "threads=None)\n--\n\n"
    "Rows of x along an axis: result[b, o, i, ...] = x[b, o, indices[b, i], ...].\n\n"
    "Parameters\n----------\n" GATHER_PY_DOC_INPUTS
    "indices : array of integers, int, or nested list\n"
    "    Any rank (0 removes the axis), any integer dtype; never converted.\n"
    "axis : int, optional\n"
    "    In [-x.ndim, x.ndim - 1]. May be omitted if x has one dimension.\n"
    "batch_dims : int, default 0\n"
    "    How many leading dimensions x and indices share; a negative value counts from the rank of "
    "indices.\n" GATHER_PY_DOC_POLICY
    "rules : str, optional\n"
    "    Follow one document to the letter: 'onnx-1', 'onnx-11', 'onnx-13', 'openvino-1', 'openvino-7', "
    "'openvino-8'.\n" GATHER_PY_DOC_THREADS
    "\nReturns\n-------\narray\n"
    "    Of x's library and dtype, row-major, of the shape\n"
    "    x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1:].\n" GATHER_PY_DOC_RAISES
    "\nNotes\n-----\n"
    "Names and meaning are those of the array API's take; batch_dims is that of OpenVINO's Gather-8. With rules,\n"
    "the row of `gather ops` applies (ONNX Gather, OpenVINO Gather).";

static const char gather_py_doc_along[] =
    "take_along_axis(x, indices, /, *, axis=-1, out=None, mode=None, fill_value=None, negative=None, "
    "threads=None)\n--\n\n"
    "Elements of x along an axis: result[a, j, c] = x[a, indices[a, j, c], c] for axis 1 of 3.\n\n"
    "Parameters\n----------\n" GATHER_PY_DOC_INPUTS
    "indices : array of integers\n"
    "    Of x's rank. Off the axis the lengths of x and indices broadcast, both ways.\n"
    "axis : int or None, default -1\n"
    "    None flattens x (x.reshape(-1)); indices then have one dimension.\n" GATHER_PY_DOC_POLICY GATHER_PY_DOC_THREADS
    "\nReturns\n-------\narray\n"
    "    Of x's library and dtype, row-major; along the axis as long as indices, else as long as both "
    "broadcast.\n" GATHER_PY_DOC_RAISES
    "\nNotes\n-----\n"
    "The array API's and NumPy's take_along_axis.";

static const char gather_py_doc_elements[] =
    "gather_elements(x, indices, /, *, axis=0, out=None, mode=None, fill_value=None, negative=None, rules=None, "
    "threads=None)\n--\n\n"
    "Elements of x along an axis, one for each element of indices: result[i, j] = x[indices[i, j], j] for axis 0 of "
    "2.\n\n"
    "Parameters\n----------\n" GATHER_PY_DOC_INPUTS
    "indices : array of integers\n"
    "    Of x's rank; off the axis not longer than x (no broadcasting).\n"
    "axis : int, default 0\n"
    "    In [-x.ndim, x.ndim - 1].\n" GATHER_PY_DOC_POLICY
    "rules : str, optional\n"
    "    Follow one document to the letter: 'onnx-11', 'onnx-13', 'openvino-6'.\n" GATHER_PY_DOC_THREADS
    "\nReturns\n-------\narray\n"
    "    Of x's library and dtype and the shape of indices, row-major.\n" GATHER_PY_DOC_RAISES
    "\nNotes\n-----\n"
    "As ONNX GatherElements-13, and as torch.gather, but also with negative indices.";

static const char gather_py_doc_nd[] =
    "gather_nd(x, indices, /, *, batch_dims=0, out=None, mode=None, fill_value=None, negative=None, rules=None, "
    "threads=None)\n--\n\n"
    "Rows of x by tuples of numbers: result[b, i, ...] = x[b, indices[b, i, 0], indices[b, i, 1], ...].\n\n"
    "Parameters\n----------\n" GATHER_PY_DOC_INPUTS
    "indices : array of integers, or nested list\n"
    "    Any rank from 1, any integer dtype. Its last dimension has the numbers of a tuple, at most x.ndim - "
    "batch_dims:\n"
    "    number j selects on axis batch_dims + j of x. An empty tuple selects all of x.\n"
    "batch_dims : int, default 0\n"
    "    How many leading dimensions x and indices share.\n" GATHER_PY_DOC_POLICY
    "    A tuple with one number out of range is out of range.\n"
    "rules : str, optional\n"
    "    Follow one document to the letter: 'onnx-11', 'onnx-12', 'onnx-13', 'microsoft-1', 'openvino-5', "
    "'openvino-8'.\n" GATHER_PY_DOC_THREADS
    "\nReturns\n-------\narray\n"
    "    Of x's library and dtype, row-major, of the shape indices.shape[:-1] + x.shape[batch_dims + "
    "indices.shape[-1]:].\n"
    "    With 'openvino-5' the batch dimensions are one dimension.\n" GATHER_PY_DOC_RAISES
    "    The last number of position is the component of the tuple; axis is batch_dims plus the component.\n"
    "\nNotes\n-----\n"
    "As ONNX GatherND-13, with empty tuples. libgather.index(x, (i, j)) is the same for two arrays that broadcast.";

static const char gather_py_doc_index[] =
    "index(x, key, /, *, out=None, mode=None, fill_value=None, negative=None, threads=None)\n--\n\n"
    "NumPy's x[key], always as a new array, never a view.\n\n"
    "Parameters\n----------\n" GATHER_PY_DOC_INPUTS
    "key : integer, slice, ..., None, array of integers or bools, nested list, or a tuple of them\n"
    "    Arrays broadcast. A mask stands for the positions of its true elements. The dimensions that the arrays "
    "broadcast to\n"
    "    are in their place, or first if a slice, None or ... is between them. Integers then count as "
    "arrays.\n" GATHER_PY_DOC_POLICY "    The policy applies to integers of the key, too, not to slices and masks.\n" GATHER_PY_DOC_THREADS
    "\nReturns\n-------\narray\n"
    "    Of x's library and dtype, row-major, of NumPy's shape; a NumPy scalar if NumPy returns one.\n"
    "\nRaises\n------\n"
    "GatherIndexError (an IndexError)\n"
    "    The first index out of range: item (which part of the key), position (in the shape that the arrays broadcast "
    "to), value,\n"
    "    low, high, axis of x, bad_count. Integers of the key are checked before arrays.\n"
    "GatherKeyError (an IndexError)\n"
    "    The key does not fit x: too many indices, a mask of another shape, arrays that do not broadcast or are not "
    "integers.\n"
    "TypeError, ValueError\n"
    "    Invalid slices, as NumPy's; invalid out or fill_value.\n"
    "\nNotes\n-----\n"
    "NumPy's indexing, except: uint64 indices beyond int64 are out of range (NumPy wraps them around), index arrays with\n"
    "a mask of numpy.ma are an error (NumPy ignores the mask), and names of fields are not supported.";

static const char gather_py_doc_infer[] =
    "infer_shape(x, indices, /, *, axis=None, batch_dims=0, op='take', rules=None, updates=None)\n--\n\n"
    "The shape of the result if some lengths are unknown.\n\n"
    "Parameters\n----------\n"
    "x, indices : sequence of lengths, or None if the rank is unknown\n"
    "    A length is an int, None (unknown), a str (a name), or an interval (low, high); high None = no limit.\n"
    "axis : int or None\n"
    "    Must be given, except for gather_nd and scatter_nd, which have none. None: unknown; then only the rank and the batch "
    "dimensions are\n"
    "    inferred.\n"
    "batch_dims : int, default 0\n"
    "op : {'take', 'gather_elements', 'gather_nd', 'scatter', 'scatter_elements', 'scatter_nd'}\n"
    "    The result of a scatter has the shape of x.\n"
    "rules : str, optional\n"
    "    As for the function op.\n"
    "updates : sequence of lengths, or None if the rank is unknown\n"
    "    Of scatter, scatter_elements and scatter_nd: compared with x and indices.\n"
    "\nReturns\n-------\ntuple or None\n"
    "    Lengths as above, which every valid result matches; None if the rank is unknown.\n"
    "\nRaises\n------\n"
    "GatherValueError, GatherAxisError\n"
    "    No matching input can be valid.\n"
    "\nNotes\n-----\n"
    "The shape inference of ONNX and OpenVINO.";

static const char gather_py_doc_set_threads[] =
    "set_threads(n, /)\n--\n\n"
    "Sets how many threads calls without threads= may use: an int >= 1, or None for the CPUs this process may use.";
static const char gather_py_doc_get_threads[] = "get_threads()\n--\n\nHow many threads calls without threads= may use.";
static const char gather_py_doc_ops[] =
    "ops()\n--\n\nEvery operator version that rules= can name, with its rules and types: a list of dicts.";
static const char gather_py_doc_types[] = "types()\n--\n\nThe names of all element types: a list of str.";
static const char gather_py_doc_codecs[] =
    "codecs()\n--\n\nEvery codec of quantised rows: its name, its kind ('blocks', 'packed', 'codes', or 'refused' "
    "if\nit is known and not decoded), sizes, how a value is computed (or why it is refused) and its source: a list "
    "of dicts.";
static const char gather_py_doc_info[] =
    "info()\n--\n\nVersion, CPU features, kernels, threads, file formats, engines of tables (None, or why one cannot "
    "be "
    "used here)\n"
    "and how the extension was built: a dict.";

#endif
