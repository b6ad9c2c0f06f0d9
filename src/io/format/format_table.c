/* SPDX-License-Identifier: MIT
 *
 * format_table.c: the table of formats, and of which one a file is.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/path.h"
#include "io/format/format.h"

/* ---- raw bytes: a format without a header */

static bool raw_carries(const gather_type_info *type) { return type->kind != GATHER_KIND_STRING; }

static gather_status raw_header(const gather_writing *what, int64_t align_bytes, int64_t data_bytes, gather_header *header,
                                gather_error *error) {
  (void)what, (void)align_bytes, (void)data_bytes, (void)error;
  *header = (gather_header){0};
  return GATHER_OK;
}

static const gather_format_writer raw_writer = {raw_carries, raw_header, NULL};

/* ---- the table */

static const gather_format FORMATS[] = {
#define GATHER_FORMAT(name, abilities, extensions, reader, writer) {{name, abilities, extensions}, reader, writer},
#include "io/format/format.def"
#undef GATHER_FORMAT
};

enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

const gather_format *gather_format_row(size_t i) { return i < FORMAT_COUNT ? &FORMATS[i] : NULL; }

const gather_format_info *gather_format_at(size_t i) { return i < FORMAT_COUNT ? &FORMATS[i].info : NULL; }

/* Whether the word is in a space-separated list. */
static bool lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at++)
    if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ')) return true;
  return false;
}

const gather_format *gather_format_for_path(const char *path) {
  const char *slash = gather_path_slash(path);
  const char *dot = strrchr(slash ? slash : path, '.');
  if (!dot || strchr(dot, ' ')) return NULL;
  for (size_t i = 0; i < FORMAT_COUNT; i++)
    if (FORMATS[i].writer && lists(FORMATS[i].info.extensions, dot)) return &FORMATS[i];
  return NULL;
}

/* ---- formats that are not supported, recognised so that the message says what to do */

typedef struct magic_row {
  const char *bytes;
  int64_t offset, length;
  const char *sentence;
} magic_row;

#define MAGIC(offset, bytes, sentence) \
  { bytes, offset, (int64_t)sizeof bytes - 1, sentence }
#define FAISS "a Faiss index is not supported; save its vectors as .npy: faiss.read_index('FILE').reconstruct_n()"
#define PICKLE "a Python pickle is refused, because reading it can run any code; save the array as .npy"
#define OLD_GGML "a model in the old GGML format is not supported; convert it to GGUF with llama.cpp"
#define NETCDF                                                                                   \
  "NetCDF 3 is not supported; NetCDF 4 is: nccopy -k nc4 IN OUT, or save the variable as .npy: " \
  "numpy.save('out.npy', xarray.open_dataset('FILE')['NAME'])"

static const magic_row MAGICS[] = {
    MAGIC(0, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9",
          "a PyTorch file is refused, because it is a Python pickle, and reading that can run any code; save the "
          "tensors: "
          "safetensors.torch.save_file(torch.load('FILE', weights_only=True), 'out.safetensors')"),
    MAGIC(0, "\x80\x02", PICKLE),
    MAGIC(0, "\x80\x03", PICKLE),
    MAGIC(0, "\x80\x04", PICKLE),
    MAGIC(0, "\x80\x05", PICKLE),
    MAGIC(0, "CDF\x01", NETCDF),
    MAGIC(0, "CDF\x02", NETCDF),
    MAGIC(0, "CDF\x05", NETCDF),
    MAGIC(4, "TFL3",
          "a TensorFlow Lite model is not supported; convert it to ONNX (python3 -m tf2onnx.convert --tflite FILE "
          "--output out.onnx)"),
    MAGIC(4, "ORTM", "a model in ONNX Runtime's format (.ort) is not supported; use the .onnx file that it was made from"),
    MAGIC(0, "lmgg", OLD_GGML),
    MAGIC(0, "fmgg", OLD_GGML),
    MAGIC(0, "tjgg", OLD_GGML),
    MAGIC(0, "algg", OLD_GGML),
    MAGIC(0, "FEA1", "Feather version 1 is not supported; write the file as version 2, with compression='uncompressed'"),
    MAGIC(0, "PARE", "encrypted Parquet is not supported; decrypt it with pyarrow, and write it as Arrow"),
    MAGIC(0, "Obj\x01", "Avro is not supported; write the column as Arrow or .npy"),
    MAGIC(0, "SQLite format 3", "an SQLite database is not supported; save the column as .npy"),
    MAGIC(8, "DUCK", "a DuckDB database is not supported; write the column as Arrow or .npy"),
    MAGIC(0, "IxF2", FAISS),
    MAGIC(0, "IxFI", FAISS),
    MAGIC(0, "MATLAB 5.0", "MATLAB files are not supported; save the array: numpy.save('out.npy', scipy.io.loadmat('FILE')['NAME'])"),
#ifdef GATHER_HAVE_EXPAT
    MAGIC(0, "<?xml", "an XML file that is not an OpenVINO model: it does not begin with <net ...>"),
#else
    MAGIC(0, "<?xml", "OpenVINO models (.xml) are not supported in this build: it has no expat"),
    MAGIC(0, "<net", "OpenVINO models (.xml) are not supported in this build: it has no expat"),
#endif
    MAGIC(0, "\x1f\x8b", "a file compressed by gzip is not supported; decompress it first"),
    MAGIC(0, "\x28\xb5\x2f\xfd", "a file compressed by zstd is not supported; decompress it first"),
    MAGIC(0, "\x04\x22\x4d\x18", "a file compressed by lz4 is not supported; decompress it first"),
    MAGIC(0, "BZh", "a file compressed by bzip2 is not supported; decompress it first"),
    MAGIC(0,
          "\xfd"
          "7zXZ",
          "a file compressed by xz is not supported; decompress it first"),
    MAGIC(0, "7z\xbc\xaf\x27\x1c", "a 7z archive is not supported; unpack it first"),
    MAGIC(257, "ustar", "a tar archive is not supported; unpack it first"),
};

static bool matches(const magic_row *row, const gather_map *map) {
  return map->size >= row->offset + row->length && gather_map_need(map, row->offset, row->length, NULL) == GATHER_OK &&
         memcmp(map->bytes + row->offset, row->bytes, (size_t)row->length) == 0;
}

/* The CRC-32C of bytes, bit by bit. */
static uint32_t crc32c(const uint8_t *bytes, int count) {
  uint32_t crc = UINT32_MAX;
  for (int i = 0; i < count; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
  }
  return ~crc;
}

/* Whether it is a TFRecord, whose first bytes can look like a TensorProto. Its first 16 bytes are loaded. */
/* A record begins with its length in eight bytes, and their masked checksum (TensorFlow's record_writer). */
static bool is_tfrecord(const gather_map *map) {
  if (map->size < 12) return false;
  const uint64_t length = gather_read_u64(map->bytes);
  if (length > (uint64_t)map->size) return false;
  const uint32_t crc = crc32c(map->bytes, 8);
  return gather_read_u32(map->bytes + 8) == (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

/* What the file is, if it is of a format that is not supported and is known by at least `least` bytes; NULL. */
static const char *find_sentence(const gather_map *map, int64_t least) {
  for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS; i++)
    if (MAGICS[i].length >= least && matches(&MAGICS[i], map)) return MAGICS[i].sentence;
  return is_tfrecord(map) ? "TFRecord is not supported, since its records are encoded messages; save the feature as .npy "
                            "(tf.data.TFRecordDataset reads them)"
                          : NULL;
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

/* A file whose map stays the caller's; NULL = out of memory. */
static gather_file *borrow(const gather_map *map) {
  gather_file *file = NULL;
  if (gather_file_make("", &file, NULL) != GATHER_OK) return NULL;
  file->map = *map;
  file->map.owned = false;
  return file;
}

/* What a zip file is that has no arrays; NULL: it has some, or cannot be read. */
static const char *other_zip(const gather_map *map) {
  gather_file *file = borrow(map);
  const char *sentence = file ? gather_npz_other(file) : NULL;
  gather_file_close(file);
  return sentence;
}

/* Short protobuf is easily mistaken for other data, so the file must also parse. */
static bool is_readable(const gather_format *format, const gather_map *map) {
  gather_file *file = borrow(map);
  if (!file) return false;
  file->format = format->info.name;
  gather_status status = format->reader->open(file, NULL);
  gather_file_close(file);
  return status == GATHER_OK;
}

static bool looks_like(const gather_format *format, const gather_map *map) {
  enum { LEAST_BYTES = 4 }; /* a recogniser may take a shorter file for a truncated one */
  if (!format->reader || map->size < LEAST_BYTES || !format->reader->recognise(map)) return false;
  bool is_protobuf = strcmp(format->info.name, "pb") == 0 || strcmp(format->info.name, "onnx") == 0;
  return !is_protobuf || is_readable(format, map);
}

const char *gather_format_looks(const gather_file *file, char *unknown, size_t bytes) {
  enum { LEAST_MAGIC = 4 }; /* bytes; fewer match by chance */
  *unknown = '\0';
  if (gather_map_need(&file->map, 0, GATHER_FORMAT_HEAD, NULL) != GATHER_OK) return NULL; /* gather_file_settle fails */
  if (gather_substitute_find(&file->map, file->name, file->client != NULL, unknown, bytes)) return NULL;
  const char *found = NULL;
  for (size_t i = 0; !found && gather_format_row(i) && !is_tfrecord(&file->map); i++)
    if (looks_like(gather_format_row(i), &file->map)) found = gather_format_row(i)->info.name;
  const char *sentence = found && strcmp(found, "npz") == 0 ? other_zip(&file->map) : NULL;
  if (found && !sentence) return found;
  if (!sentence) sentence = is_parquet(&file->map) ? "a Parquet file is not supported" : find_sentence(&file->map, LEAST_MAGIC);
  if (sentence) (void)snprintf(unknown, bytes, "%s", sentence);
  return NULL;
}

/* Fails for a file of no supported format, with a message about what it seems to be. */
static gather_status fail_unknown(const gather_file *file, gather_error *error) {
  if (file->map.size == 0) return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, 0, "the file is empty");
  if (is_parquet(&file->map)) return fail_parquet(file, error);
  const char *sentence = find_sentence(&file->map, 0);
  if (sentence) return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", sentence);
#ifndef GATHER_HAVE_JANSSON
  if (gather_safetensors_reader.recognise(&file->map) || gather_safetensors_index_reader.recognise(&file->map))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "safetensors is not supported in this build: it has no Jansson");
#endif
#ifndef GATHER_HAVE_NANOPB
  if (is_onnx_model(&file->map) || is_tensor_proto(&file->map))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "ONNX %s are not supported in this build: it has no nanopb",
                            is_onnx_model(&file->map) ? "models" : "tensors (.pb)");
#endif
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "unknown format; raw bytes need a type and a shape");
}

gather_status gather_format_recognise(const gather_file *file, const gather_format **format, gather_error *error) {
  const gather_map *map = &file->map;
  for (size_t i = 0; i < FORMAT_COUNT && !is_tfrecord(map); i++) {
    *format = &FORMATS[i];
    if (FORMATS[i].reader && FORMATS[i].reader->recognise(map)) return GATHER_OK;
  }
  return fail_unknown(file, error);
}
