/* SPDX-License-Identifier: MIT
 *
 * explained.h: drawings, held to parts of them.
 */
#ifndef GATHER_TESTS_MODEL_UNIT_EXPLAINED_H
#define GATHER_TESTS_MODEL_UNIT_EXPLAINED_H

#include "gather/explain.h"
#include "support/unit.h"

static char *text_of(const gather_explain *made, const gather_explain_text_options *options) {
  char *text = NULL;
  size_t bytes = 0;
  gather_error error = dirty_error();
  if (gather_explain_text(made, options, &text, &bytes, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(strlen(text), bytes);
  assert_int_equal(text[bytes - 1], '\n');
  return text;
}

static void assert_in(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

static inline gather_explain *explain(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                      const gather_options *gather, const gather_explain_options *options) {
  gather_explain *made = NULL;
  gather_error error = dirty_error();
  if (gather_explain_create(op, data, indices, gather, options, &made, &error) != GATHER_OK) fail_msg("%s", error.message);
  return made;
}

/* Draws, frees the drawing, and holds its text to a part of it. */
static void assert_drawn(gather_explain *made, const char *part) {
  char *text = text_of(made, NULL);
  assert_in(text, part);
  gather_text_free(text);
  gather_explain_destroy(made);
}

/* Both drawings of it have the part; frees it. */
static inline void assert_pictured(gather_explain *made, const char *in_text, const char *in_picture) {
  char *picture = NULL;
  assert_status(gather_explain_svg(made, &picture, NULL, NULL), GATHER_OK);
  assert_in(picture, in_picture);
  gather_text_free(picture);
  assert_drawn(made, in_text);
}

#endif
