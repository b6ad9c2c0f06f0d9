/* SPDX-License-Identifier: MIT
 *
 * csv.h: the fields of a table in text: comma-separated values (RFC 4180), also with tabs or semicolons.
 */
#ifndef GATHER_FORMAT_CSV_H
#define GATHER_FORMAT_CSV_H

#include "io/format/text/text_input.h"

/* What ended a field. */
typedef enum gather_csv_end { GATHER_CSV_END_FIELD, GATHER_CSV_END_RECORD, GATHER_CSV_END_FILE } gather_csv_end;

typedef struct gather_csv {
  gather_text_input *in;
  char separator;
  /* The requested column. */
  const char *name; /* without quotes */
  size_t name_bytes;
  bool is_number, is_quoted, has_sign; /* digits only; "NAME"; #NUMBER */
  int64_t column;                      /* its number, from 0 */
  int64_t columns;                     /* of the first record */
  /* The first record. */
  char *first;
  int64_t first_bytes, first_room;
  /* The field just read. */
  gather_text_place place;
  gather_text_word word;
  gather_text_whole whole;
  bool is_whole, quoted, empty; /* is_whole: its text is a number so far */
  int match;                    /* bytes of the name that match; -1 = it differs */
  gather_csv_end ending;        /* what ended it */
} gather_csv;

#define GATHER_CSV_WRONG(csv, place, ...) \
  gather_fail_file((csv)->in->error, GATHER_FILE_MALFORMED, (csv)->in->name, (place).byte, __VA_ARGS__)
#define GATHER_CSV_REFUSE(csv, status, ...) gather_fail_file((csv)->in->error, status, (csv)->in->name, -1, __VA_ARGS__)

/* Reads a field and its end. Spaces around an unquoted field are dropped. */
GATHER_CHECKED gather_status gather_csv_read_field(gather_csv *c);
/* Whether the field just read is the name of the column. */
bool gather_csv_is_name(const gather_csv *c);
/* Skips empty lines; false at the end of the text. */
bool gather_csv_at_record(gather_text_input *in);
/* Copies the first record to c->first, which the caller frees, and counts tabs, commas and semicolons outside
 * quotes. */
GATHER_CHECKED gather_status gather_csv_read_first(gather_csv *c, int64_t counts[3]);
/* The first record as a separate text. */
gather_text_input gather_csv_first_again(const gather_csv *c, gather_text_place place);
/* Chooses c->separator from these counts. */
GATHER_CHECKED gather_status gather_csv_choose_separator(gather_csv *c, const int64_t counts[3],
                                                         gather_text_place place);

#endif
