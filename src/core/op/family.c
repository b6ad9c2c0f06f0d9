/* SPDX-License-Identifier: MIT
 *
 * family.c: the table of operator families.
 */
#include "core/op/family.h"

#include "core/base/error.h"

#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) extern const gather_family_rules gather_family_##file;
#include "gather/family.def"
#undef GATHER_FAMILY

gather_status gather_family_find(const gather_op *op, const gather_family_rules **rules, gather_error *error) {
  switch (op->family) {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) \
  case GATHER_FAMILY_##ENUM:                                \
    *rules = &gather_family_##file;                         \
    return GATHER_OK;
#define GATHER_FAMILY_OWN(ENUM, number, name, function) case GATHER_FAMILY_##ENUM:
#include "gather/family.def"
#undef GATHER_FAMILY
    return gather_fail(error, GATHER_UNSUPPORTED, "%s has a function of its own: call %s", op->name,
                       gather_family_get(op->family)->function);
  }
  return gather_fail(error, GATHER_USAGE, "the operator's family is %d, which is not a family", (int)op->family);
}

const gather_family_info *gather_family_get(gather_family family) {
  static const gather_family_info FAMILIES[] = {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) {GATHER_FAMILY_##ENUM, name, whole_rows, NULL},
#define GATHER_FAMILY_OWN(ENUM, number, name, function) {GATHER_FAMILY_##ENUM, name, false, function},
#include "gather/family.def"
#undef GATHER_FAMILY
  };
  for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
    if (FAMILIES[i].family == family) return &FAMILIES[i];
  return NULL;
}
