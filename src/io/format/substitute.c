/* SPDX-License-Identifier: MIT
 *
 * substitute.c: recognises small files that are saved in place of another file under its name: pointers of Git LFS, git-annex and others,
 * web pages, error answers of servers, and what macOS keeps beside a file.
 *
 * The same few bytes could be numbers, so all of the first KiB must be text where a substitute is text. Sources: the specification of Git
 * LFS; git-annex's "pointer file format"; RFC 1740 (AppleDouble); WHATWG's "MIME sniffing" for the tags that a page begins with.
 */
#include "io/format/format.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

enum { HEAD = 1024, MOST_POINTER = 4096, MOST_ANSWER = 1 << 16, MOST_SHOWN = 80 };

/* The beginning of a file. */
typedef struct head {
  const char *bytes;
  size_t size; /* of the beginning */
  int64_t file_bytes;
  const char *name; /* of the file */
  bool is_url;
} head;

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Whether no byte is one that text does not contain. */
static bool is_text(const head *h) {
  for (size_t i = 0; i < h->size; i++) {
    const unsigned char c = (unsigned char)h->bytes[i];
    if ((c < ' ' && !is_blank((char)c) && c != 0x1b) || c == 0x7f) return false;
  }
  return true;
}

/* The first byte after a byte-order mark and blanks. */
static size_t start_of(const head *h) {
  size_t at = h->size >= 3 && memcmp(h->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < h->size && is_blank(h->bytes[at])) at++;
  return at;
}

static bool begins(const head *h, size_t at, const char *text) {
  const size_t length = strlen(text);
  return h->size - at >= length && memcmp(h->bytes + at, text, length) == 0;
}

static bool begins_any_case(const head *h, size_t at, const char *text) {
  for (; *text; text++, at++)
    if (at >= h->size || lower(h->bytes[at]) != *text) return false;
  return true;
}

/* Where a text is, from `at` on; h->size if it is nowhere. */
static size_t find(const head *h, size_t at, const char *text) {
  while (at < h->size && !begins(h, at, text)) at++;
  return at;
}

/* ---- pointers */

/* The size that a line of a Git LFS pointer gives; 0. */
static long long size_line(const head *h) {
  size_t at = find(h, 0, "\nsize ");
  long long size = 0;
  for (at += 6; at < h->size && h->bytes[at] >= '0' && h->bytes[at] <= '9' && size < INT64_MAX / 100; at++)
    size = size * 10 + (h->bytes[at] - '0');
  return size;
}

static bool is_lfs(const head *h) {
  return begins(h, 0, "version https://git-lfs.github.com/spec/") || begins(h, 0, "version https://hawser.github.com/spec/");
}

/* The content of an annexed file, or the target of a link to it where links are not supported. */
static bool is_annex(const head *h) {
  static const char LINK[] = ".git/annex/objects/";
  if (begins(h, 0, "/annex/objects/")) return true;
  size_t at = 0;
  while (begins(h, at, "../")) at += 3;
  return begins(h, at, LINK);
}

static bool pointer_text(const head *h, char *text, size_t bytes) {
  if (h->file_bytes > MOST_POINTER) return false;
  if (is_lfs(h) && size_line(h) > 0)
    (void)snprintf(text, bytes, "it is a Git LFS pointer, not the file itself, which has %lld bytes: 'git lfs pull' downloads it",
                   size_line(h));
  else if (is_lfs(h))
    (void)snprintf(text, bytes, "it is a Git LFS pointer, not the file itself: 'git lfs pull' downloads it");
  else if (is_annex(h))
    (void)snprintf(text, bytes, "it is a git-annex pointer, not the file itself: 'git annex get' downloads it");
  else if (begins(h, 0, "# xet version "))
    (void)snprintf(text, bytes, "it is a Xet pointer, not the file itself; download the file");
  else if (begins(h, 0, "outs:\n- ") && find(h, 0, "md5: ") < h->size)
    (void)snprintf(text, bytes, "it is a DVC pointer, not the file itself: 'dvc pull' downloads it");
  else
    return false;
  return true;
}

/* ---- web pages */

/* The tags that a page begins with, unless a shorter name could be that of another language's element. */
static const char *const TAGS[] = {"<!doctype html", "<html",  "<head",  "<body", "<script",
                                   "<iframe",        "<style", "<title", "<meta", "<table"};

static bool is_page_tag(const head *h, size_t at) {
  for (size_t i = 0; i < sizeof TAGS / sizeof *TAGS; i++) {
    const size_t end = at + strlen(TAGS[i]);
    if (begins_any_case(h, at, TAGS[i]) && end < h->size && (h->bytes[end] == '>' || h->bytes[end] == '/' || is_blank(h->bytes[end])))
      return true;
  }
  return false;
}

/* The first tag: after comments and <?xml ...?>. */
static size_t first_tag(const head *h, size_t at) {
  for (;;) {
    const char *end = begins(h, at, "<!--") ? "-->" : begins(h, at, "<?xml") ? "?>" : NULL;
    if (!end) return at;
    at = find(h, at, end) + strlen(end);
    while (at < h->size && is_blank(h->bytes[at])) at++;
    if (at >= h->size) return h->size;
  }
}

/* The name under which a file can be read whose page has this address: https://HOST/[datasets/]OWNER/REPO/blob/REVISION/PATH. False: it
 * is not the address of a page. */
static bool page_advice(const char *url, char *advice, size_t bytes) {
  const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
  const char *blob = path ? strstr(path, "/blob/") : NULL;
  if (!blob || !(lower(url[0]) == 'h' && lower(url[1]) == 't')) return false;
  const char *revision = blob + 6, *slash = strchr(revision, '/'), *owner = path + 1;
  const bool is_hub = strncmp(host, "://huggingface.co/", 18) == 0 || strncmp(host, "://hf.co/", 9) == 0;
  const bool is_github = strncmp(host, "://github.com/", 14) == 0;
  if (is_hub && slash) {
    const bool is_main = slash - revision == 4 && strncmp(revision, "main", 4) == 0;
    (void)snprintf(advice, bytes, "for the hub write hf://%.*s%s%.*s%s", (int)(blob - owner), owner, is_main ? "" : "@",
                   is_main ? 0 : (int)(slash - revision), revision, slash);
  } else {
    (void)snprintf(advice, bytes, "an address with /blob/ is that of a web page: %s",
                   is_github ? "use /raw/ instead" : "for the hub write hf://OWNER/REPO/FILE");
  }
  return true;
}

void gather_substitute_advise(const char *url, gather_error *error) {
  char advice[400];
  const size_t length = error ? strlen(error->message) : 0;
  if (error && length + 2 < sizeof error->message && page_advice(url, advice, sizeof advice))
    (void)snprintf(error->message + length, sizeof error->message - length, "; %s", advice);
}

static void page_text(const head *h, char *text, size_t bytes) {
  char advice[400];
  if (!h->is_url)
    (void)snprintf(text, bytes,
                   "it is a web page (HTML), not the file itself; download the file from its own address, not that of "
                   "its page");
  else if (page_advice(h->name, advice, sizeof advice))
    (void)snprintf(text, bytes, "the server answered with a web page (HTML); %s", advice);
  else
    (void)snprintf(text, bytes, "the server answered with a web page (HTML), not with the file: a page about it, or a login");
}

/* ---- error answers */

/* Whether the element <Error> of S3, Google Cloud Storage and Azure is the first. Only its code is shown: other elements can be secret. */
static bool xml_error(const head *h, size_t at, char *text, size_t bytes) {
  char code[MOST_SHOWN + 1] = "";
  at = first_tag(h, at);
  if (at >= h->size || !begins(h, at, "<Error") || at + 6 >= h->size || (h->bytes[at + 6] != '>' && h->bytes[at + 6] != ' ')) return false;
  const size_t begin = find(h, at, "<Code>") + 6;
  for (size_t i = begin, to = 0; i < h->size && h->bytes[i] != '<' && to < MOST_SHOWN; i++) code[to++] = h->bytes[i];
  (void)snprintf(text, bytes, "%s (XML%s%s), not %s", h->is_url ? "the server answered with an error" : "it is an error answer of a server",
                 *code ? ": " : "", code, h->is_url ? "with the file" : "the file itself");
  return true;
}

/* Keys with which servers report errors in JSON (RFC 9457, the hub, GitHub, Google, Azure). */
static const char *const KEYS[] = {"\"error\"", "\"errors\"", "\"message\"", "\"detail\"", "\"error_description\"", "\"statusCode\""};

/* Where the value of the first key of an error is; h->size. */
static size_t find_key(const head *h, size_t at) {
  while (at < h->size && is_blank(h->bytes[at])) at++;
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
    if (!begins(h, at, KEYS[i])) continue;
    size_t value = at + strlen(KEYS[i]);
    while (value < h->size && is_blank(h->bytes[value])) value++;
    if (value >= h->size || h->bytes[value] != ':') continue;
    for (value++; value < h->size && is_blank(h->bytes[value]);) value++;
    return value;
  }
  return h->size;
}

/* An object whose first key is that of an error. */
static bool json_error(const head *h, size_t at, char *text, size_t bytes) {
  char what[MOST_SHOWN + 1] = "";
  if (h->file_bytes > MOST_ANSWER || at >= h->size || h->bytes[at] != '{') return false;
  const size_t value = find_key(h, at + 1);
  if (value >= h->size) return false;
  if (h->bytes[value] == '"')
    for (size_t i = value + 1, to = 0; i < h->size && h->bytes[i] != '"' && to < MOST_SHOWN; i++)
      what[to++] = h->bytes[i] == '\n' || h->bytes[i] == '\r' ? ' ' : h->bytes[i];
  (void)snprintf(text, bytes, "%s (JSON%s%s), not %s",
                 h->is_url ? "the server answered with an error" : "it is an error answer of a server", *what ? ": " : "", what,
                 h->is_url ? "with the file" : "the file itself");
  return true;
}

/* ---- macOS */

/* The name without "._" at the beginning of its last part; NULL. */
static const char *attributes_of(const char *name) {
  const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
  return strncmp(last, "._", 2) == 0 && last[2] ? last + 2 : NULL;
}

static bool apple_text(const head *h, char *text, size_t bytes) {
  static const char DOUBLE[] = "\0\5\x16\7\0\2\0", STORE[] = "\0\0\0\1Bud1";
  if (h->size >= 26 && memcmp(h->bytes, DOUBLE, 8) == 0) {
    const char *name = attributes_of(h->name);
    (void)snprintf(text, bytes, "it is an AppleDouble file, in which macOS keeps the attributes of another file%s%.200s",
                   name ? ": open " : "", name ? name : "");
    return true;
  }
  if (h->size < 8 || memcmp(h->bytes, STORE, 8) != 0) return false;
  (void)snprintf(text, bytes, "it is a .DS_Store, in which macOS keeps how a folder is shown");
  return true;
}

/* ---- the whole */

/* Whether more of the file is worth reading: no format begins so but those that are told apart below. */
static bool may_be(const char *bytes, size_t size) {
  size_t at = 0;
  if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) at = 3;
  while (at < size && is_blank(bytes[at])) at++;
  return at == size || strchr("<{v/.#o", bytes[at]) != NULL; /* a zero byte too: AppleDouble */
}

bool gather_substitute_is(const void *bytes, int64_t size, int64_t file_bytes, const char *name, bool is_url, char *text,
                          size_t text_bytes) {
  head h = {bytes, size < HEAD ? (size_t)size : HEAD, file_bytes, name, is_url};
  if (h.size == 0) return false;
  if (apple_text(&h, text, text_bytes)) return true;
  if (!is_text(&h)) return false;
  if (pointer_text(&h, text, text_bytes)) return true;
  const size_t at = start_of(&h);
  if (at >= h.size) return false;
  if (is_page_tag(&h, at) || is_page_tag(&h, first_tag(&h, at))) {
    page_text(&h, text, text_bytes);
    return true;
  }
  return xml_error(&h, at, text, text_bytes) || json_error(&h, at, text, text_bytes);
}

bool gather_substitute_find(const gather_map *map, const char *name, bool is_url, char *text, size_t bytes) {
  enum { FIRST = GATHER_FORMAT_HEAD };
  if (map->size == 0 || gather_map_need(map, 0, map->size < FIRST ? map->size : FIRST, NULL) != GATHER_OK) return false;
  if (!may_be((const char *)map->bytes, map->size < FIRST ? (size_t)map->size : FIRST)) return false;
  const int64_t most = map->size < HEAD ? map->size : HEAD;
  if (gather_map_need(map, 0, most, NULL) != GATHER_OK) return false;
  return gather_substitute_is(map->bytes, most, map->size, name, is_url, text, bytes);
}
