/* SPDX-License-Identifier: MIT
 *
 * answer.c: judges an answer. An answer counts only if it has the first of the bytes that were asked for, of the version that was opened.
 *
 * What a server may do by RFC 9110: ignore a Range (14.2: 200 with the whole file), send less than asked for (15.3.7), not know the
 * length of the file (14.4: "/" "*"), and refuse a range (15.5.17: 416, best with the length).
 */
#include "io/remote/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    (void)say(why, GATHER_ANSWER_CHANGED, "the file changed while it was read: its ETag was %.60s and is %.60s",
              question->etag, answer->etag);
    return true;
  }
  if (!tags && !gather_tag_is_strong(question->etag) && answer->last_modified[0] && question->last_modified[0] &&
      strcmp(answer->last_modified, question->last_modified) != 0) {
    (void)say(why, GATHER_ANSWER_CHANGED, "the file changed while it was read: it was last modified %s, now %s",
              question->last_modified, answer->last_modified);
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
    (void)say(why, GATHER_ANSWER_CHANGED,
              "the file changed while it was read: it had %" PRId64 " bytes and has %" PRId64, question->size, size);
    return true;
  }
  return false;
}

static gather_remote_verdict judge_range(const gather_remote_answer *answer, const gather_remote_question *question,
                                         char *why) {
  int64_t last = question->first + question->bytes - 1;
  if (question->unranged || question->whole)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the server answered 206, though no range was asked for");
  if (answer->multipart) return say(why, GATHER_ANSWER_DOUBTFUL, "the server answered one range with several parts");
  if (answer->encoded)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the server compressed the answer, though it was told not to");
  if (answer->range_broken)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the answer is malformed: %s", answer->range_broken);
  if (!answer->has_range || answer->unsatisfied)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the server answered 206 without a Content-Range");
  if (question->size < 0) {
    if (answer->size < 0)
      return say(why, question->whole_bytes > 0 ? GATHER_ANSWER_UNRANGED : GATHER_ANSWER_REFUSED,
                 "the server does not say how large the file is");
    if (last > answer->size - 1) last = answer->size - 1;
  }
  if (is_changed(answer, question, why)) return GATHER_ANSWER_CHANGED;
  if (answer->first != question->first || answer->last > last)
    return say(why, GATHER_ANSWER_DOUBTFUL,
               "status 206: the server sent another range, bytes %" PRId64 "-%" PRId64 ", not %" PRId64 "-%" PRId64
               " as it was asked for",
               answer->first, answer->last, question->first, last);
  if (answer->has_length && answer->length != answer->last - answer->first + 1)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the answer has %" PRId64 " bytes; its range is of %" PRId64,
               answer->length, answer->last - answer->first + 1);
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

static gather_remote_verdict judge_whole(const gather_remote_answer *answer, const gather_remote_question *question,
                                         char *why) {
  if (question->whole) {
    if (answer->encoded)
      return say(why, GATHER_ANSWER_DOUBTFUL, "the server compressed the answer, though it was told not to");
    if (!answer->has_length || answer->length <= question->bytes) return GATHER_ANSWER_ACCEPTED;
    return say(why, GATHER_ANSWER_REFUSED,
               "the document has %" PRId64 " bytes, more than the %" PRId64 " that are read", answer->length,
               question->bytes);
  }
  if (question->size < 0 && answer->has_length && answer->length == 0) return GATHER_ANSWER_EMPTY;
  const int64_t needed = question->size < 0 ? 0 : question->first + question->bytes;
  if ((answer->has_length && answer->length > question->whole_bytes) || needed > question->whole_bytes ||
      question->whole_bytes == 0)
    return question->size < 0 || !is_tag_changed(answer, question, why)
               ? say_too_large(answer->has_length ? answer->length : question->size, question->whole_bytes, why)
               : GATHER_ANSWER_CHANGED;
  if (answer->encoded)
    return say(why, GATHER_ANSWER_DOUBTFUL, "the server compressed the answer, though it was told not to");
  if (is_changed(answer, question, why)) return GATHER_ANSWER_CHANGED;
  return question->size < 0 ? GATHER_ANSWER_WHOLE : GATHER_ANSWER_ACCEPTED;
}

static gather_remote_verdict judge_unsatisfied(const gather_remote_answer *answer,
                                               const gather_remote_question *question, char *why) {
  const bool says_size = answer->has_range && answer->unsatisfied, opens = question->size < 0 && question->first == 0;
  if (opens && says_size && answer->size == 0) return GATHER_ANSWER_EMPTY;
  if (opens && says_size && answer->size < question->bytes && !question->unranged)
    return say(why, GATHER_ANSWER_SMALLER, "the server answered 416: the file has only %" PRId64 " bytes",
               answer->size);
  if (opens && !says_size && !question->unranged && question->whole_bytes > 0)
    return say(why, GATHER_ANSWER_UNRANGED, "the server answered 416 to the beginning of the file");
  if (is_changed(answer, question, why)) return GATHER_ANSWER_CHANGED;
  return say(why, GATHER_ANSWER_REFUSED, "the server answered 416: it has no such range");
}

gather_remote_verdict gather_answer_judge(const gather_remote_answer *answer, const gather_remote_question *question,
                                          char why[GATHER_ANSWER_WHY]) {
  why[0] = '\0';
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
      return answer->location.bytes
                 ? GATHER_ANSWER_REDIRECT
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

void gather_answer_span(const gather_remote_answer *answer, const gather_remote_question *question, int64_t *skip,
                        int64_t *bytes) {
  const bool whole = answer->status == 200;
  const int64_t end = question->first + question->bytes;
  *skip = question->first - (whole ? 0 : answer->first);
  *bytes = (whole || answer->last >= end ? end : answer->last + 1) - question->first;
}
