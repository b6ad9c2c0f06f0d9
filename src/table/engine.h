/* SPDX-License-Identifier: MIT
 *
 * engine.h: choosing who reads.
 */
#ifndef GATHER_TABLE_ENGINE_H
#define GATHER_TABLE_ENGINE_H

#include "table/reader.h"

/* The engine that reads for a table with these options, and why it is that one. */
gather_engine gather_engine_choose(const gather_table_options *options, char *why, size_t why_bytes);

#endif
