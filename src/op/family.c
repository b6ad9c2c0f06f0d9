/* SPDX-License-Identifier: MIT
 *
 * family.c: the table of operator families.
 */
#include "op/family.h"

#include "base/error.h"

#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) extern const gather_family_rules gather_family_##file;
#include "gather/family.def"
#undef GATHER_FAMILY

const gather_family_rules *gather_family_find(const gather_op *op, gather_error *error) {
  switch (op->family) {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) \
  case GATHER_FAMILY_##ENUM:                                \
    return &gather_family_##file;
#include "gather/family.def"
#undef GATHER_FAMILY
  }
  (void)gather_fail(error, GATHER_USAGE, "the operator's family is %d, which is not a family", (int)op->family);
  return NULL;
}

const gather_family_info *gather_family_get(gather_family family) {
  static const gather_family_info FAMILIES[] = {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) {GATHER_FAMILY_##ENUM, name, whole_rows},
#include "gather/family.def"
#undef GATHER_FAMILY
  };
  for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
    if (FAMILIES[i].family == family) return &FAMILIES[i];
  return NULL;
}
