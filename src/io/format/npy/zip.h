/* SPDX-License-Identifier: MIT
 *
 * zip.h: where the members of a zip file are. Nothing is decompressed: uncompressed members are used in place, of the
 * others only the names are known. Checksums are not verified, since that would read the whole file.
 */
#ifndef GATHER_FORMAT_ZIP_H
#define GATHER_FORMAT_ZIP_H

#include "io/format/format.h"

/* A member, as the central directory describes it. Offsets count from the file's first byte. */
typedef struct gather_zip_member {
  const char *name;           /* UTF-8; in the file's arena */
  int64_t entry;              /* its entry in the directory */
  int64_t header;             /* its local header */
  int64_t data, packed_bytes; /* its stored bytes, all within the file */
  int64_t unpacked_bytes;     /* size when decompressed; not checked */
  int method;                 /* GATHER_ZIP_STORED, or another compression method */
  bool encrypted;
  const uint8_t *raw_name;        /* as stored */
  int64_t raw_name_bytes, number; /* number: its index in the directory */
  bool is_utf8;
} gather_zip_member;

enum { GATHER_ZIP_STORED = 0 };

typedef struct gather_zip {
  gather_zip_member *members; /* in the order of the directory; in the file's arena */
  int64_t len;
} gather_zip;

/* Reads the directory and all local headers. Members do not overlap. */
GATHER_CHECKED gather_status gather_zip_read(gather_file *file, gather_zip *zip, gather_error *error);
/* Converts a member's name to UTF-8, from UTF-8 or code page 437. Like in Python's zipfile, a zero byte ends it. */
GATHER_CHECKED gather_status gather_zip_name(gather_file *file, gather_zip_member *member, gather_error *error);

#endif
