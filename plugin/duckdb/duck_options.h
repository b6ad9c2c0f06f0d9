/* SPDX-License-Identifier: MIT
 *
 * duck_options.h: the options of a table as SQL gives them, one text: 'memory=256MiB, engine=pread'.
 */
#ifndef GATHER_PLUGIN_DUCK_OPTIONS_H
#define GATHER_PLUGIN_DUCK_OPTIONS_H

#include "gather/remote.h"
#include "gather/table.h"

enum { DUCK_OPTION_BYTES = 1024 }; /* of one KEY=VALUE */

/* What the text says. It points into itself: do not copy it. */
typedef struct duck_options {
  gather_table_options table; /* raw and codec point to the fields below */
  bool decode;                /* quantised rows are decoded where the library can */
  bool missing_is_null;       /* an id out of range gives NULL */
  bool from_end;              /* negative ids count from the end */
  bool columns;               /* URLs of a column may be read */
  bool for_urls;              /* there are options that only URLs have */
  gather_remote_options remote;
  char endpoint[DUCK_OPTION_BYTES], region[64], disk_cache[DUCK_OPTION_BYTES];
  gather_raw raw;
  char raw_type[64], codec[64];
  int64_t shape[GATHER_MAX_RANK];
} duck_options;

/* Parses `bytes` bytes of text, no terminator needed; "" gives the defaults. Returns GATHER_USAGE with what is wrong and what is
 * possible. */
gather_status gather_duck_options_parse(const char *text, size_t bytes, duck_options *options, gather_error *error);

#endif
