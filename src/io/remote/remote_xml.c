/* SPDX-License-Identifier: MIT
 *
 * remote_xml.c: feeds expat, and keeps the names of the open elements and the text of the innermost one.
 */
#include "io/remote/remote_xml.h"

#ifdef GATHER_HAVE_EXPAT
#include <expat.h>
#include <limits.h>
#include <string.h>

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

static void stop(xml_parser *p, gather_xml_result result) {
  if (p->result == GATHER_XML_OK) p->result = result;
  (void)XML_StopParser(p->expat, XML_FALSE);
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes) {
  xml_parser *p = data;
  (void)attributes;
  if (p->depth == MOST_DEPTH || strlen(name) >= MOST_NAME) {
    stop(p, GATHER_XML_MALFORMED);
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
  if (p->result == GATHER_XML_OK && !p->element(p->context, p->names[p->depth], name, p->text))
    stop(p, GATHER_XML_STOPPED);
}

static void XMLCALL on_text(void *data, const XML_Char *text, int bytes) {
  xml_parser *p = data;
  if ((size_t)bytes > MOST_TEXT - p->text_bytes || memchr(text, '\0', (size_t)bytes)) {
    stop(p, GATHER_XML_MALFORMED);
    return;
  }
  memcpy(p->text + p->text_bytes, text, (size_t)bytes);
  p->text_bytes += (size_t)bytes;
}

static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                               int internal) {
  (void)name, (void)system, (void)public, (void)internal;
  stop(data, GATHER_XML_MALFORMED);
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

gather_xml_result gather_remote_xml(const char *text, size_t bytes, bool whole, gather_xml_element element,
                                    void *context) {
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
gather_xml_result gather_remote_xml(const char *text, size_t bytes, bool whole, gather_xml_element element,
                                    void *context) {
  (void)text, (void)bytes, (void)whole, (void)element, (void)context;
  return GATHER_XML_MALFORMED;
}
#endif
