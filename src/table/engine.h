/* SPDX-License-Identifier: MIT
 *
 * engine.h: chooses the engine.
 */
#ifndef GATHER_TABLE_ENGINE_H
#define GATHER_TABLE_ENGINE_H

#include "table/reader.h"

/* The engine for a table with these options, and why it was chosen. remote: of files on other machines. */
gather_engine gather_engine_choose(const gather_table_options *options, bool remote, char *why, size_t why_bytes);
/* Returns GATHER_USAGE if the engine asked for does not read such files. */
GATHER_CHECKED gather_status gather_engine_fits(gather_engine engine, bool remote, gather_error *error);

#endif
