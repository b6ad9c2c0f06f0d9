/* SPDX-License-Identifier: MIT
 *
 * py_table_docs.h: what help() says of taking rows from tables.
 */
#ifndef GATHER_PY_TABLE_DOCS_H
#define GATHER_PY_TABLE_DOCS_H

#define GATHER_PY_DOC_ROWS                                                                                           \
  "Parameters\n----------\n"                                                                                         \
  "indices : array of integers, int, or nested list\n"                                                               \
  "    Any rank (0 gives one row), any integer dtype, in any order, with duplicates. A tuple with an array in it:\n" \
  "    ids for the first dimensions of the table, one array or int for each, which broadcast; (i, j) selects\n"      \
  "    table[i, j].\n"                                                                                               \
  "axis : int, default 0\n"                                                                                          \
  "    Must be 0: rows are along axis 0.\n"                                                                          \
  "out : array, optional\n"                                                                                          \
  "    Where the rows go: writable, C-contiguous, of the table's dtype and of the shape\n"                           \
  "    indices.shape + table.shape[1:]: a NumPy array, a torch tensor, anything with __dlpack__ or the buffer\n"     \
  "    protocol. Not written if an index out of range is an error.\n"                                                \
  "    Rows of elements smaller than a byte are bytes: uint8, of the shape indices.shape + (row_bytes,).\n"          \
  "mode : {'raise', 'wrap', 'clip', 'zero', 'fill', 'promise'}, optional\n"                                          \
  "fill_value : scalar, optional\n"                                                                                  \
  "negative : bool, optional\n"                                                                                      \
  "    Policy for an index out of range, and whether a negative index counts from the end: as in libgather.take.\n"

static const char gather_py_doc_table_take[] =
    "take(indices, /, *, axis=0, out=None, mode=None, fill_value=None, negative=None, threads=None)\n--\n\n"
    "Rows of the table: result[i, j, ...] = table[indices[i, j], ...].\n\n" GATHER_PY_DOC_ROWS
    "threads : int, optional\n"
    "    How many threads may copy resident rows. Default: get_threads().\n"
    "\nReturns\n-------\narray\n"
    "    out, or a new NumPy array; a scalar if it has no dimension.\n"
    "\nRaises\n------\n"
    "GatherIndexError (an IndexError)\n"
    "    The first index out of range: position, value, low, high, bad_count. Nothing was read or written.\n"
    "GatherFileError (an OSError)\n"
    "    Rows cannot be read: file, offset. Rows of out may have been written.\n"
    "KeyboardInterrupt, or what another signal handler raises\n"
    "    At once. Rows of out may have been written. The table remains usable.\n"
    "GatherValueError, GatherTypeError\n"
    "    Invalid out or indices; the table is closed.";

static const char gather_py_doc_table_nd[] =
    "gather_nd(indices, /, *, out=None, mode=None, fill_value=None, negative=None, threads=None)\n--\n\n"
    "Rows by tuples: result[i, ...] = table[indices[i, 0], indices[i, 1], ...]. Only the selected elements "
    "are read.\n\n"
    "Parameters\n----------\n"
    "indices : array of integers, or nested list\n"
    "    Its last dimension has the numbers of a tuple, 1 to table.ndim: number j selects on dimension j of the "
    "table.\n"
    "out, mode, fill_value, negative, threads\n"
    "    As for take(). out has the shape indices.shape[:-1] + table.shape[indices.shape[-1]:].\n"
    "\nReturns\n-------\narray\n"
    "    out, or a new NumPy array; a scalar if it has no dimension.\n"
    "\nRaises\n------\n"
    "GatherIndexError (an IndexError)\n"
    "    The first number out of range. The last number of position is the component of the tuple, and axis is its\n"
    "    dimension of the table. Nothing was read or written.\n"
    "GatherNotSupportedError\n"
    "    Elements smaller than a byte, if a tuple's selection does not end on a whole byte.\n"
    "    Other errors as for take().\n"
    "\nNotes\n-----\n"
    "The table's own cache keeps whole rows only, not the selections of tuples of two or more numbers.";

static const char gather_py_doc_table_submit[] =
    "submit(indices, /, *, axis=0, out=None, mode=None, fill_value=None, negative=None)\n--\n\n"
    "Starts a take and returns: the rows are read while Python does something else. Several may be in "
    "flight.\n\n" GATHER_PY_DOC_ROWS
    "\nReturns\n-------\nTableJob\n"
    "    Its wait() returns the rows. Until then nothing else may use out. The indices may change at once.\n"
    "\nRaises\n------\n"
    "GatherIndexError, GatherValueError, GatherTypeError\n"
    "    As for take(). wait() raises errors of the file.";

#endif
