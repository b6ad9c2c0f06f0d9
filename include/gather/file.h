/* SPDX-License-Identifier: MIT
 *
 * file.h: tensors in files. Files are mapped, not read: opening a 100 GB file reads only its header. Since 0.1.
 *
 *   Reads    .npy (all versions, either byte order, Fortran order, every dtype of fixed size), stored members of .npz, raw bytes,
 *            safetensors (sharded ones by their index), GGUF (split ones by any of their files), Arrow IPC files, streams and Feather 2,
 *            compressed ones too, datasets of HDF5, in chunks too, arrays of Zarr stores (directories, and zip files of stored members),
 *            ONNX TensorProto (.pb), and the tensors in ONNX models and OpenVINO IR (.xml with its .bin). Pickled objects are not supported
 *            (GATHER_UNSUPPORTED). No length in a file is trusted. For the gather nodes of models see model.h, for tables larger than
 *            memory table.h.
 *   Writes   .npy, raw bytes, safetensors and ONNX TensorProto.
 *   Links    External data of a model (the .bin, too) is opened by its name in the folder of the model. A name that leaves the folder
 *            (absolute, or with "..") is GATHER_FILE_MALFORMED. Symbolic links in the folder are followed, also out of it, because model
 *            hubs store files this way. So anyone who can create links in the folder chooses which files are read as tensors. For a folder
 *            of unknown origin (an unpacked archive, a shared directory) set gather_file_source.no_links: tensors behind links then have no
 *            elements (GATHER_IO_ERROR). The path of the model itself may always be a link. The metadata and chunks of a Zarr store are
 *            files in its directory. With no_links those behind links are not read.
 *   Missing  If external data is missing or too short, the model still opens. gather_file_tensor_check returns the reason for each tensor
 *            without elements.
 *   Remote   With gather_file_source.remote (docs/use/urls.md) a name may be a URL. Opening one reads only its header, in one or two
 *            requests if the format allows it. Its tensors have no data (gather_file_is_remote) until gather_file_find_whole downloads
 *            them. Tensors of models up to 16 KiB (64 MiB in all) are loaded. External data and shards are expected beside the URL, on its
 *            host. The header and other metadata of a file take at most 256 MiB and 16384 requests, a download at most download_bytes.
 *            Beyond these limits: GATHER_UNSUPPORTED. Failures of a server or a network are GATHER_IO_ERROR or GATHER_FILE_NOT_FOUND. The
 *            message has the URL without user and query.
 *   Signals  If another program changes a mapped file, the tensors show the change. If it truncates the file, SIGBUS ends the program that
 *            reads behind the new end, as with every mapping. A program with a limit on file sizes (ulimit -f) should ignore SIGXFSZ. Then
 *            exceeding the limit is GATHER_IO_ERROR, and does not end the program.
 */
#ifndef GATHER_FILE_H
#define GATHER_FILE_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* An open file. It owns the mapping and all views of it. Several threads may read one file. */
typedef struct gather_file gather_file;

/* Why a tensor's elements cannot be read. */
typedef struct gather_unreadable gather_unreadable;

/* One tensor of a file. All pointers are valid until the file is closed. */
typedef struct gather_file_tensor {
  /* "" in .npy and raw files. In models the name of the value, in subgraphs after the path of the graph ("if_3/then_branch/w"). In HDF5
   * files and Zarr stores the path without the first slash ("group/rows"). */
  const char *name;
  gather_tensor tensor; /* a read-only view of the mapping; GATHER_TYPE_OPAQUE for a type that type.def does not have */
  /* The npy descr, a Python literal in UTF-8 ("'<f4'", "[('a', '<i4')]"): unchanged from an npy file, or from raw bytes opened with the
   * descr of an opaque type. It is made for opaque elements that .npy can store as bytes ("'|V18'": blocks of GGUF). NULL for others. */
  const char *descr;
  /* The type for texts and JSON: the canonical name; for opaque types the format's own name ("Q4_0"), or the descr (a simple one without
   * quotes). */
  const char *type_name;
  int64_t offset; /* of the first byte in the file with the elements (external data: in that file) */
  int64_t bytes;  /* size of the elements in memory */
  /* Not NULL: the file is valid, but the external data with the elements is missing or too short. Then tensor.data is NULL, and
   * gather_file_tensor_check returns the reason. */
  const gather_unreadable *unreadable;
} gather_file_tensor;

/* The type and shape of raw bytes. */
typedef struct gather_raw {
  const char *type; /* a type's name, or an npy descr with its byte order (">f4", "|S5", "<U3", "|V12") */
  int32_t rank;
  const int64_t *shape;
  int64_t offset; /* of the first element in the file, in bytes */
  bool as_is;     /* even if the content is recognised as another format; its header is then data */
} gather_raw;

/* The file to open, and the options. Initialise with GATHER_FILE_SOURCE_INIT, then set `path` or `memory`:
 *
 *     gather_file_source source = GATHER_FILE_SOURCE_INIT;
 *     source.path = "x.npy";
 *     gather_status status = gather_file_open(&source, &file, &error);
 */
typedef struct gather_file_source {
  size_t size;        /* sizeof(gather_file_source) */
  const char *path;   /* a file; with `remote` also a URL */
  const void *memory; /* or a file's content: `bytes` bytes, which must outlive the gather_file, except those of text */
  size_t bytes;
  const char *name; /* of the memory, for messages; NULL = "memory" */
  /* Not NULL: raw bytes of this type and shape. Little-endian unless the descr says otherwise. Bytes after the tensor are allowed. A file
   * that is too short is GATHER_FILE_MALFORMED. Strings cannot be raw (GATHER_UNSUPPORTED). GATHER_USAGE: an unknown type, or a file that
   * is recognised as another format (one that this library reads, or that it knows by at least 4 bytes), unless raw->as_is. */
  const gather_raw *raw;
  bool text; /* the file is text of whole numbers, as below, whatever its content looks like */
  /* The column of a text to read. Not NULL: a file that looks like text (gather_file_is_text) is read as text, even without `text`. */
  const char *text_column;
  bool no_links; /* do not open external data through symbolic links; remote files have none */
  /* Names that are URLs are read over the network (remote.h). NULL: every name is that of a local file. */
  const struct gather_remote_options *remote;
  /* The most bytes that one call downloads (a tensor by gather_file_find_whole, or a text) or decodes (a tensor in chunks). 0 = 1 GiB. */
  int64_t download_bytes;
} gather_file_source;

#define GATHER_FILE_SOURCE_INIT \
  { sizeof(gather_file_source), NULL, NULL, 0, NULL, NULL, false, NULL, false, NULL, 0 }

/* Opens a file, and detects its format from the content unless `raw` or `text` gives it. Memory: freed by gather_file_close.
 * Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR, GATHER_FILE_MALFORMED (with file and offset), GATHER_UNSUPPORTED (an
 * unknown format, or an unsupported feature of a known one), GATHER_OUT_OF_MEMORY, GATHER_USAGE (an invalid source, such as one without
 * path and memory, or with both).
 *
 * Text is whole numbers, such as indices: the result is one int64 tensor of rank 1, in memory. The text is UTF-8, with or without a
 * byte-order mark. Lines end with LF or CRLF.
 *
 * text_column NULL or "": numbers are separated by white space or by one comma. A '#' after white space starts a comment up to the end of
 *   the line, unless a digit follows. One header line is allowed before the numbers: one word of at least two letters (and _ - .) that
 *   does not mean a missing value (nan, null, NA ...).
 * text_column "NAME": that column of a table. The first line has the column names, matched exactly. The separator is the tab if the first
 *   line has one, else the comma, else the semicolon. Fields may be quoted (RFC 4180; with tabs, a quoted field ends on its line). Spaces
 *   around unquoted fields and empty lines are ignored. Every record has as many fields as the first.
 * text_column "#N": column number N, from 0, of a table without a header.
 * text_column "N", digits only: the same, but GATHER_FILE_MALFORMED if a field of the first line is N, because that may be a header. Write
 *   "#N" for the number or "\"N\"" (in quotes) for the name.
 *
 * With `text`, a path is read a block at a time, so it may also name a pipe. The text of a URL is downloaded, at most download_bytes of it
 * (else GATHER_UNSUPPORTED). Text also returns GATHER_FILE_MALFORMED with the line, the column and the byte (anything but a whole number
 * that fits int64, such as an empty field), GATHER_NAME_NOT_FOUND (no such column, or several; lists the columns), GATHER_UNSUPPORTED
 * (UTF-16, UTF-32). */
GATHER_API GATHER_CHECKED gather_status gather_file_open(const gather_file_source *source, gather_file **file, gather_error *error);

/* Splits FILE:TENSOR as tables and the command do. A local file of the whole name takes precedence. Otherwise FILE ends at the first colon
 * behind an existing file. A URL (with `urls`, else every path is local) is split without asking a server. FILE ends at the first colon
 * directly behind an extension such as .npy or .onnx. Without one, it ends at the first colon behind the last slash, unless the URL itself
 * ends in such an extension. The query of http and https URLs is never split: it follows TENSOR, and belongs to FILE. s3:// and hf:// have
 * none.
 * file: room for strlen(path) + 1 bytes. It receives FILE, a zero byte and TENSOR. *name points at TENSOR there. NULL = there is no colon
 * to split at, and FILE is the whole path. Returns GATHER_IO_ERROR and similar if the system cannot report whether a file exists. Threads:
 * any. Since 0.3. */
GATHER_API GATHER_CHECKED gather_status gather_file_split(const char *path, bool urls, char *file, const char **name, gather_error *error);

/* Whether the start of a file is probably text for gather_file_open. head: its first bytes, a few thousand if the file has
 * them. */
GATHER_API bool gather_file_is_text(const void *head, size_t bytes);

/* The name of the format ("npy", "raw"; of text "text" or "csv"). */
GATHER_API const char *gather_file_format(const gather_file *file);
/* Its name: the path as it was given. A URL is without user, query and fragment, which may be secrets. Since 0.2. */
GATHER_API const char *gather_file_name(const gather_file *file);
/* How many tensors the file has. */
GATHER_API int64_t gather_file_len(const gather_file *file);
/* Tensor number i, 0 <= i < gather_file_len, or NULL otherwise. */
GATHER_API const gather_file_tensor *gather_file_at(const gather_file *file, int64_t i);
/* The tensor of a name, matched exactly. In HDF5 files, any path to it is a name. NULL or "" is the only tensor of a file with one. Returns
 * GATHER_NAME_NOT_FOUND with the nearest names, or with the number of tensors. In HDF5 files also GATHER_UNSUPPORTED (the path leads to
 * another file, or through more than 16 soft links), and the error if a group on the path cannot be read. */
GATHER_API GATHER_CHECKED gather_status gather_file_find(const gather_file *file, const char *name, const gather_file_tensor **tensor,
                                                         gather_error *error);
/* The same. If the tensor has several parts (a column in several record batches of an Arrow file), it is a copy of all parts, in
 * memory that the file owns. Also returns GATHER_OUT_OF_MEMORY, GATHER_OVERFLOW, and the errors of gather_file_tensor_check for a
 * part. Not thread-safe: it changes the file. */
GATHER_API GATHER_CHECKED gather_status gather_file_find_whole(gather_file *file, const char *name, const gather_file_tensor **tensor,
                                                               gather_error *error);
/* Checks that the elements of a tensor can be read. Else returns the reason: GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR or
 * GATHER_OVERFLOW (the external data cannot be mapped), GATHER_FILE_MALFORMED (it is too short), GATHER_UNSUPPORTED (external data of
 * a file from memory). */
GATHER_API GATHER_CHECKED gather_status gather_file_tensor_check(const gather_file_tensor *tensor, gather_error *error);
/* Whether a tensor's elements are in a remote file, and not loaded: tensor.data is NULL, gather_file_tensor_check returns
 * GATHER_UNSUPPORTED, and gather_file_find_whole downloads them. A table reads rows of it. Since 0.2. */
GATHER_API bool gather_file_is_remote(const gather_file_tensor *tensor);
/* How the elements of a tensor are stored in chunks. Since 0.3. */
typedef struct gather_file_chunks_info {
  int32_t rank;
  const int64_t *shape; /* of a chunk; valid until the file is closed */
  int64_t count;        /* of chunks */
  int64_t across;       /* how many chunks a row along axis 0 spans */
  int64_t stored_bytes; /* of all chunks; -1 = not known without reading much */
  char filters[160];    /* "deflate after shuffle"; "no filter" */
} gather_file_chunks_info;

/* Whether a tensor is stored in chunks (HDF5, zarr, compressed Arrow), and how. info may be NULL. Then tensor.data is NULL, and
 * gather_file_tensor_check returns GATHER_UNSUPPORTED. gather_file_find_whole decodes all of it, a table the requested rows. Reads the
 * index of the chunks. Threads: any. Since 0.3. */
GATHER_API bool gather_file_chunks(const gather_file_tensor *tensor, gather_file_chunks_info *info);
/* Whether an open file reads the file that is now at `path`, by device and inode, whatever its names: the file itself, or an opened file
 * with its shards or external data. For a program that must not overwrite its input. False for a NULL file or path, a path that does not
 * exist, files in memory and remote files. Threads: any. Since 0.3. */
GATHER_API bool gather_file_reads(const gather_file *file, const char *path);
/* Why part number i of a split model (GGUF) could not be opened, 0 <= i < the number of those parts. `why` may be NULL. The tensors of the
 * part are not among those of the file. Returns false for any other i. Threads: any. Since 0.3. */
GATHER_API bool gather_file_missing_at(const gather_file *file, int64_t i, gather_error *why);
/* Closes a file. All views of it become invalid. NULL does nothing. */
GATHER_API void gather_file_close(gather_file *file);

/* A format of files. Static memory. */
typedef struct gather_format_info {
  const char *name;       /* "npy" */
  const char *abilities;  /* what this build can do with it: "read write", "read", "write" */
  const char *extensions; /* ".npy"; ".bin .raw"; "" */
} gather_format_info;

/* Format number i, or NULL after the last. */
GATHER_API const gather_format_info *gather_format_at(size_t i);

/* ---- names on a terminal ---------------------------------------------------------------------------------------------- */

/* Makes a name from a file (or a message that contains one) safe to print. Control characters (C0, DEL, C1), line and paragraph separators,
 * and bidirectional control characters (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) become escapes such as \x1b or \u202e.
 * Bytes that are not UTF-8 become escapes such as \xff. visible: room for `bytes` bytes, at least 1. The text is truncated between two
 * characters. Returns the length without truncation, without the terminating zero byte. visible and text must not overlap.
 * Threads: any. */
GATHER_API size_t gather_text_visible(const char *text, char *visible, size_t bytes);
/* Writes an amount of memory as text ("1 byte", "64.00 KiB", "250 MiB"). text: room for `bytes` bytes, of which 32 are enough.
 * Returns text. Threads: any. */
GATHER_API char *gather_text_bytes(int64_t amount, char *text, size_t bytes);

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* A file being written. It is written atomically: gather_writer_commit gives it its name. */
typedef struct gather_writer gather_writer;

/* A tensor to write. */
typedef struct gather_writing {
  gather_type type;
  int64_t item_bytes; /* opaque types */
  bool byte_swapped;  /* the elements will not be in the byte order of this machine, as GATHER_TENSOR_BYTE_SWAPPED */
  const char *descr;  /* npy: the descr to write, as gather_file_tensor.descr; NULL = that of the type */
  const char *name;   /* if the format has names: TensorProto (NULL = ""), safetensors (NULL or "" = "data") */
  int32_t rank;
  const int64_t *shape;
} gather_writing;

/* The tensors to write, and the file. Initialise with GATHER_FILE_TARGET_INIT:
 *
 *     gather_writing rows = {.type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = shape};
 *     gather_file_target target = GATHER_FILE_TARGET_INIT;
 *     target.path = "rows.npy";
 *     target.tensors = &rows;
 *     gather_status status = gather_writer_create(&target, &writer, &error);
 */
typedef struct gather_file_target {
  size_t size;        /* sizeof(gather_file_target) */
  const char *path;   /* NULL = write to the descriptor `fd`: on commit, or with `parts` each part at once */
  int fd;             /* used if path is NULL; remains open */
  const char *format; /* "npy", "raw", "pb", "safetensors"; NULL = by the extension of path */
  bool replace;       /* replace an existing file */
  /* gather_writer_commit returns once the system has the bytes, and does not wait until the file is on the disk. After a power failure the
   * file may be missing, empty or incomplete, and the replaced file may be lost. A descriptor is never synced. */
  bool no_sync;
  /* `count` tensors. Several need a format that holds several (safetensors), a name each, and no strings. NULL: the file is `bytes` plain
   * bytes (-1 = not given), such as a picture or a report, whatever its name. */
  const gather_writing *tensors;
  int64_t count;
  int64_t bytes;
  /* The elements of the one tensor, or the plain bytes, are appended in blocks, by gather_writer_append. They are not kept in memory, so
   * they may exceed it. Not for strings. window_bytes: about how much appended data may wait in memory for the disk; 0 = the system
   * decides. */
  bool parts;
  int64_t window_bytes;
  /* The elements begin at a multiple of this many bytes in the file: a power of two, such as 4096, the block of most disks. Then a row
   * whose length divides the block, or is a multiple of it, is in as few blocks as possible. 0 = where the format puts them. The headers of
   * npy (at most 8192: NumPy rejects longer ones) and safetensors (one tensor) are padded with spaces. Raw files have no header. Other
   * formats return GATHER_UNSUPPORTED. */
  int64_t align_bytes;
} gather_file_target;

#define GATHER_FILE_TARGET_INIT \
  { sizeof(gather_file_target), NULL, -1, NULL, false, false, NULL, 1, -1, false, 0, 0 }

/* Creates a file in the target's folder, writes its header and reserves room for all elements, so a full disk is reported here.
 * If the system supports it (Linux, most local file systems), the file has no name before gather_writer_commit, so a killed process leaves
 * nothing. Otherwise it has a temporary name. A replaced file keeps its mode and access ACL, its group if permitted (else the group gets no
 * more rights than others), and its owner if this process may set it. They are set before the first byte is written. Other extended
 * attributes are lost. A symbolic link to the file remains. Returns GATHER_FILE_EXISTS, GATHER_FILE_NOT_FOUND (no such folder),
 * GATHER_UNSUPPORTED (the format cannot store the type, the size or the number of tensors; the message lists formats that can),
 * GATHER_USAGE (an invalid target, a name given twice, an unknown extension; lists the known ones), GATHER_IO_ERROR, GATHER_OUT_OF_MEMORY.
 * Memory: freed by commit or abort. The target is copied. */
GATHER_API GATHER_CHECKED gather_status gather_writer_create(const gather_file_target *target, gather_writer **writer, gather_error *error);
/* Checks whether gather_writer_create would accept the target and the types. Creates nothing. */
GATHER_API GATHER_CHECKED gather_status gather_writer_check(const gather_file_target *target, gather_error *error);
/* The memory for the elements of tensor number i: gather_type_bytes() bytes, row-major, all zero. For a file of plain bytes: these bytes, i
 * = 0. NULL if there are none, for any other i, and with `parts`. */
GATHER_API void *gather_writer_data_at(gather_writer *writer, int64_t i);
/* Writes the next `bytes` bytes of the elements, whole elements each time. It may swap their bytes in place. If elements are missing,
 * gather_writer_commit returns GATHER_USAGE. Returns GATHER_USAGE (a writer without `parts`, too many elements, a part of an element),
 * GATHER_IO_ERROR. After an I/O error the writer can only be aborted. */
GATHER_API GATHER_CHECKED gather_status gather_writer_append(gather_writer *writer, void *elements, int64_t bytes, gather_error *error);
/* The name of the temporary file, for a program that removes it in a signal handler; "" if it has no name. */
GATHER_API const char *gather_writer_temporary(const gather_writer *writer);
/* Gives the file its name and frees the writer. The bytes are synced, then the file gets its name, then its directory is synced. Frees the
 * writer also on failure. Then there is no new file, and an old one is unchanged, unless only syncing the directory failed. A file without
 * a name that replaces another has a temporary name (".gather-*.tmp") during one rename, with the signals of the calling thread blocked. If
 * the process is killed at this moment, the file remains, and the next writer for the same target removes it. .raw, .pb and .safetensors
 * always get little-endian elements. Returns GATHER_FILE_EXISTS, GATHER_IO_ERROR. */
GATHER_API GATHER_CHECKED gather_status gather_writer_commit(gather_writer *writer, gather_error *error);
/* Removes the temporary file and frees the writer. NULL does nothing. */
GATHER_API void gather_writer_abort(gather_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
