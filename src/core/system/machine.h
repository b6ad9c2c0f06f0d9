/* SPDX-License-Identifier: MIT
 *
 * machine.h: how much of the machine this process may use.
 */
#ifndef GATHER_SYSTEM_MACHINE_H
#define GATHER_SYSTEM_MACHINE_H

#include <stdint.h>

/* The CPUs of its affinity mask, at least 1. */
int32_t gather_cpu_count(void);
/* The bytes of memory of the machine, or the least limit of its control groups if that is less. */
int64_t gather_usable_memory(void);

#endif
