/* SPDX-License-Identifier: MIT
 *
 * disk_module.c: the functions of disk.h for Python. Memory is named by its address.
 */
#include <errno.h>

#include "disk.h"
#include "module.h"

static void *pointer(unsigned long long address) { return (void *)(uintptr_t)address; }

/* Nanoseconds or bytes; a negative one is an error of the system. */
static PyObject *number(int64_t found) {
  if (found >= 0) return PyLong_FromLongLong(found);
  errno = (int)-found;
  return PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *words_write(PyObject *self, PyObject *args) {
  int fd;
  long long offset, bytes;
  int64_t ns;
  (void)self;
  if (!PyArg_ParseTuple(args, "iLL", &fd, &offset, &bytes)) return NULL;
  Py_BEGIN_ALLOW_THREADS ns = bench_words_write(fd, offset, bytes);
  Py_END_ALLOW_THREADS return number(ns);
}

static PyObject *words_check(PyObject *self, PyObject *args) {
  unsigned long long rows, ids;
  long long count, row_bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "KKLL", &rows, &ids, &count, &row_bytes)) return NULL;
  return PyLong_FromLongLong(bench_words_check(pointer(rows), pointer(ids), count, row_bytes));
}

static PyObject *resident(PyObject *self, PyObject *args) {
  int fd;
  long long bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "iL", &fd, &bytes)) return NULL;
  return number(bench_resident(fd, bytes));
}

static PyObject *uring(PyObject *self, PyObject *args) {
  int fd, depth;
  unsigned long long offsets;
  long long count, block_bytes;
  int64_t ns;
  (void)self;
  if (!PyArg_ParseTuple(args, "iKLLi", &fd, &offsets, &count, &block_bytes, &depth)) return NULL;
  Py_BEGIN_ALLOW_THREADS ns = bench_uring(fd, pointer(offsets), count, block_bytes, depth);
  Py_END_ALLOW_THREADS return number(ns);
}

static PyObject *pread_rows(PyObject *self, PyObject *args) {
  int fd, threads;
  unsigned long long ids, out;
  long long offset, row_bytes, count, align;
  int64_t ns;
  (void)self;
  if (!PyArg_ParseTuple(args, "iLLKLKiL", &fd, &offset, &row_bytes, &ids, &count, &out, &threads, &align)) return NULL;
  bench_rows rows = {fd, offset, row_bytes, pointer(ids), count, pointer(out), threads, align};
  Py_BEGIN_ALLOW_THREADS ns = bench_pread(&rows);
  Py_END_ALLOW_THREADS return number(ns);
}

PyMethodDef bench_disk_functions[] = {
    {"words_write", words_write, METH_VARARGS, "words_write(fd, offset, bytes): the data of the files; nanoseconds"},
    {"words_check", words_check, METH_VARARGS, "words_check(rows, ids, count, row_bytes): the first wrong row, or -1"},
    {"resident", resident, METH_VARARGS, "resident(fd, bytes): how many of them are in the page cache"},
    {"uring", uring, METH_VARARGS, "uring(fd, offsets, count, block_bytes, depth): reads blocks; nanoseconds"},
    {"pread", pread_rows, METH_VARARGS, "pread(fd, offset, row_bytes, ids, count, out, threads, align): reads rows; nanoseconds"},
    {NULL, NULL, 0, NULL}};
