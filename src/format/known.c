/* SPDX-License-Identifier: MIT
 *
 * known.c: recognises formats that are not supported, so that the message says what to do.
 */
#include <string.h>

#include "base/error.h"
#include "format/format.h"
#include "format/format_open.h"

typedef struct magic_row {
  const char *bytes;
  int64_t offset, length;
  const char *sentence;
} magic_row;

#define MAGIC(offset, bytes, sentence) \
  { bytes, offset, (int64_t)sizeof bytes - 1, sentence }

static const magic_row MAGICS[] = {
    MAGIC(0, "\x80\x02", "a Python pickle is refused, because reading it can run any code; save the array as .npy"),
    MAGIC(0, "\x80\x03", "a Python pickle is refused, because reading it can run any code; save the array as .npy"),
    MAGIC(0, "\x80\x04", "a Python pickle is refused, because reading it can run any code; save the array as .npy"),
    MAGIC(0, "\x80\x05", "a Python pickle is refused, because reading it can run any code; save the array as .npy"),
    MAGIC(0, "\x89HDF\r\n\x1a\n", "HDF5 is not supported; save the array as .npy"),
    MAGIC(0, "CDF\x01", "NetCDF is not supported; save the array as .npy"),
    MAGIC(0, "CDF\x02", "NetCDF is not supported; save the array as .npy"),
    MAGIC(0, "FEA1",
          "Feather version 1 is not supported; write the file as version 2, with compression='uncompressed'"),
    MAGIC(0, "MATLAB 5.0", "MATLAB files are not supported; save the array as .npy"),
#ifdef GATHER_HAVE_EXPAT
    MAGIC(0, "<?xml", "an XML file that is not an OpenVINO model: it does not begin with <net ...>"),
#else
    MAGIC(0, "<?xml", "OpenVINO models (.xml) are not supported in this build: it has no expat"),
    MAGIC(0, "<net", "OpenVINO models (.xml) are not supported in this build: it has no expat"),
#endif
    MAGIC(0, "\x1f\x8b", "a file compressed by gzip is not supported; decompress it first"),
    MAGIC(0, "\x28\xb5\x2f\xfd", "a file compressed by zstd is not supported; decompress it first"),
    MAGIC(0, "BZh", "a file compressed by bzip2 is not supported; decompress it first"),
    MAGIC(0,
          "\xfd"
          "7zXZ",
          "a file compressed by xz is not supported; decompress it first"),
};

static bool matches(const magic_row *row, const gather_map *map) {
  return map->size >= row->offset + row->length &&
         memcmp(map->bytes + row->offset, row->bytes, (size_t)row->length) == 0;
}

static bool is_parquet(const gather_map *map) { return map->size >= 4 && memcmp(map->bytes, "PAR1", 4) == 0; }

/* Whether the name needs no quotes in a shell or in Python. */
static bool is_plain_name(const char *name) {
  static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+";
  size_t length = strlen(name);
  return length > 0 && length < 80 && strspn(name, PLAIN) == length && name[0] != '-';
}

/* Parquet encodes its values, so rows cannot be read in place. The message has a command that converts the file. */
static gather_status fail_parquet(const gather_file *file, gather_error *error) {
  const char *name = is_plain_name(file->name) ? file->name : "FILE.parquet";
  size_t length = strlen(name), ending = sizeof ".parquet" - 1;
  if (length > ending && strcmp(name + length - ending, ".parquet") == 0) length -= ending;
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                          "Parquet is not supported; convert it: python3 -c \"import pyarrow.feather as f, "
                          "pyarrow.parquet as p; f.write_feather(p.read_table('%s'), '%.*s.arrow', "
                          "compression='uncompressed')\"",
                          name, (int)length, name);
}

#ifndef GATHER_HAVE_NANOPB
/* An ONNX model begins with ir_version (field 1); its next field is a string or a message (fields 2 to 8). */
static bool is_onnx_model(const gather_map *map) {
  if (map->size < 4 || map->bytes[0] != 0x08 || map->bytes[1] == 0 || map->bytes[1] > 0x20) return false;
  uint8_t field = map->bytes[2];
  return field == 0x12 || field == 0x1a || field == 0x22 || field == 0x32 || field == 0x3a || field == 0x42;
}

/* A TensorProto begins with its dims (field 1, repeated) and its type (field 2, a small number). */
static bool is_tensor_proto(const gather_map *map) {
  int64_t at = 0;
  while (at + 2 < map->size && map->bytes[at] == 0x08) {
    at++;
    while (at + 2 < map->size && (map->bytes[at] & 0x80) != 0) at++;
    at++;
  }
  if (at == 0 || at + 2 >= map->size || map->bytes[at] != 0x10 || map->bytes[at + 1] > 0x20) return false;
  uint8_t wire = map->bytes[at + 2] & 7, field = map->bytes[at + 2] >> 3;
  return field >= 3 && field <= 16 && (wire == 2 || wire == 0);
}
#endif

/* Short protobuf is easily mistaken for other data, so the file must also parse. */
static bool is_readable(const gather_format *format, const gather_map *map) {
  gather_file *file = NULL;
  if (gather_file_make("", &file, NULL) != GATHER_OK) return false;
  file->map = *map;
  file->map.owned = false; /* it stays the caller's */
  file->format = format->name;
  gather_status status = format->open(file, NULL);
  gather_file_close(file);
  return status == GATHER_OK;
}

static bool looks_like(const gather_format *format, const gather_map *map) {
  enum { LEAST_BYTES = 4 }; /* a recogniser may take a shorter file for a truncated one */
  if (!format->recognise || map->size < LEAST_BYTES || !format->recognise(map)) return false;
  bool is_protobuf = strcmp(format->name, "pb") == 0 || strcmp(format->name, "onnx") == 0;
  return !is_protobuf || is_readable(format, map);
}

const char *gather_format_looks(const gather_file *file, const char **unknown) {
  enum { LEAST_MAGIC = 4 }; /* bytes; fewer match by chance */
  *unknown = NULL;
  if (gather_map_need(&file->map, 0, GATHER_FORMAT_HEAD, NULL) != GATHER_OK) return NULL; /* gather_file_settle fails */
  for (size_t i = 0; gather_format_at(i); i++)
    if (looks_like(gather_format_at(i), &file->map)) return gather_format_at(i)->name;
  for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS && !*unknown; i++)
    if (MAGICS[i].length >= LEAST_MAGIC && matches(&MAGICS[i], &file->map)) *unknown = MAGICS[i].sentence;
  if (is_parquet(&file->map)) *unknown = "a Parquet file is not supported";
  return NULL;
}

gather_status gather_format_unknown(const gather_file *file, gather_error *error) {
  if (file->map.size == 0) return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, 0, "the file is empty");
  if (is_parquet(&file->map)) return fail_parquet(file, error);
  for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS; i++)
    if (matches(&MAGICS[i], &file->map))
      return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", MAGICS[i].sentence);
#ifndef GATHER_HAVE_JANSSON
  if (gather_safetensors_recognise(&file->map))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                            "safetensors is not supported in this build: it has no Jansson");
#endif
#ifndef GATHER_HAVE_NANOPB
  if (is_onnx_model(&file->map) || is_tensor_proto(&file->map))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                            "ONNX %s are not supported in this build: it has no nanopb",
                            is_onnx_model(&file->map) ? "models" : "tensors (.pb)");
#endif
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                          "unknown format; raw bytes need a type and a shape");
}
