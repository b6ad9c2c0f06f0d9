/* SPDX-License-Identifier: MIT
 *
 * answer.c: reads the header lines of an answer, and judges it. An answer counts only if it has the first of the bytes that were asked
 * for, of the version that was opened.
 *
 * A server may send anything: what is not understood is ignored where that is harmless, and contradictions end the transfer. What it may do
 * by RFC 9110: ignore a Range (14.2: 200 with the whole file), send less than asked for (15.3.7), not know the length of the file (14.4:
 * "/" "*"), and refuse a range (15.5.17: 416, best with the length).
 */
#include "io/remote/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers, ranges and dates */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* A number of at most 18 digits at *at, which moves behind it. */
static bool take_number(const char **at, int64_t *number) {
  int64_t value = 0;
  int digits = 0;
  for (; **at >= '0' && **at <= '9'; (*at)++, digits++) {
    if (digits == 18) return false;
    value = value * 10 + (**at - '0');
  }
  *number = value;
  return digits > 0;
}

static bool take_char(const char **at, char c) {
  if (**at != c) return false;
  (*at)++;
  return true;
}

/* "bytes 0-99/1000", "bytes 0-99/" "*", "bytes *" "/1000"; false if it is anything else. */
static bool content_range(const char *text, gather_remote_answer *answer) {
  int64_t first = 0, last = 0, size = -1;
  for (const char *unit = "bytes"; *unit; unit++, text++)
    if (lower(*text) != *unit) return false;
  if (!take_char(&text, ' ')) return false;
  while (take_char(&text, ' ')) {
  }
  bool unsatisfied = take_char(&text, '*');
  if (!unsatisfied && !(take_number(&text, &first) && take_char(&text, '-') && take_number(&text, &last))) return false;
  if (!take_char(&text, '/')) return false;
  if (unsatisfied || !take_char(&text, '*'))
    if (!take_number(&text, &size)) return false;
  if (*text || (!unsatisfied && (first > last || (size >= 0 && last >= size)))) return false;
  answer->unsatisfied = unsatisfied;
  answer->first = first, answer->last = last, answer->size = size;
  return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar: years are counted from March, so that the leap day is the last. */
static int64_t days_before(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  int64_t era = year / 400, of_era = year - era * 400;
  int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* `digits` digits at *at. */
static int64_t digits_at(const char **at, int digits) {
  int64_t value = 0;
  for (; digits > 0; digits--, (*at)++) {
    if (**at < '0' || **at > '9') return -1;
    value = value * 10 + (**at - '0');
  }
  return value;
}

bool gather_http_date(const char *text, int64_t *seconds) {
  static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  size_t length = strlen(text);
  if (length != 29 || text[3] != ',' || text[4] != ' ' || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' || text[19] != ':' ||
      text[22] != ':' || strcmp(text + 25, " GMT") != 0)
    return false;
  int64_t month = 0;
  for (int64_t m = 0; m < 12; m++)
    if (memcmp(text + 8, MONTHS + 3 * m, 3) == 0) month = m + 1;
  const char *day_at = text + 5, *year_at = text + 12, *hour_at = text + 17, *minute_at = text + 20, *second_at = text + 23;
  int64_t day = digits_at(&day_at, 2), year = digits_at(&year_at, 4), hour = digits_at(&hour_at, 2);
  int64_t minute = digits_at(&minute_at, 2), second = digits_at(&second_at, 2);
  if (month == 0 || day < 1 || day > 31 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return false;
  *seconds = ((days_before(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  return true;
}

static bool broken(gather_remote_answer *answer, const char *why) {
  answer->broken = why;
  return false;
}

/* ---- one function for each header that counts; value: without blanks at its ends, terminated */

static bool take_length(gather_remote_answer *answer, const char *value) {
  int64_t length;
  if (!take_number(&value, &length) || *value) return broken(answer, "its Content-Length is not a number");
  if (answer->has_length && answer->length != length) return broken(answer, "it has two different Content-Length headers");
  answer->has_length = true;
  answer->length = length;
  return true;
}

static bool take_range(gather_remote_answer *answer, const char *value) {
  const bool second = answer->range_broken || answer->has_range;
  answer->has_range = !second && content_range(value, answer);
  if (!answer->has_range) answer->range_broken = second ? "it has two Content-Range headers" : "its Content-Range is malformed";
  return true;
}

static bool take_type(gather_remote_answer *answer, const char *value) {
  char start[20] = "";
  for (size_t i = 0; value[i] && i + 1 < sizeof start; i++) start[i] = lower(value[i]);
  if (strncmp(start, "multipart/", 10) == 0) answer->multipart = true;
  return true;
}

static bool take_encoding(gather_remote_answer *answer, const char *value) {
  answer->encoded = answer->encoded || (*value && strcmp(value, "identity") != 0);
  return true;
}

/* A tag of another form, or a longer one, is as none: nothing is assumed about it. */
static bool take_tag(gather_remote_answer *answer, const char *value) {
  size_t length = strlen(value), start = strncmp(value, "W/", 2) == 0 ? 2 : 0;
  bool good = length >= start + 2 && length < sizeof answer->etag && value[start] == '"' && value[length - 1] == '"';
  for (size_t i = 0; i < length && good; i++) {
    unsigned char c = (unsigned char)value[i];
    good = c > 0x20 && c < 0x7f && (c != '"' || i == start || i == length - 1);
  }
  if (good) (void)snprintf(answer->etag, sizeof answer->etag, "%s", value);
  return true;
}

static bool take_modified(gather_remote_answer *answer, const char *value) {
  int64_t seconds;
  if (gather_http_date(value, &seconds)) (void)snprintf(answer->last_modified, sizeof answer->last_modified, "%s", value);
  return true;
}

static bool take_date(gather_remote_answer *answer, const char *value) {
  answer->has_date = gather_http_date(value, &answer->date);
  return true;
}

static bool take_retry(gather_remote_answer *answer, const char *value) {
  const char *at = value;
  int64_t number;
  if (take_number(&at, &number) && !*at) {
    answer->has_retry_after = true;
    answer->retry_after = number;
  } else if (gather_http_date(value, &number)) {
    answer->has_retry_after = answer->retry_is_date = true;
    answer->retry_after = number;
  }
  return true;
}

static bool take_location(gather_remote_answer *answer, const char *value) {
  gather_growing_clear(&answer->location);
  gather_growing_text(&answer->location, value);
  return true;
}

static const struct {
  const char *name;
  bool (*take)(gather_remote_answer *answer, const char *value);
} HEADERS[] = {{"content-length", take_length},
               {"content-range", take_range},
               {"content-type", take_type},
               {"content-encoding", take_encoding},
               {"etag", take_tag},
               {"last-modified", take_modified},
               {"date", take_date},
               {"retry-after", take_retry},
               {"location", take_location}};

static bool take_status(gather_remote_answer *answer, const char *line) {
  int64_t header_bytes = answer->header_bytes;
  gather_answer_clear(answer);
  answer->header_bytes = header_bytes;
  const char *at = strchr(line, ' ');
  while (at && *at == ' ') at++;
  int64_t status = -1;
  if (at) status = digits_at(&at, 3);
  if (!at || status < 100 || (*at && *at != ' ')) return broken(answer, "its status is not a number of three digits");
  answer->status = (int32_t)status;
  return true;
}

static bool take_header(gather_remote_answer *answer, char *line) {
  char *colon = strchr(line, ':');
  if (!colon) return true;
  size_t length = (size_t)(colon - line);
  for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
    size_t same = 0;
    while (same < length && lower(line[same]) == HEADERS[i].name[same]) same++;
    if (same < length || HEADERS[i].name[same]) continue;
    char *value = colon + 1;
    value += strspn(value, " \t");
    char *end = value + strlen(value);
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) *--end = '\0';
    return HEADERS[i].take(answer, value);
  }
  return true;
}

bool gather_answer_line(gather_remote_answer *answer, const char *line, size_t bytes) {
  char text[GATHER_ANSWER_LINE_BYTES + 1];
  if (answer->broken) return false;
  if (bytes > (size_t)(GATHER_ANSWER_HEADER_BYTES - answer->header_bytes)) return broken(answer, "its headers have more than 64 KiB");
  answer->header_bytes += (int64_t)bytes;
  if (answer->complete) return true; /* trailers after a body in chunks */
  while (bytes > 0 && (line[bytes - 1] == '\n' || line[bytes - 1] == '\r')) bytes--;
  if (memchr(line, '\0', bytes)) return broken(answer, "its headers contain a zero byte");
  if (bytes > GATHER_ANSWER_LINE_BYTES) return broken(answer, "a header has more than 16 KiB");
  memcpy(text, line, bytes);
  text[bytes] = '\0';
  if (strncmp(text, "HTTP/", 5) == 0) return take_status(answer, text);
  if (bytes > 0) return take_header(answer, text);
  answer->complete = answer->status >= 200;
  return true;
}

/* ---- judging */

GATHER_PRINTF(3, 4)
static gather_remote_verdict say(char *why, gather_remote_verdict verdict, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(why, GATHER_ANSWER_WHY, format, arguments);
  va_end(arguments);
  return verdict;
}

/* Tags are compared where both sides have one: a weak one that differs names another content too. */
static bool is_tag_changed(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  bool tags = answer->etag[0] && question->etag[0];
  if (tags && strcmp(answer->etag, question->etag) != 0) {
    (void)say(why, GATHER_ANSWER_CHANGED, "the file changed while it was read: its ETag was %.60s and is %.60s", question->etag,
              answer->etag);
    return true;
  }
  if (!tags && !gather_tag_is_strong(question->etag) && answer->last_modified[0] && question->last_modified[0] &&
      strcmp(answer->last_modified, question->last_modified) != 0) {
    (void)say(why, GATHER_ANSWER_CHANGED, "the file changed while it was read: it was last modified %s, now %s", question->last_modified,
              answer->last_modified);
    return true;
  }
  return false;
}

static bool is_changed(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  if (question->size < 0) return false;
  if (is_tag_changed(answer, question, why)) return true;
  /* In a 200 the length of the body is that of the file, unless it is encoded; Content-Range means nothing there. */
  const bool whole = answer->status == 200;
  const int64_t size = !whole ? (answer->has_range ? answer->size : -1) : answer->has_length ? answer->length : -1;
  if (size >= 0 && size != question->size && !(whole && answer->encoded)) {
    (void)say(why, GATHER_ANSWER_CHANGED, "the file changed while it was read: it had %" PRId64 " bytes and has %" PRId64, question->size,
              size);
    return true;
  }
  return false;
}

/* The last bytes of a file: all that were asked for, since what is missing of them would be at their beginning. */
static gather_remote_verdict judge_tail(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  const bool good = !answer->multipart && !answer->encoded && !answer->range_broken && answer->has_range && !answer->unsatisfied;
  const int64_t first = good && answer->size > question->bytes ? answer->size - question->bytes : 0;
  if (good && answer->size > 0 && answer->first == first && answer->last == answer->size - 1 &&
      (!answer->has_length || answer->length == answer->size - first))
    return GATHER_ANSWER_ACCEPTED;
  return say(why, GATHER_ANSWER_UNTAILED, "the server does not serve the last bytes of a file");
}

static gather_remote_verdict judge_range(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  int64_t last = question->first + question->bytes - 1;
  if (question->tail) return judge_tail(answer, question, why);
  if (question->unranged || question->whole)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the server answered 206 to a request without a range");
  if (answer->multipart) return say(why, GATHER_ANSWER_DOUBTFUL, "the server answered one range with several parts");
  if (answer->encoded) return say(why, GATHER_ANSWER_DOUBTFUL, "the server compressed the answer, although the request forbids it");
  if (answer->range_broken) return say(why, GATHER_ANSWER_DOUBTFUL, "the answer is malformed: %s", answer->range_broken);
  if (!answer->has_range || answer->unsatisfied) return say(why, GATHER_ANSWER_DOUBTFUL, "the server answered 206 without a Content-Range");
  if (question->size < 0) {
    if (answer->size < 0)
      return say(why, question->whole_bytes > 0 ? GATHER_ANSWER_UNRANGED : GATHER_ANSWER_REFUSED,
                 "the server does not report the size of the file");
    if (last > answer->size - 1) last = answer->size - 1;
  }
  if (is_changed(answer, question, why)) return GATHER_ANSWER_CHANGED;
  if (answer->first != question->first || answer->last > last)
    return say(why, GATHER_ANSWER_DOUBTFUL,
               "status 206: the server sent bytes %" PRId64 "-%" PRId64 ", not the requested %" PRId64 "-%" PRId64, answer->first,
               answer->last, question->first, last);
  if (answer->has_length && answer->length != answer->last - answer->first + 1)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the answer has %" PRId64 " bytes; its range is of %" PRId64, answer->length,
               answer->last - answer->first + 1);
  return GATHER_ANSWER_ACCEPTED;
}

static gather_remote_verdict say_too_large(int64_t size, int64_t most, char *why) {
  char bytes[48] = "";
  if (size >= 0) (void)snprintf(bytes, sizeof bytes, " of %" PRId64 " bytes", size);
  return say(why, GATHER_ANSWER_REFUSED,
             "the server does not serve ranges: it answered 200 with the whole file%s, which was not downloaded; the "
             "option whole (--whole) allows %" PRId64 " bytes",
             bytes, most);
}

static gather_remote_verdict judge_whole(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  if (question->whole) {
    if (answer->encoded) return say(why, GATHER_ANSWER_DOUBTFUL, "the server compressed the answer, although the request forbids it");
    if (!answer->has_length || answer->length <= question->bytes) return GATHER_ANSWER_ACCEPTED;
    return say(why, GATHER_ANSWER_REFUSED, "the document has %" PRId64 " bytes, more than the %" PRId64 " that are read", answer->length,
               question->bytes);
  }
  if (question->size < 0 && answer->has_length && answer->length == 0) return GATHER_ANSWER_EMPTY;
  const int64_t needed = question->size < 0 ? 0 : question->first + question->bytes;
  if ((answer->has_length && answer->length > question->whole_bytes) || needed > question->whole_bytes || question->whole_bytes == 0)
    return question->size < 0 || !is_tag_changed(answer, question, why)
               ? say_too_large(answer->has_length ? answer->length : question->size, question->whole_bytes, why)
               : GATHER_ANSWER_CHANGED;
  if (answer->encoded) return say(why, GATHER_ANSWER_DOUBTFUL, "the server compressed the answer, although the request forbids it");
  if (is_changed(answer, question, why)) return GATHER_ANSWER_CHANGED;
  return question->size < 0 ? GATHER_ANSWER_WHOLE : GATHER_ANSWER_ACCEPTED;
}

static gather_remote_verdict judge_unsatisfied(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  const bool says_size = answer->has_range && answer->unsatisfied, opens = question->size < 0 && question->first == 0;
  if (opens && says_size && answer->size == 0) return GATHER_ANSWER_EMPTY;
  if (opens && says_size && answer->size < question->bytes && !question->unranged)
    return say(why, GATHER_ANSWER_SMALLER, "the server answered 416: the file has only %" PRId64 " bytes", answer->size);
  if (opens && !says_size && !question->unranged && question->whole_bytes > 0)
    return say(why, GATHER_ANSWER_UNRANGED, "the server answered 416 to the beginning of the file");
  if (is_changed(answer, question, why)) return GATHER_ANSWER_CHANGED;
  return say(why, GATHER_ANSWER_REFUSED, "the server answered 416: it has no such range");
}

static gather_remote_verdict judge(const gather_remote_answer *answer, const gather_remote_question *question, char *why) {
  if (answer->broken) return say(why, GATHER_ANSWER_DOUBTFUL, "the answer is malformed: %s", answer->broken);
  switch (answer->status) {
    case 200:
      return judge_whole(answer, question, why);
    case 206:
      return judge_range(answer, question, why);
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      if (answer->location.failed) return say(why, GATHER_ANSWER_AGAIN, "out of memory for a redirect");
      return answer->location.bytes ? GATHER_ANSWER_REDIRECT
                                    : say(why, GATHER_ANSWER_DOUBTFUL, "status %d without a Location", (int)answer->status);
    case 400:
      return say(why, GATHER_ANSWER_DENIED, "status 400");
    case 401:
      return say(why, GATHER_ANSWER_DENIED, "status 401: the server asks for other credentials");
    case 403:
      return say(why, GATHER_ANSWER_DENIED, "status 403: the server denies access");
    case 404:
    case 410:
      return say(why, GATHER_ANSWER_MISSING, "status %d: no such file on the server", (int)answer->status);
    case 412:
      return say(why, GATHER_ANSWER_CHANGED, "the file changed while it was read: status 412 (If-Match)");
    case 416:
      return judge_unsatisfied(answer, question, why);
    case 429:
    case 503:
      return say(why, GATHER_ANSWER_BUSY, "status %d: too many requests for the server", (int)answer->status);
    case 408:
    case 425:
    case 500:
    case 502:
    case 504:
      return say(why, GATHER_ANSWER_AGAIN, "status %d", (int)answer->status);
    default:
      return say(why, GATHER_ANSWER_REFUSED, "status %d", (int)answer->status);
  }
}

/* Servers need not serve the last bytes of a file (RFC 9110, 14.2), and some refuse to with statuses that say something else. */
static bool may_refuse_tail(const gather_remote_answer *answer, gather_remote_verdict verdict) {
  return verdict == GATHER_ANSWER_REFUSED || verdict == GATHER_ANSWER_SMALLER || verdict == GATHER_ANSWER_UNRANGED ||
         (verdict == GATHER_ANSWER_DENIED && answer->status == 400);
}

gather_remote_verdict gather_answer_judge(const gather_remote_answer *answer, const gather_remote_question *question,
                                          char why[GATHER_ANSWER_WHY]) {
  why[0] = '\0';
  const gather_remote_verdict verdict = judge(answer, question, why);
  if (!question->tail || !may_refuse_tail(answer, verdict)) return verdict;
  return say(why, GATHER_ANSWER_UNTAILED, "the server does not serve the last bytes of a file");
}
