/* SPDX-License-Identifier: MIT
 *
 * fuzz_response.c: any bytes as a server's answers. By themselves: header lines, ranges, dates, addresses. And to the client, as a server
 * sends them: libcurl parses them (statuses, chunks, trailers), the client judges them. An input is the answer to the open, a byte 0xff,
 * and the answer to everything after it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "fuzz/fuzz.h"
#include "io/remote/answer.c"
#include "io/remote/remote_url.h"

#if defined(GATHER_HAVE_CURL)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/remote/remote_client.h"
#endif

/* ---- without a network */

static void check_judged(const gather_remote_answer *answer, int64_t first, int64_t bytes, int64_t size) {
  char why[GATHER_ANSWER_WHY];
  enum { MOST = 150000 };
  gather_remote_question question = {
      .first = first, .bytes = bytes, .size = size, .etag = "\"v1\"", .last_modified = "", .whole_bytes = MOST};
  gather_remote_verdict verdict = gather_answer_judge(answer, &question, why);
  if (verdict == GATHER_ANSWER_WHOLE)
    fuzz_check(size < 0 && answer->status == 200 && !answer->encoded && (!answer->has_length || answer->length <= MOST),
               "a whole file is taken at the open, within the limit");
  if (verdict == GATHER_ANSWER_SMALLER)
    fuzz_check(size < 0 && answer->status == 416 && answer->size > 0 && answer->size < bytes, "less is asked for");
  if (verdict != GATHER_ANSWER_ACCEPTED) return;
  int64_t last = first + bytes - 1, skip, taken;
  if (size < 0 && last >= answer->size) last = answer->size - 1;
  gather_answer_span(answer, &question, &skip, &taken);
  fuzz_check(skip >= 0 && taken > 0 && taken <= bytes, "of a body some bytes are taken, and no more than asked for");
  fuzz_check(!answer->encoded, "they are not encoded");
  if (answer->status == 200) {
    fuzz_check(size >= 0 && skip == first && first + bytes <= MOST, "of a whole file, within the limit");
    fuzz_check(!answer->has_length || answer->length == size, "of the size that it had");
  } else {
    fuzz_check(answer->status == 206 && answer->has_range && !answer->multipart && skip == 0, "or of a range");
    fuzz_check(answer->first == first && answer->last <= last && taken == answer->last - first + 1, "that begins where it was asked for");
    fuzz_check(!answer->has_length || answer->length == taken, "of its length");
  }
  fuzz_check(size < 0 || !answer->etag[0] || strcmp(answer->etag, "\"v1\"") == 0, "of its version");
}

static void check_lines(const uint8_t *bytes, size_t size) {
  gather_remote_answer answer = {0};
  bool goes_on = true;
  for (size_t at = 0; at < size && goes_on;) {
    const uint8_t *end = memchr(bytes + at, '\n', size - at);
    size_t length = end ? (size_t)(end - (bytes + at)) + 1 : size - at;
    goes_on = gather_answer_line(&answer, (const char *)bytes + at, length);
    at += length;
  }
  fuzz_check(goes_on == (answer.broken == NULL), "what is broken is said");
  fuzz_check(answer.header_bytes <= GATHER_ANSWER_HEADER_BYTES, "headers are limited");
  fuzz_check(strlen(answer.etag) < sizeof answer.etag && !strpbrk(answer.etag, "\r\n"), "a tag is one line");
  fuzz_check(gather_answer_wait(&answer) >= -1, "nobody waits backwards");
  check_judged(&answer, 0, 65536, -1);
  check_judged(&answer, 65536, 100, 100000);
  check_judged(&answer, 5, 5, 20);
  gather_answer_clear(&answer);
}

/* What an address is taken apart into can be taken apart again, and is the same. */
static void check_address(const char *text) {
  static const char BASE[] = "https://user:secret@host.example:8443/a/b?query=secret";
  gather_arena arena = {0};
  gather_remote_url base, url, again;
  char shown[64];
  gather_remote_url_shown(text, shown, sizeof shown);
  fuzz_check(!strchr(shown, '?') && !strchr(shown, '#'), "no query is shown");
  if (gather_remote_url_parse(&arena, BASE, &base, NULL) == GATHER_OK &&
      gather_remote_url_resolve(&arena, &base, text, &url, NULL) == GATHER_OK) {
    fuzz_check(gather_remote_url_parse(&arena, url.text, &again, NULL) == GATHER_OK, "an address can be read again");
    fuzz_check(strcmp(url.text, again.text) == 0 && strcmp(url.origin, again.origin) == 0 && !again.user, "and is the same");
    fuzz_check(!strpbrk(url.text, " \t\r\n#\\"), "it has nothing that could be read otherwise");
    fuzz_check(strncmp(url.name, url.text, strlen(url.name)) == 0 && !strchr(url.name, '?'), "its name has no query");
  }
  gather_arena_clear(&arena);
}

/* ---- the client, and a server on this machine that sends the input */

#if defined(GATHER_HAVE_CURL)

static struct {
  pthread_mutex_t lock;
  const uint8_t *bytes;
  size_t size, second; /* where the second answer begins */
  int listener, port, answers;
} played = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The client asks once by each connection. */
static bool read_request(int connection) {
  char text[8192];
  size_t size = 0;
  while (size < 4 || memcmp(text + size - 4, "\r\n\r\n", 4) != 0) {
    ssize_t got = recv(connection, text + size, sizeof text - size, 0);
    if (got <= 0) return false;
    size += (size_t)got;
  }
  return true;
}

static void *serve(void *argument) {
  for (;;) {
    int connection = accept(played.listener, NULL, NULL);
    if (connection < 0) abort();
    if (read_request(connection)) {
      (void)pthread_mutex_lock(&played.lock);
      bool first = played.answers++ == 0;
      size_t begin = first ? 0 : played.second, end = first && played.second ? played.second - 1 : played.size;
      if (begin < end) (void)send(connection, played.bytes + begin, end - begin, MSG_NOSIGNAL);
      (void)pthread_mutex_unlock(&played.lock);
    }
    (void)close(connection);
  }
  return argument;
}

static void start(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t bytes = sizeof address;
  pthread_t thread;
  played.listener = socket(AF_INET, SOCK_STREAM, 0);
  if (played.listener < 0 || bind(played.listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(played.listener, 16) != 0 ||
      getsockname(played.listener, (struct sockaddr *)&address, &bytes) != 0 || pthread_create(&thread, NULL, serve, NULL) != 0 ||
      pthread_detach(thread) != 0)
    abort();
  played.port = ntohs(address.sin_port);
}

/* Nobody but this server may be asked. */
static bool leads_elsewhere(const uint8_t *bytes, size_t size) {
  static const char WORD[] = "location";
  size_t same = 0;
  for (size_t i = 0; i < size; i++) {
    same = tolower(bytes[i]) == WORD[same] ? same + 1 : tolower(bytes[i]) == WORD[0];
    if (same == sizeof WORD - 1) return true;
  }
  return false;
}

static void check_status(gather_status status, const gather_error *error) {
  fuzz_check(status == GATHER_OK || status == GATHER_IO_ERROR || status == GATHER_FILE_NOT_FOUND || status == GATHER_OUT_OF_MEMORY,
             "an answer gives one of these");
  if (status != GATHER_OK) fuzz_check(!strstr(error->message, "secret"), "no query is shown");
}

/* A connection costs more than all the rest: of the many beginnings of one input, most have nothing new for the client. */
static bool is_worth_it(const uint8_t *bytes, size_t size) {
  bool has_header = false;
  for (size_t i = 3; i < size && !has_header; i++) has_header = bytes[i] == '\n' && (bytes[i - 1] == '\n' || bytes[i - 2] == '\n');
  if (!has_header) return size % 16 == 0;
  return size < 4096 || size % 64 == 0 || memchr(bytes, 0xff, size) != NULL;
}

static void check_client(const uint8_t *bytes, size_t size) {
  if (leads_elsewhere(bytes, size) || !is_worth_it(bytes, size)) return;
  if (played.port == 0) start();
  const uint8_t *second = memchr(bytes, 0xff, size);
  (void)pthread_mutex_lock(&played.lock);
  played.bytes = bytes, played.size = size, played.answers = 0;
  played.second = second ? (size_t)(second - bytes) + 1 : 0;
  (void)pthread_mutex_unlock(&played.lock);
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  options.retries = 0;
  options.try_seconds = options.take_seconds = 5;
  gather_remote_client *client = NULL;
  gather_remote_object *object = NULL;
  gather_error error;
  char url[100], data[100];
  (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/x?secret", played.port);
  if (gather_remote_client_create(&options, &client, &error) != GATHER_OK) return;
  gather_status status = gather_remote_object_open(client, url, &object, &error);
  check_status(status, &error);
  if (status == GATHER_OK) {
    int64_t head, whole = gather_remote_object_size(object);
    (void)gather_remote_object_head(object, &head);
    fuzz_check(head == whole || (head < whole && head >= 65536), "the head is the beginning of the file, or all of it");
    if (whole > 65636) check_status(gather_remote_object_read(object, 65536, sizeof data, data, &error), &error);
  }
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  (void)pthread_mutex_lock(&played.lock);
  played.bytes = NULL, played.size = 0;
  (void)pthread_mutex_unlock(&played.lock);
}

#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char *text = malloc(size + 1);
  if (!text) abort();
  if (size) memcpy(text, bytes, size);
  text[size] = '\0';
  gather_remote_answer range = {0};
  int64_t seconds;
  gather_remote_reach reach;
  if (gather_remote_reach_named(text, &reach))
    fuzz_check(reach >= GATHER_REMOTE_PUBLIC && reach <= GATHER_REMOTE_CREDENTIALS, "an address is somewhere");
  if (content_range(text, &range)) fuzz_check(range.first <= range.last || range.unsatisfied, "a range has an order");
  if (gather_http_date(text, &seconds)) fuzz_check(seconds >= 0, "dates are after 1970");
  check_lines(bytes, size);
  check_address(text);
#if defined(GATHER_HAVE_CURL)
  check_client(bytes, size);
#endif
  free(text);
  return 0;
}
