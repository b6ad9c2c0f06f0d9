/* SPDX-License-Identifier: MIT
 *
 * trace.c: runs a program and lets one of its system calls fail, or stops the program there. A filter (seccomp) gives the calls of
 * calls.def to this program (ptrace), so that those within the C library and liburing are seen too.
 *
 *   trace REPORT count - 0 - PROGRAM ARGUMENT...          writes the names of the calls to REPORT, one a line
 *   trace REPORT fail NAME K ERRNO PROGRAM ARGUMENT...    the K-th call of NAME, from 1, is not done and fails with ERRNO
 *   trace REPORT short NAME K - PROGRAM ARGUMENT...       the K-th read or write of NAME is given half of its bytes
 *   trace REPORT signal - N NUMBER PROGRAM ARGUMENT...    the program gets a signal at its N-th call of any name
 *
 * Counted is from the first fcntl(0, F_GETFD) on, with which main of the command begins. Calls on descriptors 0 to 2 have names of
 * their own: "stdout.write". The last line of REPORT is "exit CODE" or "killed NUMBER"; before it stands "fired NAME" where it came
 * to what was asked for.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* <sys/ptrace.h> and <linux/ptrace.h> cannot be included together. */
long ptrace(int request, ...);
enum { TRACED_BY_PARENT = 0, CONTINUE = 7, SET_OPTIONS = 0x4200 };

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "trace.c knows the registers of x86_64 and aarch64"
#endif

typedef struct call {
  const char *name;
  int number;
} call;

#define CALL(name) {#name, SYS_##name},
static const call CALLS[] = {
#include "calls.def"
};
#undef CALL

enum { COUNT = (int)(sizeof CALLS / sizeof *CALLS), OUT_OF_ORDER = 120 };

static struct {
  const char *action, *name;
  long nth;
  int number; /* errno or signal */
  long seen;  /* calls of that name, or of any */
  int started, fired;
  FILE *report;
} plan;

static int fail(const char *what) {
  perror(what);
  return OUT_OF_ORDER;
}

/* ---- in the child */

static int install_filter(void) {
  struct sock_filter code[2 * COUNT + 5];
  unsigned short n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < COUNT; i++) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)CALLS[i].number, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {.len = n, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static _Noreturn void be_the_program(char **words) {
  if (ptrace(TRACED_BY_PARENT, 0, NULL, NULL) != 0) _exit(fail("ptrace"));
  (void)raise(SIGSTOP);
  if (install_filter() != 0) _exit(fail("seccomp"));
  (void)execv(words[0], words);
  _exit(fail(words[0]));
}

/* ---- in the parent */

#if defined(__x86_64__)
static int change(pid_t thread, int skip, long value) {
  struct user_regs_struct regs;
  struct iovec area = {&regs, sizeof regs};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &area) != 0) return -1;
  if (skip) {
    regs.orig_rax = (unsigned long long)-1;
    regs.rax = (unsigned long long)value;
  } else {
    regs.rdx = (unsigned long long)value;
  }
  return (int)ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &area);
}
#else
static int change(pid_t thread, int skip, long value) {
  struct user_regs_struct regs;
  struct iovec area = {&regs, sizeof regs};
  int none = -1;
  struct iovec call_area = {&none, sizeof none};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &area) != 0) return -1;
  regs.regs[skip ? 0 : 2] = (unsigned long long)value;
  if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &area) != 0) return -1;
  return skip ? (int)ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &call_area) : 0;
}
#endif

static const char *base_name(int number) {
  for (int i = 0; i < COUNT; i++)
    if (CALLS[i].number == number) return CALLS[i].name;
  return "?";
}

static int takes_descriptor(const char *name) {
  static const char *const NAMES[] = {"read", "write", "readv", "writev", "fstat", "ioctl", "lseek", "fcntl", "poll", "close"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (strcmp(name, NAMES[i]) == 0) return 1;
  return 0;
}

static void name_call(char *name, size_t bytes, const struct ptrace_syscall_info *info) {
  static const char *const STREAMS[] = {"stdin.", "stdout.", "stderr."};
  const char *base = base_name((int)info->seccomp.nr);
  uint64_t fd = info->seccomp.args[0] & UINT32_MAX;
  (void)snprintf(name, bytes, "%s%s", fd < 3 && takes_descriptor(base) ? STREAMS[fd] : "", base);
}

static void fire(pid_t program, pid_t thread, const struct ptrace_syscall_info *info) {
  plan.fired = 1;
  if (strcmp(plan.action, "signal") == 0)
    (void)kill(program, plan.number);
  else if (strcmp(plan.action, "fail") == 0)
    (void)change(thread, 1, -plan.number);
  else
    (void)change(thread, 0, (long)((info->seccomp.args[2] + 1) / 2));
}

static void on_call(pid_t program, pid_t thread) {
  char name[64];
  struct ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_SECCOMP) return;
  if (info.seccomp.nr == SYS_fcntl && info.seccomp.args[0] == 0 && info.seccomp.args[1] == F_GETFD) plan.started = 1;
  if (!plan.started) return;
  name_call(name, sizeof name, &info);
  if (strcmp(plan.action, "count") == 0) fprintf(plan.report, "%s\n", name);
  if (plan.name[0] != '-' && strcmp(plan.name, name) != 0) return;
  if (++plan.seen != plan.nth) return;
  fire(program, thread, &info);
  fprintf(plan.report, "fired %s\n", name);
  (void)fflush(plan.report); /* it may be ended before the program is */
}

/* What a thread that stopped is told. */
static int answer(pid_t program, pid_t thread, int status) {
  int number = WSTOPSIG(status), event = status >> 16;
  if (event == PTRACE_EVENT_SECCOMP) on_call(program, thread);
  return event != 0 || number == SIGSTOP ? 0 : number; /* SIGSTOP: a new thread */
}

static int follow(pid_t program) {
  int status, result = 0;
  const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return fail("waitpid");
  if (ptrace(SET_OPTIONS, program, 0, options) != 0 || ptrace(CONTINUE, program, 0, 0) != 0) return fail("ptrace");
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (WIFSTOPPED(status)) {
      (void)ptrace(CONTINUE, thread, 0, (long)answer(program, thread, status));
    } else if (thread == program) {
      result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (WIFEXITED(status))
        fprintf(plan.report, "exit %d\n", WEXITSTATUS(status));
      else
        fprintf(plan.report, "killed %d\n", WTERMSIG(status));
    }
  }
  return fclose(plan.report) == 0 ? result : fail("report");
}

int main(int argc, char **argv) {
  if (argc < 7) {
    fputs("usage: trace REPORT ACTION NAME N NUMBER PROGRAM ARGUMENT...\n", stderr);
    return OUT_OF_ORDER;
  }
  plan.action = argv[2], plan.name = argv[3], plan.nth = atol(argv[4]), plan.number = atoi(argv[5]);
  plan.report = fopen(argv[1], "we");
  if (!plan.report) return fail(argv[1]);
  pid_t program = fork();
  if (program == 0) be_the_program(argv + 6);
  return program > 0 ? follow(program) : fail("fork");
}
