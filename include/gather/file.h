/* SPDX-License-Identifier: MIT
 *
 * file.h: tensors in files. Files are mapped, not read: opening a 100 GB file costs its header. No length in a file is trusted.
 *
 * Reads .npy (all versions, either byte order, Fortran order, every dtype of fixed size), stored members of .npz, raw bytes, safetensors
 * (sharded ones by their index), GGUF, uncompressed Arrow IPC files and Feather 2, ONNX TensorProto (.pb), and the tensors that ONNX models
 * and OpenVINO IR (.xml with its .bin) hold; writes .npy, raw bytes and ONNX TensorProto. Pickled objects are refused (GATHER_UNSUPPORTED).
 * The gather nodes of models are the matter of model.h; rows of tables that need not fit into memory that of table.h.
 * Files that a model keeps tensors in (external data, the .bin) are found beside it by their names: a name that leaves the model's
 * folder (absolute, or with "..") is GATHER_FILE_MALFORMED. A file beside the model may be a symbolic link, which is followed, out of
 * the folder too: model hubs keep their files so. Whoever can put links into the folder thus chooses which files are read as tensors; for
 * a folder of unknown origin (an unpacked archive, a shared directory) gather_file_options.no_links refuses links: such tensors have
 * no elements (GATHER_IO_ERROR). The path of the model itself may be a link in either case. Where such a file is missing or too
 * short, the model opens all the same, and gather_file_tensor_check says which tensors have no elements.
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

/* How to open a file. Start from GATHER_FILE_OPTIONS_INIT; NULL in a call means just that. */
typedef struct gather_file_options {
  size_t size;   /* sizeof(gather_file_options): lets later versions add fields */
  bool no_links; /* other files that the file keeps tensors in are not opened through symbolic links */
} gather_file_options;

#define GATHER_FILE_OPTIONS_INIT \
  { sizeof(gather_file_options), false }

/* Opens a file and finds out its format by its content. Memory: freed by gather_file_close.
 * Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_FILE_MALFORMED (with file and offset), GATHER_UNSUPPORTED (a known
 * format that holds what we refuse; a format not known), GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_open(const char *path, gather_file **file, gather_error *error);

/* The same with options. Returns GATHER_USAGE too: options of another size. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_open_with(const char *path, const gather_file_options *options,
                                                              gather_file **file, gather_error *error);

/* The same for bytes in memory, which must outlive the file. name: for messages. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_from_memory(const void *memory, size_t bytes, const char *name,
                                                                gather_file **file, gather_error *error);

/* What raw bytes are. */
typedef struct gather_raw {
  const char *type; /* a type's name, or an npy descr with its byte order (">f4", "|S5", "<U3", "|V12") */
  int32_t rank;
  const int64_t *shape;
  int64_t offset; /* of the first element in the file, in bytes */
  bool as_is;     /* also where the content is recognised as another format, whose header is then data */
} gather_raw;

/* Opens a file as raw bytes. Little-endian unless the descr says otherwise. Bytes after the tensor are allowed, missing ones
 * are GATHER_FILE_MALFORMED. Strings cannot be raw (GATHER_UNSUPPORTED); an unknown type is GATHER_USAGE, and so is a file whose content
 * is recognised as one of another format (one that this library reads, or one that it can name by at least 4 bytes), unless raw->as_is.
 * Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_open_raw(const char *path, const gather_raw *raw,
                                                             gather_file **file, gather_error *error);
/* The same for bytes in memory. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_raw_from_memory(const void *memory, size_t bytes, const char *name,
                                                                    const gather_raw *raw, gather_file **file,
                                                                    gather_error *error);

/* Opens text of whole numbers, such as indices: a file of one int64 tensor of rank 1, which is in memory. The text is UTF-8, with or
 * without a byte-order mark; lines end with LF or CRLF.
 *
 * column NULL or "": numbers are separated by white space or by one comma. A '#' behind white space begins a comment up to the end of
 *   the line, unless a digit follows it. Before the numbers may be a header: a line of one word of letters (and _ - .), two at
 *   least, that does not stand for a missing value (nan, null, NA ...).
 * column "NAME": that column of a table. Its first line has the columns' names, matched exactly. Fields are separated by tabs where
 *   the first line has one, else by commas, else by semicolons; fields may be quoted (RFC 4180; with tabs, a quoted field ends on its
 *   line); spaces around fields that are not do not count; empty lines are passed over; every record has as many fields as the first.
 * column "#N": column number N, from 0, of a table without a header.
 * column "N", digits only: the same, but GATHER_FILE_MALFORMED where a field of the first line is just N: that may be a header, and
 *   "#N" or "\"N\"" (a name in quotes) says what is meant.
 *
 * Files are read a block at a time; path may also name a pipe. Memory: freed by gather_file_close. Returns GATHER_FILE_NOT_FOUND,
 * GATHER_IO_ERROR, GATHER_FILE_MALFORMED (with the line, the column and the byte: anything else than a whole number that fits in
 * int64, an empty field among them), GATHER_NAME_NOT_FOUND (no such column, with those there are, or several), GATHER_UNSUPPORTED
 * (UTF-16, UTF-32), GATHER_USAGE, GATHER_OUT_OF_MEMORY. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_open_text(const char *path, const char *column, gather_file **file,
                                                              gather_error *error);
/* The same for bytes in memory, which are not needed afterwards. name: for messages. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_text_from_memory(const void *memory, size_t bytes, const char *name,
                                                                     const char *column, gather_file **file,
                                                                     gather_error *error);
/* Whether the beginning of a file looks like text that gather_file_open_text is for. head: its first bytes, a few thousand if there
 * are as many. Since 0.1. */
GATHER_API bool gather_file_is_text(const void *head, size_t bytes);

/* The name of the format ("npy", "raw"; "text" and "csv" of gather_file_open_text). Since 0.1. */
GATHER_API const char *gather_file_format(const gather_file *file);
/* How many tensors it holds. Since 0.1. */
GATHER_API int64_t gather_file_len(const gather_file *file);
/* Tensor number i, 0 <= i < gather_file_len; NULL otherwise. Since 0.1. */
GATHER_API const gather_file_tensor *gather_file_at(const gather_file *file, int64_t i);
/* The tensor of that name, matched exactly. NULL or "" names the only tensor of a file that holds one. Returns
 * GATHER_NAME_NOT_FOUND with the nearest names, or how many there are to choose from. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_find(const gather_file *file, const char *name,
                                                         const gather_file_tensor **tensor, gather_error *error);
/* The same, and where the tensor is in pieces (a column in several record batches of an Arrow file), a copy of all of them together,
 * in memory that the file owns. Also returns GATHER_OUT_OF_MEMORY, GATHER_OVERFLOW, and what gather_file_tensor_check says of a piece.
 * Not thread-safe: it adds to the file. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_file_find_whole(gather_file *file, const char *name,
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

/* ---- names on a terminal ---------------------------------------------------------------------------------------------- */

/* Writes a name from a file (or a message with one in it) as it can be shown safely: control characters (C0, DEL, C1), line and
 * paragraph separators, and characters that change the direction of writing (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069) as \x1b or \u202e, and bytes that are not UTF-8 as \xff. Everything else stays. visible: room for `bytes` bytes, at least 1; what
 * does not fit is cut off between two characters. Returns the length that all of it has, without the terminating zero byte. visible and
 * text must not overlap. Threads: any. Since 0.1. */
GATHER_API size_t gather_text_visible(const char *text, char *visible, size_t bytes);
/* Writes an amount of memory as people read it ("1 byte", "64.00 KiB", "250 MiB"). text: room for `bytes` bytes, 32 are
 * enough. Returns text. Threads: any. Since 0.1. */
GATHER_API char *gather_text_bytes(int64_t amount, char *text, size_t bytes);

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* A file being written: it appears under its name whole (gather_writer_commit) or not at all. */
typedef struct gather_writer gather_writer;

/* What will be written. */
typedef struct gather_writing {
  const char *path;   /* NULL = write to descriptor `fd` on commit */
  int fd;             /* used where path is NULL; stays open */
  const char *format; /* "npy", "raw", "pb", "safetensors"; NULL = by the extension of path */
  bool replace;       /* an existing file may be replaced */
  gather_type type;
  int64_t item_bytes; /* opaque types */
  bool
      byte_swapped; /* the elements will be in the other byte order than this machine's, as GATHER_TENSOR_BYTE_SWAPPED */
  const char *descr; /* npy: the descr to keep, as gather_file_tensor.descr; NULL = the type's own */
  const char
      *name; /* of the tensor, where the format has names: TensorProto (NULL = ""), safetensors (NULL or "" = "data") */
  int32_t rank;
  const int64_t *shape;
} gather_writing;

/* Creates a file in the target's folder, with its header written and room for every element reserved, so that a full disk is
 * found here. Where the system can (Linux, most local file systems), it has no name before gather_writer_commit, so that a
 * process that is killed leaves nothing; elsewhere it has a temporary one. A file that is replaced keeps its mode and its access
 * ACL, its group where that is permitted (else the group gets no more than others), and its owner where this process may set it; they
 * are set before a byte is written. Other extended attributes are not kept. A link to it stays. Returns GATHER_FILE_EXISTS, GATHER_UNSUPPORTED (the format cannot carry the type, with the formats that
 * can; or the size), GATHER_USAGE (an extension that is not known, with those that are), GATHER_IO_ERROR,
 * GATHER_OUT_OF_MEMORY. Memory: freed by commit or abort. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_create(const gather_writing *what, gather_writer **writer,
                                                             gather_error *error);
/* The same for a file of `bytes` plain bytes, which gather_writer_data gives, zero: a picture, a report. They are written as they
 * are. Returns GATHER_USAGE (no path, a negative size), GATHER_FILE_EXISTS, GATHER_FILE_NOT_FOUND (there is no such folder),
 * GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY. Memory: freed by commit or abort. Since 0.1. */
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
/* The same for `count` tensors in one file, in a format that holds several (safetensors). path, fd, format and replace are those of
 * tensors[0]; each tensor needs a name of its own. gather_writer_data_at says where the elements of each go. Also returns
 * GATHER_UNSUPPORTED (a format of one tensor, strings) and GATHER_USAGE (no tensors, two of one name). `tensors` is not kept.
 * Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_create_many(const gather_writing *tensors, int64_t count,
                                                                  gather_writer **writer, gather_error *error);
/* Says whether gather_writer_create would accept the target and the type, and makes nothing. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_check(const gather_writing *what, gather_error *error);
/* The same for gather_writer_create_many. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_check_many(const gather_writing *tensors, int64_t count,
                                                                 gather_error *error);
/* Where the elements go: gather_type_bytes() bytes, row-major, all zero. NULL where there are none. Since 0.1. */
GATHER_API void *gather_writer_data(gather_writer *writer);
/* The same for tensor number i of gather_writer_create_many. NULL also where there is no such number. Since 0.1. */
GATHER_API void *gather_writer_data_at(gather_writer *writer, int64_t i);
/* The temporary file's name, for a program that must remove it in a signal handler; "" where it has none. Since 0.1. */
GATHER_API const char *gather_writer_temporary(const gather_writer *writer);
/* Says whether gather_writer_commit waits until the disk has the file, so that it is there whole after a power failure too: the
 * default. false: commit returns once the system has the bytes; after a power failure the file may be missing, empty or incomplete, the
 * old one too. Nothing for a descriptor, which is never synced. Since 0.1. */
GATHER_API void gather_writer_set_sync(gather_writer *writer, bool sync);
/* Makes the file appear under its name and frees the writer. The bytes are synced, then the file gets its name, then its directory is
 * synced. Also frees on failure; then no new file stays and an old one is untouched, except where only syncing the directory failed.
 * A file without a name that replaces another has a temporary name (".gather-*.tmp") for the moment of one rename, in
 * which the calling thread gets no signals; a process that is killed just then leaves it, and the next writer for the same target removes
 * it. .raw, .pb and .safetensors get little-endian elements whatever they were. Returns GATHER_FILE_EXISTS, GATHER_IO_ERROR. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_writer_commit(gather_writer *writer, gather_error *error);
/* Removes the temporary file and frees the writer. NULL does nothing. Since 0.1. */
GATHER_API void gather_writer_abort(gather_writer *writer);

/* For a program that replaces files itself: gives the open file `fd`, which it owns, the permissions of the file `path`, as
 * gather_writer_create says. Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR. Threads: any. Since 0.1. */
GATHER_API GATHER_CHECKED gather_status gather_permissions_copy(const char *path, int fd, gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
