/* SPDX-License-Identifier: MIT
 *
 * npz.c: the arrays of .npz, a zip file of .npy files. Uncompressed ones (np.savez) are views of the file. Nothing is
 * decompressed: compressed ones (np.savez_compressed) are listed but cannot be read.
 * Source: numpy.lib.npyio.NpzFile: what counts as an array and what it is called.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/npy/npy.h"
#include "io/format/npy/zip.h"
#include "io/format/sort.h"

bool gather_npz_recognise(const gather_map *map) {
  const uint8_t *bytes = map->bytes;
  return map->size >= 4 && (memcmp(bytes, "PK\x03\x04", 4) == 0 || memcmp(bytes, "PK\x05\x06", 4) == 0);
}

/* The state of reading one file: its members by name; of two with the same name the later one comes first and
 * counts. */
typedef struct npz_reading {
  gather_file *file;
  gather_zip zip;
  const void **by_name /* gather_zip_member */;
} npz_reading;

static gather_status no_memory(const npz_reading *npz, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, npz->file->name, -1, "no memory for its list of arrays");
}

/* ---- names */

static bool comes_before(const void *a, const void *b) {
  const gather_zip_member *first = a, *second = b;
  int order = strcmp(first->name, second->name);
  return order != 0 ? order < 0 : first->number > second->number;
}

static gather_status sort_names(npz_reading *npz, gather_error *error) {
  int64_t len = npz->zip.len;
  npz->by_name = gather_arena_take(&npz->file->arena, len, sizeof *npz->by_name);
  if (!npz->by_name) return no_memory(npz, error);
  for (int64_t i = 0; i < len; i++) npz->by_name[i] = &npz->zip.members[i];
  gather_sort_pointers(npz->by_name, len, comes_before);
  return GATHER_OK;
}

static const gather_zip_member *at_name(const npz_reading *npz, int64_t i) { return npz->by_name[i]; }

/* The last member of that name; NULL. */
static const gather_zip_member *find_member(const npz_reading *npz, const char *name) {
  int64_t low = 0, high = npz->zip.len;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (strcmp(at_name(npz, middle)->name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < npz->zip.len && strcmp(at_name(npz, low)->name, name) == 0 ? at_name(npz, low) : NULL;
}

static bool ends_in(const char *name, const char *end) {
  size_t length = strlen(name), wanted = strlen(end);
  return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

/* The array's name is the member's without .npy, unless that is empty or another member's name. */
static gather_status name_of(const npz_reading *npz, const gather_zip_member *member, const char **name,
                             gather_error *error) {
  *name = member->name;
  if (!ends_in(member->name, ".npy") || strlen(member->name) == 4) return GATHER_OK;
  char *plain = gather_arena_text(&npz->file->arena, member->name, strlen(member->name) - 4);
  if (!plain) return no_memory(npz, error);
  if (!find_member(npz, plain)) *name = plain;
  return GATHER_OK;
}

/* ---- arrays */

/* Why a member cannot be read, from its directory entry; NULL. */
static const char *refuse(const gather_zip_member *member) {
  if (member->encrypted) return "is encrypted, which is not supported";
  if (member->method == GATHER_ZIP_STORED) return NULL;
  if (!ends_in(member->name, ".npy")) return "is compressed and not named .npy";
  return "is compressed; save it with np.savez, not np.savez_compressed";
}

static gather_status read_stored(npz_reading *npz, const gather_zip_member *member, const char *name,
                                 gather_file_tensor *tensor, gather_error *error) {
  const gather_file *file = npz->file;
  const char *why = refuse(member);
  int64_t at = member->data, end = member->data + member->packed_bytes;
  if (why)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, member->header, "array '%.100s' %s", name, why);
  GATHER_TRY(gather_map_need(&file->map, at, GATHER_FORMAT_HEAD, error));
  if (!gather_npy_begins(file->map.bytes + at, member->packed_bytes))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, at,
                            "array '%.100s' does not begin with the magic bytes of .npy", name);
  gather_status status = gather_npy_read(npz->file, at, end, tensor, error);
  if (status == GATHER_OK || status == GATHER_OUT_OF_MEMORY) return status;
  size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, ", in array '%.100s'", name);
  return status;
}

/* An error in one member concerns only that member; the others can be read. */
static gather_status read_member(npz_reading *npz, const gather_zip_member *member, gather_file_tensor *tensor,
                                 gather_error *error) {
  gather_error why;
  const char *name;
  GATHER_TRY(name_of(npz, member, &name, error));
  gather_status status = read_stored(npz, member, name, tensor, &why);
  if (status == GATHER_OUT_OF_MEMORY) {
    if (error) *error = why;
    return status;
  }
  if (status == GATHER_OK) {
    tensor->name = name;
    return GATHER_OK;
  }
  *tensor = (gather_file_tensor){.name = name, .type_name = "unknown", .offset = member->data};
  tensor->tensor = (gather_tensor){.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW};
  return gather_file_unreadable(npz->file, &why, tensor, error);
}

/* Whether it is the last of its name, and not a folder. */
static bool counts(const npz_reading *npz, const gather_zip_member *member) {
  return !ends_in(member->name, "/") && find_member(npz, member->name) == member;
}

/* Zip files of other programs, by the end of a member's name; of two that fit, the first row counts. */
static const struct {
  const char *member, *sentence;
} OTHERS[] = {
    {"archive_format",
     "a model of torch.export (.pt2) is not supported; save its tensors: "
     "safetensors.torch.save_file(torch.export.load('FILE').state_dict, 'out.safetensors')"},
    {"serialized_exported_program.json",
     "a model of torch.export (.pt2) is not supported; save its tensors: "
     "safetensors.torch.save_file(torch.export.load('FILE').state_dict, 'out.safetensors')"},
    {"data.pkl",
     "a PyTorch file is refused, because it holds a Python pickle, and reading that can run any code; save the "
     "tensors: "
     "safetensors.torch.save_file(torch.load('FILE', weights_only=True), 'out.safetensors')"},
    {"model.weights.h5",
     "a Keras model is not supported; save its weights: safetensors.numpy.save_file({w.path: w.numpy() for w in "
     "keras.models.load_model('FILE').weights}, 'out.safetensors')"},
    {"zarr.json", "Zarr is not supported; save the array: numpy.save('out.npy', zarr.open('FILE')['NAME'])"},
    {".zgroup", "Zarr is not supported; save the array: numpy.save('out.npy', zarr.open('FILE')['NAME'])"},
    {".zarray", "Zarr is not supported; save the array: numpy.save('out.npy', zarr.open('FILE'))"},
};

static bool is_member(const char *name, const char *member) {
  const char *slash = strrchr(name, '/');
  return strcmp(slash ? slash + 1 : name, member) == 0;
}

static const char *find_other(const npz_reading *npz) {
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    for (int64_t k = 0; k < npz->zip.len; k++)
      if (is_member(npz->zip.members[k].name, OTHERS[i].member)) return OTHERS[i].sentence;
  return "a zip file without .npy files is not supported";
}

static bool has_arrays(const npz_reading *npz) {
  bool has_array = npz->file->len == 0;
  for (int64_t i = 0; i < npz->zip.len; i++) has_array = has_array || ends_in(npz->zip.members[i].name, ".npy");
  for (int64_t i = 0; i < npz->file->len && !has_array; i++)
    has_array = gather_file_rows_check(&npz->file->tensors[i], NULL) == GATHER_OK;
  return has_array;
}

static gather_status read_members(npz_reading *npz, gather_error *error) {
  gather_file *file = npz->file;
  GATHER_TRY(gather_zip_read(file, &npz->zip, error));
  GATHER_TRY(sort_names(npz, error));
  file->tensors = gather_arena_take(&file->arena, npz->zip.len, sizeof *file->tensors);
  if (!file->tensors) return no_memory(npz, error);
  for (int64_t i = 0; i < npz->zip.len; i++)
    if (counts(npz, &npz->zip.members[i]))
      GATHER_TRY(read_member(npz, &npz->zip.members[i], &file->tensors[file->len++], error));
  return GATHER_OK;
}

/* A zip file without arrays is refused. */
gather_status gather_npz_open(gather_file *file, gather_error *error) {
  npz_reading npz = {.file = file};
  GATHER_TRY(read_members(&npz, error));
  if (has_arrays(&npz)) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", find_other(&npz));
}

const char *gather_npz_other(gather_file *file) {
  npz_reading npz = {.file = file};
  return read_members(&npz, NULL) == GATHER_OK && !has_arrays(&npz) ? find_other(&npz) : NULL;
}
