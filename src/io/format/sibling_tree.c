/* SPDX-License-Identifier: MIT
 *
 * sibling_tree.c: finds a file beside a model by its name. The names are in a crit-bit tree (a binary tree by the
 * first bit that differs): a search takes time linear in the length of the name.
 */
#include <string.h>

#include "io/format/format.h"

/* Splits the names below it by one bit. */
struct gather_sibling_branch {
  struct gather_sibling_branch *child[2]; /* NULL: leaf */
  gather_sibling *leaf[2];
  size_t byte;
  uint8_t others; /* the bits of that byte except the splitting one */
};

typedef struct gather_sibling_branch branch;

/* 0 or 1: the bit of a name. */
static int side_of(const branch *at, const char *name, size_t length) {
  uint8_t byte = at->byte < length ? (uint8_t)name[at->byte] : 0;
  return (1 + (at->others | byte)) >> 8;
}

/* The leaf that has this name, if any does. */
static gather_sibling *nearest(const gather_file *file, const char *name, size_t length) {
  gather_sibling *found = file->siblings;
  for (const branch *at = file->sibling_root; at;) {
    int side = side_of(at, name, length);
    found = at->leaf[side];
    at = at->child[side];
  }
  return found;
}

gather_sibling *gather_sibling_find(const gather_file *file, const char *location) {
  gather_sibling *found = nearest(file, location, strlen(location));
  return found && strcmp(found->location, location) == 0 ? found : NULL;
}

/* Sets the first bit in which the two names differ. */
static void part(branch *made, const char *a, const char *b) {
  size_t byte = 0;
  while (a[byte] == b[byte]) byte++;
  uint8_t bits = (uint8_t)(a[byte] ^ b[byte]);
  while (bits & (bits - 1)) bits &= (uint8_t)(bits - 1); /* the highest bit */
  made->byte = byte;
  made->others = (uint8_t)~bits;
}

static bool is_above(const branch *at, const branch *made) {
  return at->byte < made->byte || (at->byte == made->byte && at->others < made->others);
}

bool gather_sibling_add(gather_file *file, gather_sibling *added) {
  const char *name = added->location;
  size_t length = strlen(name);
  gather_sibling *beside = nearest(file, name, length);
  if (beside) {
    branch *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made), **link = &file->sibling_root,
           *above = NULL;
    if (!made) return false;
    part(made, name, beside->location);
    int side = side_of(made, name, length), last = 0;
    while (*link && is_above(*link, made)) {
      above = *link;
      last = side_of(above, name, length);
      link = &above->child[last];
    }
    made->leaf[side] = added;
    made->child[!side] = *link;
    if (!*link) made->leaf[!side] = above ? above->leaf[last] : file->siblings;
    *link = made;
  }
  added->next = file->siblings;
  file->siblings = added;
  return true;
}
