/* SPDX-License-Identifier: MIT
 *
 * signal.h: masks of signals. Windows sends none to threads, so that masks mean nothing.
 */
#ifndef GATHER_POSIX_SIGNAL_H
#define GATHER_POSIX_SIGNAL_H
#pragma GCC system_header /* #include_next is not C11 */

#include <posix_names.h>
#define WIN_PTHREADS_SIGNAL_H
#include_next <signal.h>
#include <sys/types.h>

typedef unsigned long long sigset_t;
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#define SIGHUP 1
#define SIGBUS 10
#define SIGPIPE 13

static inline int sigfillset(sigset_t *set) { return *set = ~0ull, 0; }
static inline int sigemptyset(sigset_t *set) { return *set = 0, 0; }
static inline int sigaddset(sigset_t *set, int number) { return *set |= 1ull << number, 0; }
static inline int sigdelset(sigset_t *set, int number) { return *set &= ~(1ull << number), 0; }
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) GATHER_POSIX(pthread_sigmask);

#endif
