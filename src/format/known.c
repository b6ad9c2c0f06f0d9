/* SPDX-License-Identifier: MIT
 *
 * known.c: what bytes look like that no format here reads, so that the answer says what to do.
 */
#include <string.h>

#include "base/error.h"
#include "format/bytes.h"
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
    MAGIC(0, "\x89HDF\r\n\x1a\n", "an HDF5 file is not read"),
    MAGIC(0, "CDF\x01", "a NetCDF file is not read"),
    MAGIC(0, "CDF\x02", "a NetCDF file is not read"),
    MAGIC(0, "FEA1",
          "a Feather file of version 1 is not read; write it again as version 2, with compression='uncompressed'"),
    MAGIC(0, "MATLAB 5.0", "a MATLAB file is not read"),
#ifdef GATHER_HAVE_EXPAT
    MAGIC(0, "<?xml", "an XML file that is no OpenVINO model, which would begin with <net ...>"),
#else
    MAGIC(0, "<?xml", "an OpenVINO model (.xml) is not read: this library was built without expat, which reads XML"),
    MAGIC(0, "<net", "an OpenVINO model (.xml) is not read: this library was built without expat, which reads XML"),
#endif
    MAGIC(0, "\x1f\x8b", "a file packed by gzip is not read; unpack it first"),
    MAGIC(0, "\x28\xb5\x2f\xfd", "a file packed by zstd is not read; unpack it first"),
    MAGIC(0, "BZh", "a file packed by bzip2 is not read; unpack it first"),
    MAGIC(0,
          "\xfd"
          "7zXZ",
          "a file packed by xz is not read; unpack it first"),
};

static bool matches(const magic_row *row, const gather_map *map) {
  return map->size >= row->offset + row->length &&
         memcmp(map->bytes + row->offset, row->bytes, (size_t)row->length) == 0;
}

static bool is_parquet(const gather_map *map) { return map->size >= 4 && memcmp(map->bytes, "PAR1", 4) == 0; }

/* A name that needs no quoting in a shell or in Python. */
static bool is_plain_name(const char *name) {
  static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+";
  size_t length = strlen(name);
  return length > 0 && length < 80 && strspn(name, PLAIN) == length && name[0] != '-';
}

/* Parquet packs its values, so that no row is anywhere to be read; what makes a file that can be read is one line. */
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

/* Arrow's streaming format: a mark, and the length of a description, whose first table begins soon. */
static bool is_arrow_stream(const gather_map *map) {
  if (map->size < 12 || gather_read_u32(map->bytes) != UINT32_MAX) return false;
  uint32_t length = gather_read_u32(map->bytes + 4), root = gather_read_u32(map->bytes + 8);
  return length % 8 == 0 && length <= map->size && root >= 4 && root < length;
}

#ifndef GATHER_HAVE_NANOPB
/* An ONNX model begins with ir_version (field 1) and its next field is a text or a list (fields 2 to 8). */
static bool is_onnx_model(const gather_map *map) {
  if (map->size < 4 || map->bytes[0] != 0x08 || map->bytes[1] == 0 || map->bytes[1] > 0x20) return false;
  uint8_t field = map->bytes[2];
  return field == 0x12 || field == 0x1a || field == 0x22 || field == 0x32 || field == 0x3a || field == 0x42;
}

/* A TensorProto begins with its lengths (field 1, once for each) and its type (field 2, a small number). */
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

/* A few bytes of protobuf look like many other things: such a file must be readable, too. */
static bool is_readable(const gather_format *format, const gather_map *map) {
  gather_file *file = NULL;
  if (gather_file_make("", &file, NULL) != GATHER_OK) return false;
  file->map = (gather_map){.bytes = map->bytes, .size = map->size};
  file->format = format->name;
  gather_status status = format->open(file, NULL);
  gather_file_close(file);
  return status == GATHER_OK;
}

static bool looks_like(const gather_format *format, const gather_map *map) {
  enum { LEAST_BYTES = 4 }; /* a recogniser may take a shorter file for one that was cut off */
  if (!format->recognise || map->size < LEAST_BYTES || !format->recognise(map->bytes, map->size)) return false;
  bool is_protobuf = strcmp(format->name, "pb") == 0 || strcmp(format->name, "onnx") == 0;
  return !is_protobuf || is_readable(format, map);
}

const char *gather_format_looks(const gather_file *file, const char **unknown) {
  enum { LEAST_MAGIC = 4 }; /* bytes; fewer come by chance */
  *unknown = NULL;
  for (size_t i = 0; gather_format_at(i); i++)
    if (looks_like(gather_format_at(i), &file->map)) return gather_format_at(i)->name;
  for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS && !*unknown; i++)
    if (MAGICS[i].length >= LEAST_MAGIC && matches(&MAGICS[i], &file->map)) *unknown = MAGICS[i].sentence;
  if (is_parquet(&file->map)) *unknown = "a Parquet file is not read";
  return NULL;
}

gather_status gather_format_unknown(const gather_file *file, gather_error *error) {
  if (file->map.size == 0) return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, 0, "the file is empty");
  if (is_parquet(&file->map)) return fail_parquet(file, error);
  for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS; i++)
    if (matches(&MAGICS[i], &file->map))
      return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", MAGICS[i].sentence);
#ifndef GATHER_HAVE_JANSSON
  if (gather_safetensors_recognise(file->map.bytes, file->map.size))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                            "a safetensors file is not read: this library was built without Jansson, which reads JSON");
#endif
  if (is_arrow_stream(&file->map))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                            "Arrow's streaming format is not read, since nothing in it says where the rows are; write "
                            "it as a file (pyarrow.ipc.new_file)");
#ifndef GATHER_HAVE_NANOPB
  if (is_onnx_model(&file->map) || is_tensor_proto(&file->map))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                            "an ONNX %s is not read by this build, which has no nanopb",
                            is_onnx_model(&file->map) ? "model" : "tensor (.pb)");
#endif
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                          "its format is not known; raw bytes need a type and a shape");
}
