/* SPDX-License-Identifier: MIT
 *
 * round_tables.tmpl.h: a small table for each round, as GatherElements along a short last axis has. The table of a round, or
 * those of several short rounds, are loaded into registers and permuted by the indices of one output vector. Included
 * once per instruction set, after a header (round_tables_avx2.h) that defines:
 *   round_vector                 an output vector, ROUND_VECTOR bytes
 *   ROUND_PART(size)             bytes of table that one register holds, for elements of this size
 *   round_pick(size, data, at, registers)     elements number `at` of registers * ROUND_PART(size) bytes at `data`
 *   round_indices(width, size, indices)       indices of that width as lanes of `size` bytes, as many as an output vector has
 *   round_add(size, a, b), round_blend(a, b, mask), round_load(in), round_put(out, value, nontemporal)
 */

/* A table takes 1, 2 or 4 registers. One register may hold the tables of several rounds, a group; an output vector has 1, 2 or 4
 * groups. */
enum { ROUND_GROUPS = 4 };

/* How short rounds are put together to vectors. */
typedef struct {
  int64_t group;  /* rounds whose tables one load brings */
  int64_t rounds; /* rounds of a vector: at most ROUND_GROUPS groups */
  int64_t enough; /* with so many rounds left, vectors neither read nor write outside the rows */
  bool full;      /* the rounds fill the vector */
  round_vector base /* of each lane: where the table of its round begins */, mask[ROUND_GROUPS] /* lanes of each group */;
} round_layout;

GATHER_INLINE int64_t round_up(int64_t bytes, int64_t step) { return bytes <= 0 ? 0 : (bytes + step - 1) / step; }

/* Rounds that must be left so that `bytes` of data, from `ahead` behind the first one's table on, can be read; INT64_MAX if they
 * never can: below a table there are others, but none above the first. */
GATHER_INLINE int64_t round_readable(const gather_span *s, int64_t ahead, int64_t bytes) {
  if (ahead < 0) return INT64_MAX;
  if (ahead + bytes <= s->table_bytes) return 1;
  return s->data_round > 0 ? 1 + round_up(ahead + bytes - s->table_bytes, s->data_round) : INT64_MAX;
}

/* Without divisions by lane: deferred validation runs kernels on a thousand rows at a time. */
GATHER_INLINE void round_lay_out(const gather_span *s, int size, int registers, int groups, round_layout *l) {
  const int64_t lanes = ROUND_VECTOR / size, count = s->count, group = l->group, read = ROUND_PART(size) * registers;
  const int64_t table = group > 1 ? s->data_round / size : 0, bytes = count * size;
  char base[ROUND_VECTOR] = {0}, mask[ROUND_GROUPS][ROUND_VECTOR] = {{0}};
  l->full = l->rounds * count == lanes;
  for (int64_t round = 0, g = 0, of_group = 0; round < l->rounds; round++) {
    for (int64_t j = 0; j < count; j++) base[round * bytes + j * size] = (char)(of_group * table);
    memset(&mask[g][round * bytes], 0xFF, (size_t)bytes);
    if (++of_group == group) of_group = 0, g++;
  }
  l->base = round_load(base); /* lanes of several bytes are little-endian */
  for (int g = 0; g < groups; g++) l->mask[g] = round_load(mask[g]);
  const int64_t readable = round_readable(s, (groups - 1) * group * s->data_round, read);
  l->enough = round_up(lanes, count);
  if (l->enough < readable) l->enough = readable;
}

/* The rows of a round one by one. */
GATHER_INLINE void round_rest(char *out, const char *data, const char *indices, int64_t count, int width, int size) {
  for (int64_t j = 0; j < count; j++) {
    const int64_t row = gather_row(indices, width, j);
    memcpy(out + j * size, data + row * size, (size_t)size);
  }
}

GATHER_INLINE void round_prefetch(bool many, const char *indices, int64_t bytes) {
  if (many)
    for (int64_t at = 0; at < bytes; at += 64) GATHER_PREFETCH(indices + GATHER_INDEX_PREFETCH + at);
}

/* Whether vectors may be stored with non-temporal stores. */
GATHER_INLINE bool round_nontemporal(const gather_span *s, bool full) { return s->nontemporal && full && (uintptr_t)s->out % 16 == 0; }

/* Rounds shorter than a vector. Returns how many were moved. With a limit, what follows the rounds of a vector is compared as well. */
GATHER_INLINE int64_t round_short(const gather_span *s, round_layout *l, int width, int size, int registers, int groups, uint64_t limit) {
  round_lay_out(s, size, registers, groups, l);
  const int64_t rows = l->rounds * s->count, group_step = l->group * s->data_round;
  const int64_t data_step = l->rounds * s->data_round, enough = l->enough, rounds = l->rounds;
  const bool nontemporal = round_nontemporal(s, l->full), many = s->many;
  const char *data = s->data, *indices = s->indices;
  char *out = s->out;
  int64_t left = s->rounds;
  for (; left >= enough; left -= rounds) {
    round_prefetch(many, indices, ROUND_VECTOR / size * width);
    if (limit > 0 && !all_below(indices, width, ROUND_VECTOR / size, limit)) break;
    const round_vector at = round_add(size, round_indices(width, size, indices), l->base);
    round_vector value = round_pick(size, data, at, registers);
    for (int g = 1; g < groups; g++) value = round_blend(value, round_pick(size, data + g * group_step, at, registers), l->mask[g]);
    round_put(out, value, nontemporal);
    data += data_step, indices += rows * width, out += rows * size;
  }
  return s->rounds - left;
}

/* Rounds of a vector and more: the last one overlaps. Returns how many were moved. */
GATHER_INLINE int64_t round_long(const gather_span *s, int width, int size, int registers, uint64_t limit) {
  const int64_t lanes = ROUND_VECTOR / size, count = s->count, data_round = s->data_round;
  const int64_t enough = round_readable(s, 0, ROUND_PART(size) * registers);
  const bool nontemporal = round_nontemporal(s, count % lanes == 0), many = s->many;
  const char *data = s->data, *indices = s->indices;
  char *out = s->out;
  int64_t left = s->rounds;
  for (; left >= enough; left--) {
    bool below = true;
    for (int64_t j = 0; limit > 0 && j < count; j += lanes)
      below &= all_below(indices + (j + lanes <= count ? j : count - lanes) * width, width, ROUND_VECTOR / size, limit);
    if (!below) break;
    for (int64_t j = 0; j < count; j += lanes) {
      const int64_t at = j + lanes <= count ? j : count - lanes;
      round_prefetch(many, indices + j * width, lanes * width);
      const round_vector value = round_pick(size, data, round_indices(width, size, indices + at * width), registers);
      round_put(out + at * size, value, nontemporal);
    }
    data += data_round, indices += count * width, out += count * size;
  }
  return s->rounds - left;
}

/* Short rounds in as many groups as they need. Groups of several rounds need tables at steps of whole elements. */
GATHER_INLINE int64_t round_short_any(const gather_span *s, int width, int size, uint64_t limit) {
  const int64_t part = ROUND_PART(size), room = part - s->table_bytes, most = ROUND_VECTOR / size / s->count;
  const int64_t step = s->data_round;
  round_layout l;
  l.group = step == 0 ? most : step > 0 && step <= room && step % size == 0 ? 1 + room / step : 1;
  if (l.group > most) l.group = most;
  l.rounds = l.group * ROUND_GROUPS < most ? l.group * ROUND_GROUPS : most;
  if (l.rounds == l.group) return round_short(s, &l, width, size, 1, 1, limit);
  return l.rounds <= 2 * l.group ? round_short(s, &l, width, size, 1, 2, limit) : round_short(s, &l, width, size, 1, 4, limit);
}

GATHER_INLINE int64_t round_vectors(const gather_span *s, int width, int size, uint64_t limit) {
  const int64_t part = ROUND_PART(size);
  if (s->count < ROUND_VECTOR / size) {
    round_layout l = {.group = 1, .rounds = 1};
    if (s->table_bytes <= part) return round_short_any(s, width, size, limit);
    if (s->table_bytes <= 2 * part) return round_short(s, &l, width, size, 2, 1, limit);
    return round_short(s, &l, width, size, 4, 1, limit);
  }
  if (s->table_bytes <= part) return round_long(s, width, size, 1, limit);
  return s->table_bytes <= 2 * part ? round_long(s, width, size, 2, limit) : round_long(s, width, size, 4, limit);
}

/* Where data advances with each row, each row is a round. Returns how many rows moved; limit: of indices that nobody has validated, else 0.
 * Then vectors end before one with an index that is not below it. */
GATHER_INLINE int64_t round_table(const gather_span *s, int width, int size, uint64_t limit) {
  gather_span rounds = *s;
  if (s->data_step != 0) rounds.rounds = s->count, rounds.count = 1, rounds.data_round = s->data_step;
  const int64_t count = rounds.count;
  for (int64_t i = round_vectors(&rounds, width, size, limit); i < rounds.rounds; i++) {
    const char *indices = rounds.indices + i * count * width;
    if (limit > 0 && !first_below(indices, width, count, limit)) return i * count;
    round_rest(rounds.out + i * count * size, rounds.data + i * rounds.data_round, indices, count, width, size);
  }
  return rounds.rounds * count;
}

#define ROUND_TABLE(width, size) \
  static void round_table_##width##_##size(const gather_span *s) { round_table(s, width, size, 0); }
#define CHECKED_ROUND_TABLE(width, size)                                                      \
  static int64_t checked_round_table_##width##_##size(const gather_span *s, uint64_t limit) { \
    return limit > BELOW_MOST(width) ? 0 : round_table(s, width, size, limit);                \
  }
ROUND_TABLE(1, 1)
ROUND_TABLE(1, 2)
ROUND_TABLE(1, 4)
ROUND_TABLE(1, 8)
ROUND_TABLE(4, 1)
ROUND_TABLE(4, 2)
ROUND_TABLE(4, 4)
ROUND_TABLE(4, 8)
ROUND_TABLE(8, 1)
ROUND_TABLE(8, 2)
ROUND_TABLE(8, 4)
ROUND_TABLE(8, 8)
CHECKED_ROUND_TABLE(4, 4)
CHECKED_ROUND_TABLE(4, 8)
CHECKED_ROUND_TABLE(8, 4)
CHECKED_ROUND_TABLE(8, 8)
#undef ROUND_TABLE
#undef CHECKED_ROUND_TABLE

#define ROUND_TABLE_SLOTS                                                       \
  {                                                                             \
    {round_table_1_1, round_table_1_2, round_table_1_4, round_table_1_8},       \
        {round_table_4_1, round_table_4_2, round_table_4_4, round_table_4_8}, { \
      round_table_8_1, round_table_8_2, round_table_8_4, round_table_8_8        \
    }                                                                           \
  }
/* Shorter elements gain little if their indices are in a cache, and lose if not. */
#define CHECKED_ROUND_TABLE_SLOTS                                                                                                    \
  {                                                                                                                                  \
    {NULL, NULL, checked_round_table_4_4, checked_round_table_4_8}, { NULL, NULL, checked_round_table_8_4, checked_round_table_8_8 } \
  }
