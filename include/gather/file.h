/* SPDX-License-Identifier: MIT
 *
 * file.h: tensors in files. Files are mapped, not read: opening a 100 GB file costs its header. No length in a file is trusted.
 *
 * Reads .npy (all versions, either byte order, Fortran order, every dtype of fixed size), stored members of .npz, raw bytes, safetensors
 * (sharded ones by their index), GGUF, uncompressed Arrow IPC files and Feather 2, ONNX TensorProto (.pb), and the tensors that ONNX models
 * and OpenVINO IR (.xml with its .bin) hold; writes .npy, raw bytes and ONNX TensorProto. Pickled objects are refused (GATHER_UNSUPPORTED).
 * The gather nodes of models are the matter of model.h; rows of tables that need not fit into memory that of table.h.
 * Files that a model keeps tensors in (external data, the .bin) are found beside it by their names: a name that leaves the model's
 * folder (absolute, or with "..") is GATHER_FILE_MALFORMED. What stands under a name may be a link to anywhere: links are made by
 * who owns the folder, not by the model. Where such a file is missing or too short, the model opens all the same, and
 * gather_file_tensor_check says which tensors have no elements.
 * A file that is changed by somebody else while it is mapped shows the change; one that is cut short ends the program that
 * reads behind the cut with SIGBUS, as with every mapping. A program with a limit on file sizes (ulimit -f) should ignore
 * SIGXFSZ, so that the limit is GATHER_IO_ERROR and not its end.
 */
#ifndef GATHER_FILE_H
#define GATHER_FILE_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* An open file: it owns the mapping and all views of it. Several threads may read one. */
typedef struct gather_file gather_file;

/* Why a tensor's elements cannot be had. */
typedef struct gather_unreadable gather_unreadable;

/* One tensor of a file. All pointers live as long as the file is open. */
typedef struct gather_file_tensor {
  /* "" in .npy and raw files. Of models the value's name, in subgraphs behind the path of its graph ("if_3/then_branch/w"). */
  const char *name;
  gather_tensor tensor; /* a read-only view of the mapping; type GATHER_TYPE_OPAQUE where it has no name here */
  /* The npy description to keep, a Python literal in UTF-8 ("'<f4'", "[('a', '<i4')]"): of an npy file as it stands there, of raw
   * bytes that were opened with a descr of an opaque type likewise; of opaque elements that .npy can carry as bytes ("'|V18'": blocks of
   * GGUF); NULL for others. */
  const char *descr;
  /* For people and JSON: the canonical name; for opaque types the format's own name for them ("Q4_0"), or the descr (a plain one without
   * its quotes). */
  const char *type_name;
  int64_t offset; /* of the first byte in the file that holds the elements: for external data that other file */
  int64_t bytes;  /* that the elements take in memory */
  /* NULL; else the file is sane, but its elements cannot be had, because the other file that holds them is missing or too short:
   * tensor.data is NULL then, and gather_file_tensor_check says why. */
  const gather_unreadable *unreadable;
} gather_file_tensor;

/* Opens a file and finds out its format by its content. Memory: freed by gather_file_close.
 * Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_FILE_MALFORMED (with file and offset), GATHER_UNSUPPORTED (a known
 * format that holds what we refuse; a format not known), GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_open(const char *path, gather_file **file, gather_error *error);

/* The same for bytes in memory, which must outlive the file. name: for messages. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_from_memory(const void *memory, size_t bytes, const char *name,
                                                                gather_file **file, gather_error *error);

/* What raw bytes are. */
typedef struct gather_raw {
  const char *type; /* a type's name, or an npy descr with its byte order (">f4", "|S5", "<U3", "|V12") */
  int32_t rank;
  const int64_t *shape;
  int64_t offset; /* of the first element in the file, in bytes */
} gather_raw;

/* Opens a file as raw bytes. Little-endian unless the descr says otherwise. Bytes after the tensor are allowed, missing ones
 * are GATHER_FILE_MALFORMED. Strings cannot be raw (GATHER_UNSUPPORTED); an unknown type is GATHER_USAGE. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_open_raw(const char *path, const gather_raw *raw,
                                                             gather_file **file, gather_error *error);
/* The same for bytes in memory. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_raw_from_memory(const void *memory, size_t bytes, const char *name,
                                                                    const gather_raw *raw, gather_file **file,
                                                                    gather_error *error);

/* The name of the format ("npy", "raw"). Since 0.1. */
GATHER_API const char *gather_file_format(const gather_file *file);
/* How many tensors it holds. Since 0.1. */
GATHER_API int64_t gather_file_len(const gather_file *file);
/* Tensor number i, 0 <= i < gather_file_len; NULL otherwise. Since 0.1. */
GATHER_API const gather_file_tensor *gather_file_at(const gather_file *file, int64_t i);
/* The tensor of that name, matched exactly. NULL or "" names the only tensor of a file that holds one. Returns
 * GATHER_NAME_NOT_FOUND with the nearest names, or how many there are to choose from. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_find(const gather_file *file, const char *name,
                                                         const gather_file_tensor **tensor, gather_error *error);
/* Says whether the tensor's elements are there. Returns what keeps them away: GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR or
 * GATHER_OVERFLOW (the other file that holds them cannot be mapped), GATHER_FILE_MALFORMED (it is too short), GATHER_UNSUPPORTED
 * (a file from memory has no other files). Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_tensor_check(const gather_file_tensor *tensor, gather_error *error);
/* Closes a file: every view of it ends. NULL does nothing. Since 0.1. */
GATHER_API void gather_file_close(gather_file *file);

/* How many formats there are, and the name of number i with what it can do ("npy", "read write"). Since 0.1. */
GATHER_API size_t gather_format_count(void);
GATHER_API const char *gather_format_name(size_t i);
GATHER_API const char *gather_format_abilities(size_t i);
GATHER_API const char *gather_format_extensions(size_t i); /* ".npy"; ".bin .raw"; "" */

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* A file being written: it appears under its name whole (gather_writer_commit) or not at all. */
typedef struct gather_writer gather_writer;

/* What will be written. */
typedef struct gather_writing {
  const char *path;   /* NULL = write to descriptor `fd` on commit */
  int fd;             /* used where path is NULL; stays open */
  const char *format; /* "npy", "raw", "pb"; NULL = by the extension of path */
  bool replace;       /* an existing file may be replaced */
  gather_type type;
  int64_t item_bytes; /* opaque types */
  bool
      byte_swapped; /* the elements will be in the other byte order than this machine's, as GATHER_TENSOR_BYTE_SWAPPED */
  const char *descr; /* npy: the descr to keep, as gather_file_tensor.descr; NULL = the type's own */
  const char *name;  /* TensorProto: its name; NULL = "" */
  int32_t rank;
  const int64_t *shape;
} gather_writing;

/* Creates a temporary file beside the target, with its header written and room for every element reserved, so that a full
 * disk is found here. Returns GATHER_FILE_EXISTS, GATHER_UNSUPPORTED (the format cannot carry the type, with the formats that
 * can; or the size), GATHER_USAGE (an extension that is not known, with those that are), GATHER_IO_ERROR,
 * GATHER_OUT_OF_MEMORY. Memory: freed by commit or abort. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_create(const gather_writing *what, gather_writer **writer,
                                                             gather_error *error);
/* The same for a file of `bytes` plain bytes, which gather_writer_data gives, zero: a picture, a report. They are written as they
 * are. Returns GATHER_USAGE (no path, a negative size), GATHER_FILE_EXISTS, GATHER_FILE_NOT_FOUND (there is no such folder),
 * GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. A file that is replaced keeps its permissions, and a link to it stays. Memory: freed by
 * commit or abort. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_create_bytes(const char *path, bool replace, int64_t bytes,
                                                                   gather_writer **writer, gather_error *error);
/* The same for elements that come one part after another, by gather_writer_append: no memory is taken for them, so that there may be
 * more than fit, and a descriptor gets each part at once. gather_writer_data gives NULL. window_bytes: of what was appended to a
 * file at most about so much waits in memory for the disk; 0 = that is the system's matter. Also returns GATHER_UNSUPPORTED for
 * strings, and GATHER_USAGE for a negative window. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_create_parts(const gather_writing *what, int64_t window_bytes,
                                                                   gather_writer **writer, gather_error *error);
/* Writes the next `bytes` bytes of the elements, whole elements each time; they may be turned to the file's byte order where they
 * are. gather_writer_commit returns GATHER_USAGE where some are missing. Returns GATHER_USAGE (a writer of another kind, more than
 * there are, a part of an element), GATHER_IO_ERROR; after that one the writer can only be aborted. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_append(gather_writer *writer, void *elements, int64_t bytes,
                                                             gather_error *error);
/* Says whether gather_writer_create would accept the target and the type, and makes nothing. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_check(const gather_writing *what, gather_error *error);
/* Where the elements go: gather_type_bytes() bytes, row-major, all zero. NULL where there are none. Since 0.1. */
GATHER_API void *gather_writer_data(gather_writer *writer);
/* The temporary file's name, for a program that must remove it in a signal handler; "" where there is none. Since 0.1. */
GATHER_API const char *gather_writer_temporary(const gather_writer *writer);
/* Makes the file appear under its name and frees the writer, also on failure (then no file stays). .raw and .pb get
 * little-endian elements whatever they were. Returns GATHER_FILE_EXISTS, GATHER_IO_ERROR. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_commit(gather_writer *writer, gather_error *error);
/* Removes the temporary file and frees the writer. NULL does nothing. Since 0.1. */
GATHER_API void gather_writer_abort(gather_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
