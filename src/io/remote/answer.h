/* SPDX-License-Identifier: MIT
 *
 * answer.h: what a server answers to a request, from its header lines, and what that means. Pure: no network.
 */
#ifndef GATHER_REMOTE_ANSWER_H
#define GATHER_REMOTE_ANSWER_H

#include "core/base/growing.h"
#include "gather/gather.h"

enum {
  GATHER_ANSWER_HEADER_BYTES = 65536,    /* no answer has longer headers, informational ones before it included */
  GATHER_ANSWER_LINE_BYTES = 16384 + 64, /* nor a longer line: a Location of the longest URL */
  GATHER_ANSWER_TAG = 256,
  GATHER_ANSWER_DATE = 64
};

/* All zero is an answer of which nothing has arrived. */
typedef struct gather_remote_answer {
  int32_t status;                          /* 0 before its first line */
  bool complete;                           /* its headers have ended */
  int64_t header_bytes;                    /* so far */
  const char *broken;                      /* what is wrong with its headers; NULL */
  const char *range_broken;                /* likewise with Content-Range, which means nothing but with 206 and 416 */
  bool has_length, has_range, unsatisfied; /* unsatisfied: "bytes * / size" */
  bool multipart, encoded;
  int64_t length;                         /* Content-Length */
  int64_t first, last, size;              /* Content-Range; size -1 where it is '*' */
  char etag[GATHER_ANSWER_TAG];           /* quotes and W/ included; "" */
  char last_modified[GATHER_ANSWER_DATE]; /* as sent; "" */
  int64_t retry_after;                    /* seconds; -1 unless has_retry_after */
  bool has_retry_after, has_date, retry_is_date;
  int64_t date;            /* seconds since 1970 */
  gather_growing location; /* of a redirect */
} gather_remote_answer;

/* Takes one line with or without its line break; an empty one ends the headers. Returns whether the transfer may go on: false if the
 * headers are too long or contradict each other (`broken` says how). An informational answer (1xx) is forgotten when it ends. */
bool gather_answer_line(gather_remote_answer *answer, const char *line, size_t bytes);
/* Frees it; all zero again. */
static inline void gather_answer_clear(gather_remote_answer *answer) {
  gather_growing_clear(&answer->location);
  *answer = (gather_remote_answer){0};
}
/* Seconds to wait by Retry-After, in seconds or as a date that is compared with the answer's own; -1 if it does not say. */
static inline int64_t gather_answer_wait(const gather_remote_answer *answer) {
  if (!answer->has_retry_after) return -1;
  if (!answer->retry_is_date) return answer->retry_after;
  if (!answer->has_date) return -1;
  return answer->retry_after > answer->date ? answer->retry_after - answer->date : 0;
}
/* Whether an entity tag is a strong one: one that names bytes. */
static inline bool gather_tag_is_strong(const char *tag) { return tag[0] == '"'; }

/* "Sun, 06 Nov 1994 08:49:37 GMT" in seconds since 1970; false if it is anything else (no other form has been allowed since 1997). */
bool gather_http_date(const char *text, int64_t *seconds);

/* What was asked for. */
typedef struct gather_remote_question {
  int64_t first, bytes;      /* the range; at most so many at an open */
  int64_t size;              /* of the object; -1: not known yet, this is the open */
  const char *etag;          /* of the object, weak or strong; "" */
  const char *last_modified; /* likewise */
  bool whole;                /* not a range: a document of at most `bytes` */
  int64_t whole_bytes;       /* most bytes of a file that are taken of an answer without ranges */
  bool unranged;             /* the open asked without a range, since the answer to one was of no use */
  bool tail;                 /* the open asked for the last `bytes`: `first` is not known yet */
} gather_remote_question;

typedef enum gather_remote_verdict {
  GATHER_ANSWER_ACCEPTED, /* gather_answer_span says which bytes of its body to take */
  GATHER_ANSWER_EMPTY,    /* at the open: the file has no bytes */
  GATHER_ANSWER_WHOLE,    /* at the open: the body is the file, which has at most whole_bytes if it says how many */
  GATHER_ANSWER_SMALLER,  /* at the open: the file has only answer->size bytes; ask for these */
  GATHER_ANSWER_UNRANGED, /* at the open: ask for the file without a range */
  GATHER_ANSWER_UNTAILED, /* at the open: the server does not serve the last bytes: ask for the first ones */
  GATHER_ANSWER_REDIRECT, /* location says where */
  GATHER_ANSWER_BUSY,     /* 429, 503: fewer requests, later */
  GATHER_ANSWER_AGAIN,    /* a failure that may pass */
  GATHER_ANSWER_DOUBTFUL, /* an answer that no good server gives: tried again less often */
  GATHER_ANSWER_DENIED,   /* 400, 401, 403: also said of signed addresses that have expired */
  GATHER_ANSWER_MISSING,  /* 404, 410 */
  GATHER_ANSWER_CHANGED,  /* another version than at the open */
  GATHER_ANSWER_REFUSED   /* anything else: final */
} gather_remote_verdict;

enum { GATHER_ANSWER_WHY = 240 };
/* Judges an answer whose headers are complete. why: receives a sentence for all but ACCEPTED, EMPTY, WHOLE and REDIRECT. */
gather_remote_verdict gather_answer_judge(const gather_remote_answer *answer, const gather_remote_question *question,
                                          char why[GATHER_ANSWER_WHY]);

/* Of the body of an ACCEPTED answer to a range: the bytes before those asked for, and how many of these follow, at least 1. Fewer than
 * asked for: the rest is to be asked for. */
static inline void gather_answer_span(const gather_remote_answer *answer, const gather_remote_question *question, int64_t *skip,
                                      int64_t *bytes) {
  const bool whole = answer->status == 200;
  const int64_t end = question->first + question->bytes;
  *skip = question->first - (whole ? 0 : answer->first);
  *bytes = (whole || answer->last >= end ? end : answer->last + 1) - question->first;
}

#endif
