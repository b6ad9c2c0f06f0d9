/* SPDX-License-Identifier: MIT
 *
 * stay.h: keeps the plug-in in memory.
 */
#ifndef GATHER_PLUGIN_ORT_STAY_H
#define GATHER_PLUGIN_ORT_STAY_H

/* Keeps this library loaded until the process ends, although the host closes it. Needed once something outside refers to its code that
 * cannot be taken back: the handler for SIGBUS that tables install (gather/table.h). Threads: any. */
void gather_ort_stay(void);

#endif
