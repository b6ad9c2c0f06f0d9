/* SPDX-License-Identifier: MIT
 *
 * zip.h: where the members of a zip file lie. Nothing is unpacked: what is stored as it is can be used where it stands, and of the
 * rest only the names are known. Checksums are not looked at, since that would read the whole file.
 */
#ifndef GATHER_FORMAT_ZIP_H
#define GATHER_FORMAT_ZIP_H

#include "format/format.h"

/* A member, as the central directory tells of it. Offsets count from the file's first byte. */
typedef struct gather_zip_member {
  const char *name;           /* UTF-8; in the file's arena */
  int64_t entry;              /* where the directory tells of it */
  int64_t header;             /* its local header */
  int64_t data, packed_bytes; /* its bytes as they stand in the file, which has them all */
  int64_t unpacked_bytes;     /* what they would be; not checked */
  int method;                 /* GATHER_ZIP_STORED, or how they are packed */
  bool encrypted;
  const uint8_t *raw_name;        /* as it stands in the file */
  int64_t raw_name_bytes, number; /* number: in the directory */
  bool is_utf8;
} gather_zip_member;

enum { GATHER_ZIP_STORED = 0 };

typedef struct gather_zip {
  gather_zip_member *members; /* in the order of the directory; in the file's arena */
  int64_t len;
} gather_zip;

/* Reads the directory and all local headers. Members do not overlap. */
GATHER_CHECKED gather_status gather_zip_read(gather_file *file, gather_zip *zip, gather_error *error);
/* Makes a member's name UTF-8: it is that already, or code page 437. Like Python's zipfile, it ends where a zero byte is. */
GATHER_CHECKED gather_status gather_zip_name(gather_file *file, gather_zip_member *member, gather_error *error);

#endif
