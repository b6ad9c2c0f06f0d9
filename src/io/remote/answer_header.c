/* SPDX-License-Identifier: MIT
 *
 * answer_header.c: the header lines of an answer. A server may send anything: what is not understood is ignored where that is
 * harmless, and contradictions end the transfer.
 */
#include <stdio.h>
#include <string.h>

#include "io/remote/answer.h"

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

bool gather_content_range(const char *text, gather_remote_answer *answer) {
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
  if (length != 29 || text[3] != ',' || text[4] != ' ' || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' ||
      text[19] != ':' || text[22] != ':' || strcmp(text + 25, " GMT") != 0)
    return false;
  int64_t month = 0;
  for (int64_t m = 0; m < 12; m++)
    if (memcmp(text + 8, MONTHS + 3 * m, 3) == 0) month = m + 1;
  const char *day_at = text + 5, *year_at = text + 12, *hour_at = text + 17, *minute_at = text + 20,
             *second_at = text + 23;
  int64_t day = digits_at(&day_at, 2), year = digits_at(&year_at, 4), hour = digits_at(&hour_at, 2);
  int64_t minute = digits_at(&minute_at, 2), second = digits_at(&second_at, 2);
  if (month == 0 || day < 1 || day > 31 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60)
    return false;
  *seconds = ((days_before(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  return true;
}

bool gather_tag_is_strong(const char *tag) { return tag[0] == '"'; }

static bool broken(gather_remote_answer *answer, const char *why) {
  answer->broken = why;
  return false;
}

/* ---- one function for each header that counts; value: without blanks at its ends, terminated */

static bool take_length(gather_remote_answer *answer, const char *value) {
  int64_t length;
  if (!take_number(&value, &length) || *value) return broken(answer, "its Content-Length is no number");
  if (answer->has_length && answer->length != length) return broken(answer, "it has two different Content-Length");
  answer->has_length = true;
  answer->length = length;
  return true;
}

static bool take_range(gather_remote_answer *answer, const char *value) {
  const bool second = answer->range_broken || answer->has_range;
  answer->has_range = !second && gather_content_range(value, answer);
  if (!answer->has_range) answer->range_broken = second ? "it has two Content-Range" : "its Content-Range is malformed";
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
  if (gather_http_date(value, &seconds))
    (void)snprintf(answer->last_modified, sizeof answer->last_modified, "%s", value);
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
  if (!at || status < 100 || (*at && *at != ' ')) return broken(answer, "its status is no number of three digits");
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
  if (bytes > (size_t)(GATHER_ANSWER_HEADER_BYTES - answer->header_bytes))
    return broken(answer, "its headers have more than 64 KiB");
  answer->header_bytes += (int64_t)bytes;
  if (answer->complete) return true; /* trailers after a body in chunks */
  while (bytes > 0 && (line[bytes - 1] == '\n' || line[bytes - 1] == '\r')) bytes--;
  if (memchr(line, '\0', bytes)) return broken(answer, "its headers have a zero byte");
  if (bytes > GATHER_ANSWER_LINE_BYTES) return broken(answer, "a header has more than 16 KiB");
  memcpy(text, line, bytes);
  text[bytes] = '\0';
  if (strncmp(text, "HTTP/", 5) == 0) return take_status(answer, text);
  if (bytes > 0) return take_header(answer, text);
  answer->complete = answer->status >= 200;
  return true;
}

void gather_answer_clear(gather_remote_answer *answer) {
  gather_growing_clear(&answer->location);
  *answer = (gather_remote_answer){0};
}

int64_t gather_answer_wait(const gather_remote_answer *answer) {
  if (!answer->has_retry_after) return -1;
  if (!answer->retry_is_date) return answer->retry_after;
  if (!answer->has_date) return -1;
  return answer->retry_after > answer->date ? answer->retry_after - answer->date : 0;
}
