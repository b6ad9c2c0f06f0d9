/* SPDX-License-Identifier: MIT
 *
 * ep_rows.c: a table as the source of a node's rows.
 */
#include "ep_tables.h"

static gather_status take(void *context, const gather_op *op, const gather_tensor *indices, const gather_tensor *out,
                          const gather_options *options, gather_error *error) {
  gather_table_take_options taking = GATHER_TABLE_TAKE_INIT;
  taking.op = op;
  if (options) {
    taking.on_bad = options->on_bad;
    taking.negative = options->negative;
    taking.fill = options->fill;
    taking.executor = options->executor;
    taking.bad_count = options->bad_count;
  }
  return gather_table_take(gather_ort_table_get(context), indices, out, &taking, error);
}

static void release(void *context) { gather_ort_table_release(context); }

ort_rows gather_ort_table_rows(ort_table *table) { return (ort_rows){table, take, release}; }
