/* SPDX-License-Identifier: MIT
 *
 * literal_kind.c: whether an argument is a literal, or the name of a file.
 */
#include <string.h>

#include "args.h"
#include "literal.h"
#include "value.h"

static const char BLANKS[] = " \t\n\v\f\r";

bool gather_cli_is_literal(const char *text) {
  const char *p = text + strspn(text, BLANKS);
  if (*p == '[') return true;
  const char *end;
  int64_t number;
  bool too_big;
  if (!gather_cli_whole(p, &end, &number, &too_big) && !too_big) return false;
  return end[strspn(end, BLANKS)] == 0;
}

bool gather_cli_is_literal_of(gather_type type, const char *text) {
  const gather_type_info *info = gather_type_get(type);
  const char *end;
  double number;
  unsigned char element;
  bool finite;
  if (gather_cli_is_literal(text)) return true;
  if (info && info->kind == GATHER_KIND_BOOL) return gather_cli_bool(text, &element);
  return info && gather_cli_literal_has(type) && gather_cli_double(text, &end, &number, &finite) && *end == 0;
}
