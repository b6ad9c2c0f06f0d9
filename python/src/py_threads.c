/* SPDX-License-Identifier: MIT
 *
 * py_threads.c: one pool for each requested number of threads, made on first use. After a fork the child has none of
 * its parent's threads, so it forgets the pools and makes new ones.
 */
#include <stdatomic.h>
#include <string.h>

#include "py_core.h"
#include "py_system.h"

enum { MOST_THREADS = 1024, LEAST_BYTES = 512 << 10 };

static gather_pool *pools[MOST_THREADS + 1];
static gather_py_lock lock = GATHER_PY_LOCK_INIT;
static atomic_int default_threads; /* 0 = the CPUs */

static void before_fork(void) { gather_py_lock_take(&lock); }
static void after_fork(void) { gather_py_lock_leave(&lock); }
static void after_fork_in_child(void) {
  memset(pools, 0, sizeof pools); /* their memory leaks: the threads do not exist in the child */
  gather_py_lock_leave(&lock);
}

int gather_py_threads_init(void) {
  static int registered;
  if (registered) return 0;
  if (!gather_py_on_fork(before_fork, after_fork, after_fork_in_child)) {
    PyErr_NoMemory();
    return -1;
  }
  registered = 1;
  return 0;
}

/* The current default. */
static int32_t definite(int32_t threads) {
  if (threads == GATHER_PY_DEFAULT_THREADS) threads = atomic_load_explicit(&default_threads, memory_order_relaxed);
  if (threads == GATHER_PY_DEFAULT_THREADS) {
    gather_machine machine = GATHER_MACHINE_INIT;
    gather_machine_describe(&machine);
    threads = machine.cpus;
  }
  return threads < MOST_THREADS ? threads : MOST_THREADS;
}

int gather_py_read_threads(PyObject *object, int32_t *threads) {
  int64_t value;
  if (gather_py_read_int(object, "threads", &value) < 0) return -1;
  if (value < 1) {
    PyErr_Format(PyExc_ValueError, "threads must be at least 1, not %lld", (long long)value);
    return -1;
  }
  *threads = (int32_t)(value < MOST_THREADS ? value : MOST_THREADS);
  return 0;
}

const gather_executor *gather_py_executor(int32_t threads, int64_t bytes) {
  gather_error error;
  if (threads == 1 || bytes < LEAST_BYTES) return NULL;
  threads = definite(threads);
  if (threads == 1) return NULL;
  gather_py_lock_take(&lock);
  if (!pools[threads] && gather_pool_create(threads, &pools[threads], &error) != GATHER_OK) pools[threads] = NULL;
  gather_pool *pool = pools[threads];
  gather_py_lock_leave(&lock);
  return pool ? gather_pool_executor(pool) : NULL;
}

PyObject *gather_py_set_threads(PyObject *self, PyObject *threads) {
  int32_t value = 0;
  (void)self;
  if (threads != Py_None && gather_py_read_threads(threads, &value) < 0) return NULL;
  atomic_store(&default_threads, value);
  Py_RETURN_NONE;
}

PyObject *gather_py_get_threads(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  return PyLong_FromLong(definite(GATHER_PY_DEFAULT_THREADS));
}
