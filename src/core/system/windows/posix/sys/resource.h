/* SPDX-License-Identifier: MIT
 *
 * sys/resource.h: page faults of the process. It has no limits of the kind that POSIX has.
 */
#ifndef GATHER_POSIX_SYS_RESOURCE_H
#define GATHER_POSIX_SYS_RESOURCE_H

#include <posix_names.h>

struct rusage {
  long long ru_majflt;
};
struct rlimit {
  unsigned long long rlim_cur, rlim_max;
};

#define RUSAGE_SELF 0
#define RLIMIT_FSIZE 1
#define RLIM_INFINITY (~0ull)

int getrusage(int who, struct rusage *use) GATHER_POSIX(getrusage);
int getrlimit(int which, struct rlimit *limit) GATHER_POSIX(getrlimit);

#endif
