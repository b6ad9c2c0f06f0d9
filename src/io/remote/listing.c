/* SPDX-License-Identifier: MIT
 *
 * listing.c: entries in memory.
 */
#include "io/remote/listing.h"

#include <string.h>

#include "core/base/alloc.h"
#include "io/remote/origin.h"

enum { FIRST_ROOM = 64 };

static bool make_room(gather_remote_listing *listing) {
  if (listing->count < listing->room) return true;
  int64_t room = listing->room ? 2 * listing->room : FIRST_ROOM;
  gather_remote_entry *entries = gather_alloc(room * (int64_t)sizeof *entries);
  if (!entries) return false;
  if (listing->count > 0) memcpy(entries, listing->entries, (size_t)listing->count * sizeof *entries);
  gather_free(listing->entries);
  listing->entries = entries;
  listing->room = room;
  return true;
}

bool gather_remote_listing_add(gather_remote_listing *listing, const char *name, size_t name_bytes, int64_t bytes,
                               bool folder) {
  if (!make_room(listing)) return false;
  char *copy = gather_remote_copy(name, name_bytes);
  if (!copy) return false;
  listing->entries[listing->count++] = (gather_remote_entry){.name = copy, .bytes = bytes, .folder = folder};
  return true;
}

void gather_remote_listing_clear(gather_remote_listing *listing) {
  if (!listing) return;
  for (int64_t i = 0; i < listing->count; i++) gather_free((char *)(uintptr_t)listing->entries[i].name);
  gather_free(listing->entries);
  memset(listing, 0, sizeof *listing);
}
