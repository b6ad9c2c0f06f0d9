/* SPDX-License-Identifier: MIT
 *
 * remote_xml.h: the small XML answers of S3, by expat. Only elements with text count; attributes and names' prefixes do not.
 */
#ifndef GATHER_REMOTE_XML_H
#define GATHER_REMOTE_XML_H

#include <stdbool.h>
#include <stddef.h>

typedef enum gather_xml_result {
  GATHER_XML_OK,
  GATHER_XML_MALFORMED,
  GATHER_XML_STOPPED,
  GATHER_XML_NO_MEMORY
} gather_xml_result;

/* Called at the end of each element below the root, or the root itself: its name, its parent's ("" for the root), and its text
 * ("" if it has elements; terminated). Returns false to stop. */
typedef bool (*gather_xml_element)(void *context, const char *parent, const char *name, const char *text);

/* Parses a document. Refused as malformed: a document type (entities can expand without limit), more than 8 levels, a text of more
 * than 8 KiB. whole: false if the document may be cut off at its end; then that is no fault. Without expat in the build: MALFORMED. */
gather_xml_result gather_remote_xml(const char *text, size_t bytes, bool whole, gather_xml_element element,
                                    void *context);

#endif
