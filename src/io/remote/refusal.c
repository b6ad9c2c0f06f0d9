/* SPDX-License-Identifier: MIT
 *
 * refusal.c: what the refusals of S3 and of the hub mean, and what to do about them; the small XML answers of S3.
 *
 * Nothing of a body is repeated but a code of letters: S3's answer to a wrong signature contains the key id and the session token.
 */
#include <string.h>

#include "io/remote/answer.h"
#include "io/remote/origin.h"

/* ---- XML: feeds expat, and keeps the names of the open elements and the text of the innermost one */

#ifdef GATHER_HAVE_EXPAT
#include <expat.h>
#include <limits.h>

#include "core/base/alloc.h"
#include "core/base/heap.h"

enum { MOST_DEPTH = 8, MOST_NAME = 64, MOST_TEXT = 8192 };

typedef struct xml_parser {
  XML_Parser expat;
  gather_xml_element element;
  void *context;
  gather_xml_result result;
  int depth;
  char names[MOST_DEPTH + 1][MOST_NAME]; /* names[0] is "" */
  char text[MOST_TEXT + 1];
  size_t text_bytes;
} xml_parser;

static void stop_parser(xml_parser *p, gather_xml_result result) {
  if (p->result == GATHER_XML_OK) p->result = result;
  (void)XML_StopParser(p->expat, XML_FALSE);
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes) {
  xml_parser *p = data;
  (void)attributes;
  if (p->depth == MOST_DEPTH || strlen(name) >= MOST_NAME) {
    stop_parser(p, GATHER_XML_MALFORMED);
    return;
  }
  p->depth++;
  memcpy(p->names[p->depth], name, strlen(name) + 1);
  p->text_bytes = 0;
}

static void XMLCALL on_end(void *data, const XML_Char *name) {
  xml_parser *p = data;
  p->text[p->text_bytes] = '\0';
  p->text_bytes = 0;
  p->depth--;
  if (p->result == GATHER_XML_OK && !p->element(p->context, p->names[p->depth], name, p->text)) stop_parser(p, GATHER_XML_STOPPED);
}

static void XMLCALL on_text(void *data, const XML_Char *text, int bytes) {
  xml_parser *p = data;
  if ((size_t)bytes > MOST_TEXT - p->text_bytes || memchr(text, '\0', (size_t)bytes)) {
    stop_parser(p, GATHER_XML_MALFORMED);
    return;
  }
  memcpy(p->text + p->text_bytes, text, (size_t)bytes);
  p->text_bytes += (size_t)bytes;
}

static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public, int internal) {
  (void)name, (void)system, (void)public, (void)internal;
  stop_parser(data, GATHER_XML_MALFORMED);
}

static void feed(xml_parser *p, const char *text, size_t bytes, bool whole) {
  XML_SetUserData(p->expat, p);
  XML_SetElementHandler(p->expat, on_start, on_end);
  XML_SetCharacterDataHandler(p->expat, on_text);
  XML_SetStartDoctypeDeclHandler(p->expat, on_doctype);
  enum XML_Status status = XML_Parse(p->expat, text, (int)bytes, whole ? XML_TRUE : XML_FALSE);
  if (p->result != GATHER_XML_OK || status == XML_STATUS_OK) return;
  p->result = XML_GetErrorCode(p->expat) == XML_ERROR_NO_MEMORY ? GATHER_XML_NO_MEMORY : GATHER_XML_MALFORMED;
}

gather_xml_result gather_remote_xml(const char *text, size_t bytes, bool whole, gather_xml_element element, void *context) {
  static const XML_Memory_Handling_Suite MEMORY = {gather_heap_malloc, gather_heap_realloc, gather_heap_free};
  if (bytes > INT_MAX / 2) return GATHER_XML_MALFORMED;
  xml_parser *p = gather_alloc(sizeof *p);
  if (!p) return GATHER_XML_NO_MEMORY;
  p->element = element;
  p->context = context;
  p->result = GATHER_XML_NO_MEMORY;
  p->expat = XML_ParserCreate_MM(NULL, &MEMORY, NULL);
  if (p->expat) {
    p->result = GATHER_XML_OK;
    feed(p, text, bytes, whole);
    XML_ParserFree(p->expat);
  }
  gather_xml_result result = p->result;
  gather_free(p);
  return result;
}
#else
gather_xml_result gather_remote_xml(const char *text, size_t bytes, bool whole, gather_xml_element element, void *context) {
  (void)text, (void)bytes, (void)whole, (void)element, (void)context;
  return GATHER_XML_MALFORMED;
}
#endif

/* ---- the fault that S3 describes */

enum { MOST_CODE = 64, SECONDS_OF_SKEW = 60 };

typedef struct s3_fault {
  char code[MOST_CODE + 1];
  char region[MOST_CODE + 1];
} s3_fault;

static bool given(const char *text) { return text && text[0]; }

/* Copies a text of at most 64 letters, digits and the characters of `others`; anything else is dropped as a whole. */
static void keep_word(char *word, const char *text, size_t bytes, const char *others) {
  if (bytes > MOST_CODE) return;
  for (size_t i = 0; i < bytes; i++) {
    char c = text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !(c && strchr(others, c))) return;
  }
  memcpy(word, text, bytes);
  word[bytes] = '\0';
}

static bool read_element(void *context, const char *parent, const char *name, const char *text) {
  s3_fault *fault = context;
  if (strcmp(parent, "Error") != 0) return true;
  if (strcmp(name, "Code") == 0) keep_word(fault->code, text, strlen(text), ".");
  if (strcmp(name, "Region") == 0) keep_word(fault->region, text, strlen(text), "-_");
  return true;
}

static void read_fault(const char *body, size_t bytes, s3_fault *fault) {
  memset(fault, 0, sizeof *fault);
  (void)gather_remote_xml(body, bytes < GATHER_REMOTE_BODY ? bytes : GATHER_REMOTE_BODY, false, read_element, fault);
}

/* ---- headers */

static bool is_name(const char *name, size_t bytes, const char *wanted) {
  if (strlen(wanted) != bytes) return false;
  for (size_t i = 0; i < bytes; i++) {
    char c = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    if (c != wanted[i]) return false;
  }
  return true;
}

/* A strong ETag of printable characters; a weak one says nothing about bytes. */
static void keep_etag(gather_remote_notes *notes, const char *value, size_t bytes) {
  if (bytes < 3 || bytes >= sizeof notes->linked_etag || value[0] != '"' || value[bytes - 1] != '"') return;
  for (size_t i = 1; i + 1 < bytes; i++)
    if (value[i] <= ' ' || value[i] > '~' || value[i] == '"') return;
  memcpy(notes->linked_etag, value, bytes);
  notes->linked_etag[bytes] = '\0';
}

static void keep_bytes(gather_remote_notes *notes, const char *value, size_t bytes) {
  int64_t number = 0;
  if (bytes == 0 || bytes > 18) return;
  for (size_t i = 0; i < bytes; i++) {
    if (value[i] < '0' || value[i] > '9') return;
    number = number * 10 + (value[i] - '0');
  }
  notes->linked_bytes = number + 1;
}

static void keep_date(gather_remote_notes *notes, const char *value, size_t bytes) {
  char text[32];
  if (bytes >= sizeof text) return;
  memcpy(text, value, bytes);
  text[bytes] = '\0';
  (void)gather_http_date(text, &notes->date);
}

void gather_remote_notes_header(gather_remote_notes *notes, const char *name, size_t name_bytes, const char *value, size_t value_bytes) {
  while (value_bytes > 0 && (value[0] == ' ' || value[0] == '\t')) value++, value_bytes--;
  while (value_bytes > 0 && (unsigned char)value[value_bytes - 1] <= ' ') value_bytes--;
  if (is_name(name, name_bytes, "x-amz-bucket-region")) keep_word(notes->region, value, value_bytes, "-_");
  if (is_name(name, name_bytes, "x-error-code")) keep_word(notes->code, value, value_bytes, "");
  if (is_name(name, name_bytes, "x-repo-commit")) keep_word(notes->commit, value, value_bytes, "");
  if (is_name(name, name_bytes, "x-linked-etag")) keep_etag(notes, value, value_bytes);
  if (is_name(name, name_bytes, "x-linked-size")) keep_bytes(notes, value, value_bytes);
  if (is_name(name, name_bytes, "date")) keep_date(notes, value, value_bytes);
}

/* ---- S3 */

/* What the codes of S3 mean to a reader of objects. "again": whether trying again can help. */
static const struct {
  const char *code, *words;
  bool again;
} CODES[] = {
    {"AccessDenied", NULL, false},
    {"AllAccessDisabled", "the owner has disabled access", false},
    {"AccountProblem", "the account of the bucket has a problem", false},
    {"InvalidAccessKeyId", "the server does not know the key id (AWS_ACCESS_KEY_ID)", false},
    {"SignatureDoesNotMatch", "the secret (AWS_SECRET_ACCESS_KEY) does not belong to the key id", false},
    {"ExpiredToken", "the session token (AWS_SESSION_TOKEN) has expired: log in again", false},
    {"InvalidToken", "the session token (AWS_SESSION_TOKEN) is not valid", false},
    {"TokenRefreshRequired", "the session token (AWS_SESSION_TOKEN) must be renewed: log in again", false},
    {"RequestTimeTooSkewed", NULL, false},
    {"RequestExpired", NULL, false},
    {"NoSuchBucket", "no such bucket", false},
    {"NoSuchKey", "no such object in the bucket", false},
    {"NoSuchVersion", "no such version of the object", false},
    {"InvalidBucketName", "the server refuses the bucket's name", false},
    {"InvalidObjectState", "the object is archived: it must be restored first", false},
    {"PermanentRedirect", NULL, false},
    {"TemporaryRedirect", NULL, false},
    {"AuthorizationHeaderMalformed", NULL, false},
    {"IllegalLocationConstraintException", NULL, false},
    {"MethodNotAllowed", "the newest version of the object is a delete marker", false},
    {"PreconditionFailed", "the object has changed since it was opened", false},
    {"InvalidRange", "the object is shorter than it was", false},
    {"SlowDown", "the server asks for fewer requests", true},
    {"ServiceUnavailable", "the server is busy", true},
    {"InternalError", "an error of the server", true},
    {"RequestTimeout", "the server waited too long for the request", true},
};

static int find_code(const char *code) {
  for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++)
    if (strcmp(CODES[i].code, code) == 0) return (int)i;
  return -1;
}

static bool about_region(const char *code, int status) {
  return strcmp(code, "PermanentRedirect") == 0 || strcmp(code, "TemporaryRedirect") == 0 ||
         strcmp(code, "AuthorizationHeaderMalformed") == 0 || strcmp(code, "IllegalLocationConstraintException") == 0 ||
         (!code[0] && status == 301);
}

static void region_words(const gather_remote_options *options, const char *region, gather_growing *words) {
  const char *asked = gather_s3_region(options);
  if (given(region) && strcmp(region, asked) != 0)
    gather_growing_print(words, "the bucket is in the region %s, not %s: set AWS_REGION=%s", region, asked, region);
  else
    gather_growing_print(words, "the bucket is at another endpoint than that of the region %s: set AWS_REGION", asked);
  if (given(options->endpoint)) gather_growing_text(words, " (and check the endpoint)");
}

static void clock_words(const gather_remote_notes *notes, int64_t seconds, gather_growing *words) {
  int64_t ahead = seconds - notes->date;
  if (notes->date == 0 || (ahead < SECONDS_OF_SKEW && ahead > -SECONDS_OF_SKEW))
    gather_growing_text(words, "the clock of this machine differs from the server's: set it");
  else
    gather_growing_print(words, "the clock of this machine is %lld s %s the server's: set it", (long long)(ahead < 0 ? -ahead : ahead),
                         ahead < 0 ? "behind" : "ahead of");
}

static void denied_words(const gather_remote_options *options, gather_growing *words) {
  if (given(options->key_id))
    gather_growing_text(words,
                        "access denied: these credentials may not read it, or it does not exist and they may not list the bucket "
                        "(s3:ListBucket)");
  else
    gather_growing_text(words,
                        "access denied: the request was not signed, because there are no credentials "
                        "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE)");
}

static void s3_words(const gather_remote_options *options, int status, const gather_remote_notes *notes, const s3_fault *fault,
                     int64_t seconds, gather_growing *words) {
  int number = find_code(fault->code);
  const char *region = fault->region[0] ? fault->region : notes->region;
  if (about_region(fault->code, status))
    region_words(options, region, words);
  else if (strcmp(fault->code, "RequestTimeTooSkewed") == 0 || strcmp(fault->code, "RequestExpired") == 0)
    clock_words(notes, seconds, words);
  else if (number >= 0 && CODES[number].words)
    gather_growing_text(words, CODES[number].words);
  else if (strcmp(fault->code, "AccessDenied") == 0 || ((status == 401 || status == 403) && !fault->code[0]))
    denied_words(options, words);
  else if (status == 404 && !fault->code[0])
    gather_growing_text(words, "no such object or bucket");
  if (!fault->code[0]) return;
  gather_growing_print(words, words->bytes ? " (%s)" : "the server says %s", fault->code);
}

/* ---- the hub */

static void hub_words(const gather_remote_origin *origin, const gather_remote_options *options, int status,
                      const gather_remote_notes *notes, gather_growing *words) {
  bool token = given(options->bearer);
  if (strcmp(notes->code, "GatedRepo") == 0)
    gather_growing_print(
        words, "access to %.120s is granted on request on its page; %s", origin->repository,
        token ? "the account of this token (HF_TOKEN) has no access yet" : "then set HF_TOKEN to a token of the account that has access");
  else if (strcmp(notes->code, "RevisionNotFound") == 0)
    gather_growing_print(words, "the repository has no revision '%.80s'", origin->revision);
  else if (strcmp(notes->code, "EntryNotFound") == 0)
    gather_growing_text(words, "no such file in the repository");
  else if (strcmp(notes->code, "RepoNotFound") == 0 || status == 401)
    gather_growing_print(words, "no such repository, or it is private: %s",
                         token ? "the token (HF_TOKEN) has no access to it" : "set HF_TOKEN to a token that can read it");
  else if (status == 403)
    gather_growing_text(words, token ? "the token (HF_TOKEN) may not read it" : "access denied: set HF_TOKEN to a token that can read it");
  else if (status == 404)
    gather_growing_text(words, "no such file in the repository");
  else if (status == 429)
    gather_growing_text(words, token ? "the hub limits requests" : "the hub limits requests without a token: set HF_TOKEN");
}

/* ---- all */

int gather_remote_origin_refusal(const gather_remote_origin *origin, const gather_remote_options *options, int status,
                                 const gather_remote_notes *notes, const char *body, size_t body_bytes, int64_t seconds,
                                 gather_growing *words) {
  if (origin->scheme == GATHER_REMOTE_S3) {
    s3_fault fault;
    read_fault(body, body_bytes, &fault);
    s3_words(options, status, notes, &fault, seconds, words);
    const int number = status < 300 ? -1 : find_code(fault.code);
    return number < 0 ? -1 : CODES[number].again;
  }
  if (origin->scheme == GATHER_REMOTE_HUB)
    hub_words(origin, options, status, notes, words);
  else if ((status == 401 || status == 403) && !given(options->bearer))
    gather_growing_text(words, "access denied");
  return -1;
}
