/* SPDX-License-Identifier: MIT
 *
 * hdf5_type.c: a dataset of an HDF5 file as a tensor: its dataspace is the shape, its datatype the type (elements that are arrays are
 * further dimensions), its layout says where the elements are. Contiguous and compact ones are read here; of chunked ones, hdf5_chunks.c
 * reads the rest.
 * Source: the HDF5 File Format Specification, version 3;
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/checked.h"
#include "io/format/hdf5/hdf5_chunks.h"

enum { MOST_RANK = GATHER_HDF5_MOST_RANK };

#define SAVE_AS_NPY "save it as .npy: numpy.save('out.npy', h5py.File('FILE')['NAME'][...])"

/* What a dataset's messages say. */
typedef struct dataset_reading {
  gather_hdf5 *h;
  gather_file_tensor *tensor;
  int64_t shape[MOST_RANK];
  int32_t rank;
} dataset_reading;

/* ---- the dataspace */

static gather_status add_length(dataset_reading *r, int64_t at, uint64_t length) {
  if (length > INT64_MAX)
    return GATHER_HDF5_WRONG(r->h, at, "a length of the dataset '%.100s' is too large: %" PRIu64, r->tensor->name, length);
  r->shape[r->rank++] = (int64_t)length;
  return GATHER_OK;
}

static gather_status check_rank(const dataset_reading *r, int64_t at, uint64_t more) {
  if (more <= (uint64_t)(MOST_RANK - r->rank)) return GATHER_OK;
  return GATHER_HDF5_REFUSE(r->h, at, "the dataset '%.100s' has %" PRIu64 " dimensions; %d are supported", r->tensor->name,
                            (uint64_t)r->rank + more, MOST_RANK);
}

static gather_status read_space(dataset_reading *r, const gather_hdf5_message *message) {
  enum { SCALAR, SIMPLE, NONE };
  gather_hdf5 *h = r->h;
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a dataspace message");
  uint64_t version = 0, rank = 0, flags = 0, kind = 0;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  if (version != 1 && version != 2)
    return GATHER_HDF5_REFUSE(h, message->at, "version %" PRIu64 " of a dataspace is not supported", version);
  GATHER_TRY(gather_hdf5_take(&fields, 1, &rank));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &flags)); /* the maximal lengths, behind the lengths, do not matter */
  GATHER_TRY(gather_hdf5_take(&fields, 1, &kind));
  if (version == 1) GATHER_TRY(gather_hdf5_skip(&fields, 4));
  if (version == 2 && kind == NONE)
    return GATHER_HDF5_REFUSE(h, message->at + 3, "the dataset '%.100s' has a null dataspace: it holds no elements, and has no shape",
                              r->tensor->name);
  if (version == 2 && (kind > NONE || (kind == SCALAR && rank > 0)))
    return GATHER_HDF5_WRONG(h, message->at + 3, "a dataspace of kind %" PRIu64 " and rank %" PRIu64 " is invalid", kind, rank);
  GATHER_TRY(check_rank(r, message->at + 1, rank));
  for (uint64_t d = 0; d < rank; d++) {
    uint64_t length = 0;
    const int64_t at = fields.at;
    GATHER_TRY(gather_hdf5_take(&fields, h->length_bytes, &length));
    GATHER_TRY(add_length(r, at, length));
  }
  return GATHER_OK;
}

/* ---- the datatype */

enum {
  CLASS_INTEGER,
  CLASS_FLOAT,
  CLASS_TIME,
  CLASS_STRING,
  CLASS_BITS,
  CLASS_OPAQUE,
  CLASS_COMPOUND,
  CLASS_REFERENCE,
  CLASS_ENUM,
  CLASS_VARIABLE,
  CLASS_ARRAY,
  CLASS_COMPLEX
};

/* What precedes the properties of a type. */
typedef struct type_head {
  int64_t at;
  unsigned kind, version, bits;
  int64_t bytes; /* of an element */
} type_head;

static gather_status read_head(gather_hdf5_fields *fields, type_head *head) {
  uint64_t first = 0, bits = 0, bytes = 0;
  *head = (type_head){.at = fields->at};
  GATHER_TRY(gather_hdf5_take(fields, 1, &first));
  GATHER_TRY(gather_hdf5_take(fields, 3, &bits));
  GATHER_TRY(gather_hdf5_take(fields, 4, &bytes));
  head->kind = (unsigned)first & 0xf;
  head->version = (unsigned)first >> 4;
  head->bits = (unsigned)bits;
  head->bytes = (int64_t)bytes;
  if (head->version < 1 || head->version > 5)
    return GATHER_HDF5_REFUSE(fields->h, head->at, "version %u of a datatype is not supported", head->version);
  if (bytes == 0) return GATHER_HDF5_WRONG(fields->h, head->at + 4, "a datatype has elements of 0 bytes");
  return GATHER_OK;
}

static void set_type(dataset_reading *r, gather_type type, bool big) {
  const gather_type_info *info = gather_type_get(type);
  r->tensor->tensor.type = type;
  r->tensor->type_name = info->name;
  if (info->bits > 8 && big != (GATHER_BIG_ENDIAN != 0)) r->tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
}

/* Elements that are bytes: NumPy's |S and |V. */
static gather_status set_bytes(dataset_reading *r, char letter, int64_t bytes) {
  char text[32];
  (void)snprintf(text, sizeof text, "'|%c%" PRId64 "'", letter, bytes);
  const size_t length = strlen(text);
  r->tensor->tensor.item_bytes = bytes;
  r->tensor->descr = gather_arena_text(&r->h->file->arena, text, length);
  r->tensor->type_name = gather_arena_text(&r->h->file->arena, text + 1, length - 2);
  return r->tensor->descr && r->tensor->type_name ? GATHER_OK : GATHER_HDF5_NO_MEMORY(r->h);
}

/* Elements that are none of our types. name: for lists. What is done about them is told with names that stand for those of the user. */
static gather_status refuse(dataset_reading *r, const type_head *head, const char *name, const char *advice) {
  r->tensor->tensor.item_bytes = head->bytes;
  r->tensor->type_name = name;
  return GATHER_HDF5_REFUSE(r->h, head->at, "the dataset '%.60s' has elements of type %s, which is not supported; %s", r->tensor->name,
                            name, advice);
}

/* A number whose bits are not those of one of our types. */
static gather_status refuse_number(dataset_reading *r, const type_head *head, const char *kind, uint64_t bits) {
  char text[80];
  (void)snprintf(text, sizeof text, "%s of %" PRIu64 " bits in %" PRId64 " bytes", kind, bits, head->bytes);
  const char *name = gather_arena_text(&r->h->file->arena, text, strlen(text));
  return name ? refuse(r, head, name, SAVE_AS_NPY) : GATHER_HDF5_NO_MEMORY(r->h);
}

static gather_status refuse_class(dataset_reading *r, const type_head *head) {
  enum { TEXT = 1 };
  if (head->kind == CLASS_TIME) return refuse(r, head, "time", "save it as integers");
  if (head->kind == CLASS_REFERENCE) return refuse(r, head, "reference", "h5py follows references to other objects");
  if (head->kind == CLASS_COMPOUND)
    return refuse(r, head, "compound", "save a field of it as .npy: numpy.save('out.npy', h5py.File('FILE')['NAME']['FIELD'])");
  if (head->kind == CLASS_VARIABLE && (head->bits & 0xf) == TEXT)
    return refuse(r, head, "variable-length string",
                  "save it with one length: numpy.save('out.npy', h5py.File('FILE')['NAME'][...].astype('S'))");
  if (head->kind == CLASS_VARIABLE)
    return refuse(r, head, "variable-length sequence",
                  "save the sequences one after the other: numpy.save('out.npy', numpy.concatenate(h5py.File('FILE')['NAME'][...]))");
  return GATHER_HDF5_REFUSE(r->h, head->at, "the dataset '%.100s' has elements of the unknown class %u", r->tensor->name, head->kind);
}

/* Only all bits of whole bytes. Bitfields are integers without a sign, as h5py has them: PyTables and pandas write bool as such. */
static gather_status read_integer(dataset_reading *r, gather_hdf5_fields *fields, const type_head *head) {
  enum { BIG = 1 << 0, SIGNED = 1 << 3 };
  static const gather_type TYPES[][2] = {{GATHER_TYPE_UINT8, GATHER_TYPE_INT8},
                                         {GATHER_TYPE_UINT16, GATHER_TYPE_INT16},
                                         {GATHER_TYPE_UINT32, GATHER_TYPE_INT32},
                                         {GATHER_TYPE_UINT64, GATHER_TYPE_INT64}};
  uint64_t offset = 0, bits = 0;
  GATHER_TRY(gather_hdf5_take(fields, 2, &offset));
  GATHER_TRY(gather_hdf5_take(fields, 2, &bits));
  for (int i = 0; i < 4; i++)
    if (head->bytes == 1 << i && offset == 0 && bits == UINT64_C(8) << i) {
      set_type(r, TYPES[i][head->kind == CLASS_INTEGER && (head->bits & SIGNED) != 0], (head->bits & BIG) != 0);
      return GATHER_OK;
    }
  return refuse_number(r, head, head->kind == CLASS_INTEGER ? "integer" : "bitfield", bits);
}

/* Where the parts of IEEE's floats, and of bfloat16, are. */
static const struct {
  gather_type type;
  uint8_t bytes, exponent_at, exponent_bits, mantissa_bits;
} FLOATS[] = {
    {GATHER_TYPE_FLOAT16, 2, 10, 5, 10},
    {GATHER_TYPE_BFLOAT16, 2, 7, 8, 7},
    {GATHER_TYPE_FLOAT32, 4, 23, 8, 23},
    {GATHER_TYPE_FLOAT64, 8, 52, 11, 52},
};

/* GATHER_TYPE_OPAQUE: none of them. Fields: offset and number of all bits, place and size of the exponent and of the mantissa, bias. */
static gather_status read_float(gather_hdf5_fields *fields, const type_head *head, gather_type *type, bool *big, uint64_t *bits) {
  enum { BIG = 1 << 0, VAX = 1 << 6, NORMAL = 3 << 4, IMPLIED = 2 << 4 };
  static const int WIDTHS[7] = {2, 2, 1, 1, 1, 1, 4};
  uint64_t field[7] = {0};
  for (int i = 0; i < 7; i++) GATHER_TRY(gather_hdf5_take(fields, WIDTHS[i], &field[i]));
  const unsigned sign_at = head->bits >> 8 & 0xff;
  *bits = field[1];
  *type = GATHER_TYPE_OPAQUE;
  *big = (head->bits & BIG) != 0;
  if ((head->bits & VAX) != 0 || (head->bits & NORMAL) != IMPLIED || field[0] != 0 || field[4] != 0) return GATHER_OK;
  for (size_t i = 0; i < sizeof FLOATS / sizeof *FLOATS; i++)
    if (head->bytes == FLOATS[i].bytes && field[1] == 8U * FLOATS[i].bytes && sign_at == 8U * FLOATS[i].bytes - 1 &&
        field[2] == FLOATS[i].exponent_at && field[3] == FLOATS[i].exponent_bits && field[5] == FLOATS[i].mantissa_bits &&
        field[6] == (UINT64_C(1) << (FLOATS[i].exponent_bits - 1)) - 1)
      *type = FLOATS[i].type;
  return GATHER_OK;
}

static gather_status set_float(dataset_reading *r, gather_hdf5_fields *fields, const type_head *head) {
  gather_type type = GATHER_TYPE_OPAQUE;
  bool big = false;
  uint64_t bits = 0;
  GATHER_TRY(read_float(fields, head, &type, &big, &bits));
  if (type == GATHER_TYPE_OPAQUE) return refuse_number(r, head, "float", bits);
  set_type(r, type, big);
  return GATHER_OK;
}

/* A name that ends with a zero byte; before version 3 its bytes are a multiple of 8. */
static gather_status read_name(gather_hdf5_fields *fields, unsigned version, const char **name) {
  const uint8_t *begin = fields->h->file->map.bytes + fields->at, *zero = memchr(begin, '\0', (size_t)(fields->end - fields->at));
  if (!zero) return GATHER_HDF5_WRONG(fields->h, fields->at, "a name in a datatype has no end");
  const int64_t bytes = zero - begin + 1;
  *name = (const char *)begin;
  return gather_hdf5_skip(fields, version < 3 ? (bytes + 7) / 8 * 8 : bytes);
}

/* h5py's bool: an enumeration of one byte with FALSE and TRUE. Others are their integers. */
static gather_status read_enum(dataset_reading *r, gather_hdf5_fields *fields, const type_head *head) {
  const unsigned count = head->bits & 0xffff;
  type_head base = {0};
  const char *names[2] = {"", ""};
  GATHER_TRY(read_head(fields, &base));
  if (base.kind != CLASS_INTEGER || base.bytes != head->bytes)
    return GATHER_HDF5_WRONG(r->h, base.at, "the base of an enumeration of the dataset '%.100s' is not an integer of its size",
                             r->tensor->name);
  GATHER_TRY(read_integer(r, fields, &base));
  if (count != 2 || base.bytes != 1) return GATHER_OK;
  for (int i = 0; i < 2; i++) GATHER_TRY(read_name(fields, head->version, &names[i]));
  for (uint64_t i = 0, value = 0; i < 2; i++) {
    GATHER_TRY(gather_hdf5_take(fields, 1, &value));
    if (value > 1 || strcmp(names[i], value ? "TRUE" : "FALSE") != 0) return GATHER_OK;
  }
  if (strcmp(names[0], names[1]) != 0) set_type(r, GATHER_TYPE_BOOL, false);
  return GATHER_OK;
}

/* Two floats of one type, the real part first. */
static gather_status set_complex(dataset_reading *r, const type_head *head, gather_type part, bool big) {
  if (part != GATHER_TYPE_FLOAT32 && part != GATHER_TYPE_FLOAT64) return refuse(r, head, "complex of another size", SAVE_AS_NPY);
  set_type(r, part == GATHER_TYPE_FLOAT32 ? GATHER_TYPE_COMPLEX64 : GATHER_TYPE_COMPLEX128, big);
  return GATHER_OK;
}

/* The name, offset and type of a member of a compound, as far as those of complex numbers go; *type is GATHER_TYPE_OPAQUE for others. */
static gather_status read_member(gather_hdf5_fields *fields, const type_head *head, const char **name, int64_t *offset, gather_type *type,
                                 bool *big) {
  enum { DIMENSIONS = 28 };
  uint64_t at = 0, rank = 0, bits = 0;
  int64_t width = 4;
  type_head member = {0};
  GATHER_TRY(read_name(fields, head->version, name));
  if (head->version >= 3)
    for (width = 1; width < 4 && head->bytes >> 8 * width > 0;) width++;
  GATHER_TRY(gather_hdf5_take(fields, width, &at));
  if (head->version == 1) {
    GATHER_TRY(gather_hdf5_take(fields, 1, &rank));
    GATHER_TRY(gather_hdf5_skip(fields, DIMENSIONS - 1));
  }
  GATHER_TRY(read_head(fields, &member));
  *offset = (int64_t)at;
  *type = GATHER_TYPE_OPAQUE;
  return member.kind == CLASS_FLOAT && rank == 0 ? read_float(fields, &member, type, big, &bits) : GATHER_OK;
}

/* Compounds are refused, except for complex numbers. */
static gather_status read_compound(dataset_reading *r, gather_hdf5_fields *fields, const type_head *head) {
  const char *names[2] = {"", ""};
  int64_t offsets[2] = {0};
  gather_type types[2] = {GATHER_TYPE_OPAQUE, GATHER_TYPE_OPAQUE};
  bool big[2] = {false, false};
  if ((head->bits & 0xffff) != 2) return refuse_class(r, head);
  for (int i = 0; i < 2; i++) {
    GATHER_TRY(read_member(fields, head, &names[i], &offsets[i], &types[i], &big[i]));
    if (types[i] == GATHER_TYPE_OPAQUE) return refuse_class(r, head);
  }
  if (strcmp(names[0], "r") != 0 || strcmp(names[1], "i") != 0 || types[0] != types[1] || big[0] != big[1] || offsets[0] != 0 ||
      offsets[1] * 2 != head->bytes || offsets[1] * 8 != gather_type_get(types[0])->bits)
    return refuse_class(r, head);
  return set_complex(r, head, types[0], big[0]);
}

/* The class for complex numbers, since HDF5 2.0: its property is the type of both parts. */
static gather_status read_complex(dataset_reading *r, gather_hdf5_fields *fields, const type_head *head) {
  type_head part = {0};
  gather_type type = GATHER_TYPE_OPAQUE;
  bool big = false;
  uint64_t bits = 0;
  GATHER_TRY(read_head(fields, &part));
  if (part.kind == CLASS_FLOAT) GATHER_TRY(read_float(fields, &part, &type, &big, &bits));
  if (type != GATHER_TYPE_OPAQUE && part.bytes * 2 != head->bytes)
    return GATHER_HDF5_WRONG(r->h, head->at + 4, "a complex number of %" PRId64 " bytes has parts of %" PRId64, head->bytes, part.bytes);
  return set_complex(r, head, type, big);
}

static gather_status read_type(dataset_reading *r, gather_hdf5_fields *fields, int64_t *bytes, int depth);

/* An element that is an array: its lengths are the innermost dimensions. Version 2 has a list behind them that is not used. */
static gather_status read_array(dataset_reading *r, gather_hdf5_fields *fields, const type_head *head, int depth) {
  uint64_t rank = 0, length = 0;
  int64_t bytes = 0, at = fields->at;
  GATHER_TRY(gather_hdf5_take(fields, 1, &rank));
  GATHER_TRY(check_rank(r, at, rank));
  if (rank == 0) return GATHER_HDF5_WRONG(r->h, at, "an array datatype has no dimensions");
  if (head->version < 3) GATHER_TRY(gather_hdf5_skip(fields, 3));
  const int32_t first = r->rank;
  for (uint64_t d = 0; d < rank; d++) {
    at = fields->at;
    GATHER_TRY(gather_hdf5_take(fields, 4, &length));
    GATHER_TRY(add_length(r, at, length));
  }
  if (head->version < 3) GATHER_TRY(gather_hdf5_skip(fields, 4 * (int64_t)rank));
  const int32_t end = r->rank;
  GATHER_TRY(read_type(r, fields, &bytes, depth + 1));
  for (int32_t d = first; d < end; d++)
    if (!gather_mul(bytes, r->shape[d], &bytes)) bytes = -1, d = end;
  if (bytes == head->bytes) return GATHER_OK;
  return GATHER_HDF5_WRONG(r->h, head->at + 4, "an array datatype of %" PRId64 " bytes has elements of another size", head->bytes);
}

/* *bytes: of an element. */
static gather_status read_type(dataset_reading *r, gather_hdf5_fields *fields, int64_t *bytes, int depth) {
  type_head head = {0};
  GATHER_TRY(read_head(fields, &head));
  *bytes = head.bytes;
  switch (head.kind) {
    case CLASS_INTEGER:
    case CLASS_BITS:
      return read_integer(r, fields, &head);
    case CLASS_FLOAT:
      return set_float(r, fields, &head);
    case CLASS_STRING:
      return set_bytes(r, 'S', head.bytes);
    case CLASS_OPAQUE:
      return set_bytes(r, 'V', head.bytes);
    case CLASS_COMPOUND:
      return read_compound(r, fields, &head);
    case CLASS_ENUM:
      return read_enum(r, fields, &head);
    case CLASS_ARRAY:
      if (depth < MOST_RANK) return read_array(r, fields, &head, depth);
      return GATHER_HDF5_WRONG(r->h, head.at, "an array datatype is nested too deeply");
    case CLASS_COMPLEX:
      return read_complex(r, fields, &head);
    default:
      return refuse_class(r, &head);
  }
}

/* ---- the layout */

typedef enum layout_kind { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL } layout_kind;

typedef struct data_layout {
  uint64_t kind;
  int64_t at;     /* position of the elements; -1: they have none */
  uint64_t bytes; /* that they have */
} data_layout;

static gather_status take_compact(gather_hdf5_fields *fields, int64_t width, data_layout *found) {
  GATHER_TRY(gather_hdf5_take(fields, width, &found->bytes));
  found->at = fields->at;
  return gather_hdf5_skip(fields, (int64_t)found->bytes);
}

/* Versions 1 and 2, before HDF5 1.6. The lengths of contiguous data are those of the dataset. */
static gather_status take_first(gather_hdf5_fields *fields, data_layout *found) {
  uint64_t lengths = 0;
  GATHER_TRY(gather_hdf5_take(fields, 1, &lengths));
  GATHER_TRY(gather_hdf5_take(fields, 1, &found->kind));
  GATHER_TRY(gather_hdf5_skip(fields, 5));
  if (found->kind != COMPACT) GATHER_TRY(gather_hdf5_take_address(fields, &found->at));
  found->bytes = UINT64_MAX;
  if (found->kind == CHUNKED) return GATHER_OK;
  GATHER_TRY(gather_hdf5_skip(fields, 4 * (int64_t)lengths));
  return found->kind == COMPACT ? take_compact(fields, 4, found) : GATHER_OK;
}

/* From version 3 on. */
static gather_status take_later(gather_hdf5_fields *fields, data_layout *found) {
  GATHER_TRY(gather_hdf5_take(fields, 1, &found->kind));
  if (found->kind == COMPACT) return take_compact(fields, 2, found);
  if (found->kind == CONTIGUOUS) {
    GATHER_TRY(gather_hdf5_take_address(fields, &found->at));
    return gather_hdf5_take(fields, fields->h->length_bytes, &found->bytes);
  }
  return GATHER_OK;
}

static gather_status read_layout(gather_hdf5 *h, const gather_hdf5_message *message, data_layout *found) {
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a data layout message");
  uint64_t version = 0;
  *found = (data_layout){.at = -1};
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  if (version < 1 || version > 5)
    return GATHER_HDF5_REFUSE(h, message->at, "version %" PRIu64 " of a data layout is not supported", version);
  const int64_t kind_at = version < 3 ? message->at + 2 : message->at + 1;
  GATHER_TRY(version < 3 ? take_first(&fields, found) : take_later(&fields, found));
  if (found->kind <= VIRTUAL) return GATHER_OK;
  return GATHER_HDF5_WRONG(h, kind_at, "unknown kind %" PRIu64 " of a data layout", found->kind);
}

/* ---- where the elements are */

/* Without elements, their place does not matter. */
static gather_status find_elements(const dataset_reading *r, const gather_hdf5_dataset *dataset, const gather_hdf5_message *space) {
  gather_hdf5 *h = r->h;
  gather_file_tensor *tensor = r->tensor;
  const int64_t said_at = dataset->layout.at, size = h->file->map.size;
  data_layout found;
  GATHER_TRY(read_layout(h, &dataset->layout, &found));
  if (tensor->bytes == 0) return GATHER_OK;
  if (dataset->external_files.at != 0)
    return GATHER_HDF5_REFUSE(h, dataset->external_files.at,
                              "the dataset '%.60s' has its elements in other files, which is not supported; " SAVE_AS_NPY, tensor->name);
  if (found.kind == VIRTUAL)
    return GATHER_HDF5_REFUSE(
        h, said_at, "the dataset '%.60s' is virtual: it consists of parts of others, which is not supported; " SAVE_AS_NPY, tensor->name);
  if (found.kind == CHUNKED) return gather_hdf5_describe_chunks(h, dataset, space, tensor);
  if (found.at < 0)
    return GATHER_HDF5_REFUSE(
        h, said_at,
        "the dataset '%.60s' was never written: it has only its fill value (in NetCDF, a dimension without a variable); " SAVE_AS_NPY,
        tensor->name);
  tensor->offset = found.at;
  if (found.bytes < (uint64_t)tensor->bytes)
    return GATHER_HDF5_WRONG(h, said_at, "the dataset '%.100s' needs %" PRId64 " bytes, but has %" PRIu64, tensor->name, tensor->bytes,
                             found.bytes);
  if (tensor->bytes > size - found.at)
    return GATHER_HDF5_WRONG(h, size, "the file is truncated: the dataset '%.100s' needs %" PRId64 " bytes at byte %" PRId64, tensor->name,
                             tensor->bytes, found.at);
  return gather_file_point(h->file, &h->file->map, found.at, tensor, h->error);
}

/* ---- the dataset */

/* Gives the tensor the shape that is known. */
static gather_status set_shape(const dataset_reading *r) {
  gather_tensor *tensor = &r->tensor->tensor;
  int64_t *shape = gather_arena_take(&r->h->file->arena, r->rank, (int64_t)sizeof *shape);
  if (!shape) return GATHER_HDF5_NO_MEMORY(r->h);
  memcpy(shape, r->shape, (size_t)r->rank * sizeof *shape);
  tensor->rank = r->rank;
  tensor->shape = shape;
  return GATHER_OK;
}

gather_status gather_hdf5_describe(gather_hdf5 *h, const gather_hdf5_dataset *dataset, gather_file_tensor *tensor) {
  dataset_reading r = {.h = h, .tensor = tensor};
  gather_hdf5_message space = dataset->space, type = dataset->type;
  int64_t bytes = 0;
  if (space.at == 0) return GATHER_HDF5_WRONG(h, dataset->layout.at, "the dataset '%.100s' has no dataspace", tensor->name);
  GATHER_TRY(gather_hdf5_unshare(h, &space));
  GATHER_TRY(read_space(&r, &space));
  GATHER_TRY(gather_hdf5_unshare(h, &type));
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, &type, "a datatype message");
  gather_status status = read_type(&r, &fields, &bytes, 0);
  if (status != GATHER_OUT_OF_MEMORY) GATHER_TRY(set_shape(&r));
  GATHER_TRY(status);
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return GATHER_HDF5_WRONG(h, space.at, "the lengths of the dataset '%.100s' are too large", tensor->name);
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  return find_elements(&r, dataset, &space);
}
