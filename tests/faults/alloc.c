/* SPDX-License-Identifier: MIT
 *
 * alloc.c: loaded before a program (LD_PRELOAD), lets one of its allocations fail, or one and all that follow. They are counted from
 * the beginning of main on, in the libraries of the program too.
 *
 *   GATHER_FAULTS_ALLOC=N      the N-th fails, from 1; 0 only counts
 *   GATHER_FAULTS_ALLOC=N+     it and all that follow
 *   GATHER_FAULTS_REPORT=FILE  gets the number of allocations, as 8 bytes, whatever becomes of the program
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int started;
static unsigned long failing;
static int and_later;
static _Atomic uint64_t uncounted, *count = &uncounted;

static int fails(void) {
  if (!atomic_load(&started)) return 0;
  uint64_t n = atomic_fetch_add(count, 1) + 1;
  if (failing == 0 || n < failing || (n > failing && !and_later)) return 0;
  errno = ENOMEM;
  return 1;
}

/* Before main there is an area that is never given back: the functions behind this library cannot be looked up before a sanitizer, which
 * looks up its own, has begun. */
static _Alignas(16) char area[1 << 18];
static size_t area_used;

static int in_area(const void *memory) { return (const char *)memory >= area && (const char *)memory < area + sizeof area; }

static void *from_area(size_t bytes) {
  size_t at = (area_used + 15) & ~(size_t)15;
  if (bytes > sizeof area - at) return NULL;
  area_used = at + bytes;
  return area + at;
}

static struct {
  void *(*malloc)(size_t);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  void (*free)(void *);
} real;

static void find(void *to, const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  memcpy(to, &function, sizeof function);
}

static void find_all(void) {
  find(&real.calloc, "calloc");
  find(&real.realloc, "realloc");
  find(&real.posix_memalign, "posix_memalign");
  find(&real.aligned_alloc, "aligned_alloc");
  find(&real.free, "free");
  find(&real.malloc, "malloc");
}

void *malloc(size_t bytes) {
  if (!real.malloc) return from_area(bytes);
  return fails() ? NULL : real.malloc(bytes);
}

void *calloc(size_t len, size_t bytes) {
  if (!real.malloc) return from_area(len * bytes);
  return fails() ? NULL : real.calloc(len, bytes);
}

void *realloc(void *old, size_t bytes) {
  if (real.malloc && !in_area(old)) return fails() ? NULL : real.realloc(old, bytes);
  void *memory = malloc(bytes);
  size_t most = old ? (size_t)(area + sizeof area - (char *)old) : 0;
  if (memory && old) memcpy(memory, old, bytes < most ? bytes : most);
  return memory;
}

int posix_memalign(void **to, size_t alignment, size_t bytes) {
  return !real.malloc || fails() ? ENOMEM : real.posix_memalign(to, alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return !real.malloc || fails() ? NULL : real.aligned_alloc(alignment, bytes); }

void free(void *memory) {
  if (memory && real.malloc && !in_area(memory)) real.free(memory);
}

/* ---- the beginning of main */

typedef int main_function(int argc, char **argv, char **environment);
static main_function *real_main;

static void open_report(const char *path) {
  int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  if (fd < 0 || ftruncate(fd, sizeof *count) != 0) _exit(120);
  void *shared = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  (void)close(fd);
  if (shared == MAP_FAILED) _exit(120);
  count = shared;
}

static int counted_main(int argc, char **argv, char **environment) {
  const char *which = getenv("GATHER_FAULTS_ALLOC");
  char *end = NULL;
  if (which) {
    open_report(getenv("GATHER_FAULTS_REPORT"));
    failing = strtoul(which, &end, 10);
    and_later = *end == '+';
    atomic_store(&started, 1);
  }
  return real_main(argc, argv, environment);
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end);
int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end) {
  start_function *start;
  find_all();
  find(&start, "__libc_start_main");
  real_main = program;
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
