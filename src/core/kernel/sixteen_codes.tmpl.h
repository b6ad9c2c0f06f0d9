/* SPDX-License-Identifier: MIT
 *
 * sixteen_codes.tmpl.h: codes whose scales are elsewhere (gather_codes of decode.h), and rounding to halves, for one instruction set
 * and one type of the output: after sixteen_blocks.tmpl.h, with its parameters, which it undefines.
 */

/* Less than sixteen elements go through a copy. */
GATHER_INLINE void NAME(put_some)(char *out, FLOATS v, int64_t count) {
  char all[16 * OUT_BYTES];
  NAME(put)(all, v);
  memcpy(out, all, (size_t)(count * OUT_BYTES));
}

GATHER_INLINE BYTES NAME(load_some)(const unsigned char *in, int64_t count) {
  unsigned char some[16] = {0};
  memcpy(some, in, (size_t)count);
  return load(some);
}

/* Groups of codes of one byte. STEPS(v, n): what becomes of sixteen of them. */
#define CODES_OF_BYTES(kind, WIDEN, STEPS)                                                                   \
  GATHER_INLINE void NAME(group_##kind)(const unsigned char *in, int64_t count, step_numbers n, char *out) { \
    int64_t i = 0;                                                                                           \
    for (; i + 16 <= count; i += 16) NAME(put)(OUT(i), STEPS(WIDEN(load(in + i)), n));                       \
    if (i < count) NAME(put_some)(OUT(i), STEPS(WIDEN(NAME(load_some)(in + i, count - i)), n), count - i);   \
  }                                                                                                          \
  static void NAME(codes_##kind)(const gather_codes *c) {                                                    \
    char *out = c->out;                                                                                      \
    int64_t left = c->group_len - c->skip;                                                                   \
    for (int64_t i = 0, group = 0, now; i < c->count; i += now, group++, left = c->group_len) {              \
      now = c->count - i < left ? c->count - i : left;                                                       \
      NAME(group_##kind)(c->in + c->first + i, now, numbers_of(c, group), OUT(i));                           \
    }                                                                                                        \
  }
#define THREE_STEPS(v, n) plus(times(less(v, n.zero), n.scale), n.bias)
#define ONE_STEP(v, n) fused(v, n.scale, n.bias)
CODES_OF_BYTES(u8, of_unsigned, THREE_STEPS)
CODES_OF_BYTES(s8, of_signed, THREE_STEPS)
CODES_OF_BYTES(f8, of_unsigned, ONE_STEP)
#undef ONE_STEP
#undef THREE_STEPS
#undef CODES_OF_BYTES

/* A group of codes of four bits: its values are a table of sixteen. */
GATHER_INLINE void NAME(group_t4)(const gather_codes *c, int64_t first, int64_t count, FLOATS table, char *out) {
  const unsigned char *in = c->in + (first >> 1);
  if (first & 1) { /* the second code of a byte */
    const BYTES q = every(c->high_first ? in[0] & 15 : in[0] >> 4);
    NAME(put_some)(out, pick_floats(table, q), 1);
    in++, count--, out += OUT_BYTES;
  }
  int64_t i = 0;
  for (; i + 32 <= count; i += 32, in += 16) {
    const BYTES q = load(in), low = both(q, every(15)), high = both(down(q, 4), every(15));
    const BYTES a = c->high_first ? high : low, b = c->high_first ? low : high;
    NAME(put)(OUT(i), pick_floats(table, zip_low(a, b)));
    NAME(put)(OUT(i + 16), pick_floats(table, zip_high(a, b)));
  }
  while (i < count) {
    const int64_t now = count - i < 16 ? count - i : 16;
    const BYTES q = now == 16 ? load_8(in) : NAME(load_some)(in, (now + 1) / 2);
    const BYTES low = both(q, every(15)), high = both(down(q, 4), every(15));
    const FLOATS v = pick_floats(table, c->high_first ? zip_low(high, low) : zip_low(low, high));
    if (now == 16)
      NAME(put)(OUT(i), v);
    else
      NAME(put_some)(OUT(i), v, now);
    i += now, in += 8;
  }
}

static void NAME(codes_t4)(const gather_codes *c) {
  const FLOATS table = sixteen_at(c->table);
  char *out = c->out;
  int64_t left = c->group_len - c->skip;
  for (int64_t i = 0, group = 0, now; i < c->count; i += now, group++, left = c->group_len) {
    const step_numbers n = numbers_of(c, group);
    now = c->count - i < left ? c->count - i : left;
    NAME(group_t4)(c, c->first + i, now, plus(times(less(table, n.zero), n.scale), n.bias), OUT(i));
  }
}

#if OUT_BYTES == 2
static void NAME(narrow)(const float *in, int64_t count, void *to) {
  char *out = to;
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) NAME(put)(OUT(i), sixteen_at(in + i));
  if (i == count) return;
  float last[16] = {0};
  memcpy(last, (const char *)in + i * 4, (size_t)(count - i) * 4);
  NAME(put_some)(OUT(i), sixteen_at(last), count - i);
}
#endif

#undef EACH_BLOCK
#undef TAKEN
#undef ADDED
#undef SCALED
#undef OUT
#undef NAME
#undef NAME__
#undef NAME_
#undef SUFFIX
#undef OUT_BYTES
