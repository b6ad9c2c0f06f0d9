/* SPDX-License-Identifier: MIT
 *
 * radix.tmpl.h: the three steps of radix.h for one size of element. Included once per index width and size.
 *
 * Parameters (undefined again at the end):
 *   INDEX    uint32_t or uint64_t
 *   ENTRY    uint32_t or uint64_t: holds a row's number, then its element
 *   BYTES    of an element
 *   SUFFIX   ends the names of the functions
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

GATHER_INLINE INDEX NAME(row)(const char *indices, int64_t j, INDEX axis_len) {
  INDEX value;
  memcpy(&value, indices + j * (int64_t)sizeof value, sizeof value);
  return (INDEX)(value + (axis_len & (INDEX)(0 - (value >> (8 * sizeof value - 1)))));
}

/* Limited to the number of partitions: even with unchecked indices no entry is written outside. */
GATHER_INLINE unsigned NAME(part_of)(INDEX row, int shift) { return (unsigned)(row >> shift) % GATHER_RADIX_PARTS; }

/* Counts the indices of each partition, in four arrays, so that equal neighbours do not wait for each other. */
static void NAME(count)(gather_radix *r) {
  uint32_t counts[4][GATHER_RADIX_PARTS];
  const INDEX axis_len = (INDEX)r->axis_len;
  const int shift = r->shift;
  memset(counts, 0, sizeof counts);
  int64_t j = 0;
  for (; j + 4 <= r->count; j += 4)
    for (int u = 0; u < 4; u++) counts[u][NAME(part_of)(NAME(row)(r->indices, j + u, axis_len), shift)]++;
  for (; j < r->count; j++) counts[0][NAME(part_of)(NAME(row)(r->indices, j, axis_len), shift)]++;
  uint32_t at = 0;
  for (int p = 0; p < GATHER_RADIX_PARTS; p++) {
    r->at[p] = at;
    at += counts[0][p] + counts[1][p] + counts[2][p] + counts[3][p];
  }
}

static void NAME(part)(gather_radix *r) {
  NAME(count)(r);
  ENTRY *entries = r->entries;
  uint32_t at[GATHER_RADIX_PARTS];
  memcpy(at, r->at, sizeof at);
  const INDEX axis_len = (INDEX)r->axis_len;
  const int shift = r->shift;
  const char *indices = r->indices;
  for (int64_t j = 0, count = r->count; j < count; j++) {
    INDEX row = NAME(row)(indices, j, axis_len);
    entries[at[NAME(part_of)(row, shift)]++] = (ENTRY)row;
  }
}

static void NAME(fetch)(const gather_radix *r) {
  enum { AHEAD = 128 };
  ENTRY *entries = r->entries;
  const char *data = r->data;
  const int64_t axis_step = r->axis_step, count = r->count;
  int64_t j = 0;
  for (; j + AHEAD < count; j++) {
    GATHER_PREFETCH(data + (int64_t)entries[j + AHEAD] * axis_step);
    memcpy(&entries[j], data + (int64_t)entries[j] * axis_step, BYTES);
  }
  for (; j < count; j++) memcpy(&entries[j], data + (int64_t)entries[j] * axis_step, BYTES);
}

static void NAME(join)(gather_radix *r, int64_t first, int64_t count, char *out) {
  const ENTRY *entries = r->entries;
  const char *indices = r->indices + first * (int64_t)sizeof(INDEX);
  const INDEX axis_len = (INDEX)r->axis_len;
  const int shift = r->shift;
  uint32_t *at = r->at;
  for (int64_t j = 0; j < count; j++) memcpy(out + j * BYTES, &entries[at[NAME(part_of)(NAME(row)(indices, j, axis_len), shift)]++], BYTES);
}

static const gather_radix_kernel NAME(kernel) = {sizeof(ENTRY), NAME(part), NAME(fetch), NAME(join)};

#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef ENTRY
#undef BYTES
#undef SUFFIX
