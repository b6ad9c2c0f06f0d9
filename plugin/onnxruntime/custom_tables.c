/* SPDX-License-Identifier: MIT
 *
 * custom_tables.c: tables behind the custom-operator door. A custom operator sees no graph and so no names of files, but it sees the
 * memory of its constant inputs: where that is a file that the host has mapped, the list of the process's mappings tells which one.
 */
#include "custom_ops.h"
#include "ep_external.h"
#include "ep_tables.h"
#include "node_internal.h"

/* The constant data of a node; false if it is computed, of strings, or too small for a table. */
static bool constant_data(const ort_host *host, const ort_ep_options *options, const OrtKernelInfo *info, ort_tensor *data) {
  if (!gather_ort_constant(host, info, 0, data) || !data->tensor.data) return false;
  if (gather_tensor_check(&data->tensor, NULL) != GATHER_OK) return false;
  const int64_t bytes = gather_tensor_bytes(&data->tensor);
  return bytes > 0 && (options->table == ORT_TABLE_ALWAYS || bytes >= options->table_min);
}

/* Whether one file is mapped from the first byte to the last. */
static bool whole_mapping(const gather_tensor *data, ort_mapping *mapping) {
  static const ort_mapping none;
  ort_mapping last = none;
  const int64_t bytes = gather_tensor_bytes(data);
  const char *first = data->data;
  return gather_ort_mapping_at(first, mapping) && gather_ort_mapping_at(first + bytes - 1, &last) && mapping->inode == last.inode &&
         mapping->device_major == last.device_major && mapping->device_minor == last.device_minor &&
         last.offset == mapping->offset + bytes - 1 && gather_ort_mapping_is(mapping, mapping->path, mapping->offset);
}

OrtStatus *gather_ort_custom_table(const ort_host *host, const ort_ep_options *options, const OrtKernelInfo *info, ort_node *node) {
  ort_tensor data;
  ort_mapping mapping;
  ort_table *table = NULL;
  gather_error error;
  if (options->table == ORT_TABLE_NEVER || !constant_data(host, options, info, &data)) return NULL;
  if (!gather_ort_node_can_use_rows(node, data.tensor.rank) || !whole_mapping(&data.tensor, &mapping)) return NULL;
  const ort_table_source source = {.path = mapping.path,
                                   .offset = mapping.offset,
                                   .type = data.tensor.type,
                                   .rank = data.tensor.rank,
                                   .shape = data.tensor.shape,
                                   .options = &options->open};
  const gather_status status = gather_ort_table_acquire(&source, &table, &error);
  if (status == GATHER_UNSUPPORTED) return NULL;
  if (status != GATHER_OK) return gather_ort_status(host, status, &error);
  const ort_rows rows = gather_ort_table_rows(table);
  gather_ort_node_use_rows(node, &rows);
  if (options->node.report) gather_ort_node_report(node, info, mapping.path);
  return NULL;
}
