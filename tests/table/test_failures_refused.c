/* SPDX-License-Identifier: MIT
 *
 * test_failures_refused.c: io_uring that is really refused, by a filter of system calls as containers have one. The filter cannot be
 * taken away again, so that each case has a process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "support/skip.h"
#include "support/unit.h"
#include "table/known.h"

/* From now on the system call is answered by the errno. */
static bool forbid(unsigned call, unsigned number) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number & SECCOMP_RET_DATA)), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* 0 where rows are right and statistics name the engine that read them, and why it is that one. */
static int take(const char *path, gather_engine engine, const char *why) {
  gather_table *table;
  gather_error error = {0};
  gather_table_statistics done;
  if (known_table_open(path, engine, false, &table, &error) != GATHER_OK) return 10;
  if (known_table_take(table, false, 0, KNOWN_ROWS, &error) != GATHER_OK) return 11;
  gather_table_statistics_get(table, &done);
  gather_table_close(table);
  if (done.engine != GATHER_ENGINE_PREAD) return 12;
  return strstr(done.why, why) ? 0 : 13;
}

static int be_child(const char *path, unsigned call, unsigned number, const char *words) {
  gather_error error = {0};
  if (!forbid(call, number)) return 1;
  if (gather_engine_check(GATHER_ENGINE_URING, &error) != GATHER_UNSUPPORTED) return 2;
  if (!strstr(error.message, words)) return 3;
  int result = take(path, GATHER_ENGINE_URING, "io_uring");
  return result ? result : take(path, GATHER_ENGINE_AUTO, "io_uring");
}

static void test_filters(void **state) {
  static const struct {
    unsigned call, number;
    const char *words;
  } CASES[] = {{__NR_io_uring_setup, EPERM, "io_uring is forbidden"},
               {__NR_io_uring_setup, ENOSYS, "the kernel has no io_uring, or hides it from this process"},
               {__NR_io_uring_setup, ENOMEM, "the limit on locked memory"},
               {__NR_io_uring_register, EPERM, "it has no IORING_OP_READ"},
               {__NR_io_uring_enter, EPERM, "io_uring is forbidden"},
               {__NR_io_uring_enter, ENOSYS, "hides it from this process"}};
  gather_error error = {0};
  if (gather_engine_check(GATHER_ENGINE_URING, &error) != GATHER_OK) GATHER_TEST_SKIP("io_uring", error.message);
  const char *path = known_table_file("a");
  for (size_t n = 0; n < sizeof CASES / sizeof *CASES; n++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(be_child(path, CASES[n].call, CASES[n].number, CASES[n].words));
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 1) GATHER_TEST_SKIP("seccomp", "this system lets nobody filter system calls");
    if (WEXITSTATUS(result) != 0) fail_msg("case %zu: %d", n, WEXITSTATUS(result));
  }
}

/* No locked memory at all, and no descriptor to spare. */
static int be_poor(const char *path) {
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) return 1;
  gather_error error = {0};
  bool uring = gather_engine_check(GATHER_ENGINE_URING, &error) == GATHER_OK;
  return take(path, GATHER_ENGINE_PREAD, "") == 0 && (uring || error.status == GATHER_UNSUPPORTED) ? 0 : 2;
}

static void test_limits(void **state) {
  const char *path = known_table_file("a");
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(be_poor(path));
  int result;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  assert_int_equal(WEXITSTATUS(result), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, known_enter, known_leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_filters), TEST(test_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
