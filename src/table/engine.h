/* SPDX-License-Identifier: MIT
 *
 * engine.h: chooses the engine.
 */
#ifndef GATHER_TABLE_ENGINE_H
#define GATHER_TABLE_ENGINE_H

#include "table/reader.h"

/* The engine for a table with these options, and why it was chosen. */
gather_engine gather_engine_choose(const gather_table_options *options, char *why, size_t why_bytes);

#endif
