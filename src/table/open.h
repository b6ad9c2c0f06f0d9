/* SPDX-License-Identifier: MIT
 *
 * open.h: between the opening of tables (open.c) and what knows where their parts are: open_file.c, open_raw.c.
 */
#ifndef GATHER_TABLE_OPEN_H
#define GATHER_TABLE_OPEN_H

#include "table/table_decode.h"

/* What knows the paths of a table. */
typedef struct gather_table_opener {
  const gather_table_keeper *keeper;
  /* Opens path number `number`, keeps what it needs in table->kept, which has room for one object a path, and adds the rows. */
  gather_status (*add)(gather_table *table, const char *const *paths, int32_t number, gather_error *error);
  /* The client that reads files on other machines, if the first path is one; else it stays NULL. NULL: it never is. */
  gather_status (*connect)(const gather_table_options *options, const char *path, struct gather_remote_client **client,
                           gather_error *error);
  void (*disconnect)(struct gather_remote_client *client);
  const gather_table_network *network;
} gather_table_opener;

/* ---- open.c */

/* Says who opens such paths; options: all fields set. */
typedef gather_status gather_table_choose(const gather_table_options *options, const char *path, gather_table_opener *opener,
                                          gather_error *error);

/* gather_table_open_parts with the opener that `choose` says for the first path. */
GATHER_CHECKED gather_status gather_table_open_by(gather_table_choose *choose, const char *const *paths, int32_t count,
                                                  const gather_table_options *options, gather_table **table, gather_error *error);
/* Appends a part with decoded rows. Returns GATHER_SHAPE_MISMATCH (other rows than the first part). */
GATHER_CHECKED gather_status gather_table_add_decoded(gather_table *table, const gather_layout *layout, gather_error *error);
/* Appends a part whose rows are assembled from elements: in Fortran order, or beside such a part. layout: no codec, rows of whole
 * elements. */
GATHER_CHECKED gather_status gather_table_add_elements(gather_table *table, const gather_layout *layout, gather_error *error);

/* ---- open_raw.c */

extern const gather_table_opener gather_table_raw;

/* Adds the bytes of a file as raw number `number` says. */
GATHER_CHECKED gather_status gather_table_add_raw(gather_table *table, const char *path, int32_t number, gather_error *error);

/* What raw says of path number `number`. */
GATHER_INLINE const gather_raw *gather_table_raw_of(const gather_table *table, int32_t number) {
  return &table->options.raw[table->options.raw_count > 0 ? number : 0];
}

#endif
