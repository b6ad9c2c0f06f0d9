/* SPDX-License-Identifier: MIT
 *
 * test_decode.c: the slots that decode quantised rows, beside the portable ones: random blocks, codes and numbers, scales that are
 * infinite or no numbers among them; the input flush against a forbidden page.
 */
#include "core/kernel/trial.h"

extern const gather_isa gather_isa_portable;

static const struct {
  const char *name;
  int32_t len, bytes;
} CODECS[] = {
    {"none", 1, 0},
#define GATHER_CODEC(ENUM, number, name, KIND, len, bytes, bits, sides, value, source) {name, len, bytes},
#include "gather/codec.def"
#undef GATHER_CODEC
};

static const int64_t OUT_BYTES[GATHER_DECODE_TYPES] = {4, 2, 2, 4};
static float wide[TRIAL_COUNT * 256 + 1];

static void begin_slot(const char *name, const char *of, int type) {
  snprintf(trial_text, sizeof trial_text, "%s, %s of %s to type %d", trial_isa->name, name, of, type);
  trial_seed((uint64_t)type + 11);
}

static trial_reach whole(int64_t bytes) { return (trial_reach){0, bytes}; }

/* Flush against the forbidden page behind it, or the one before it, or at any alignment. */
static const uint8_t *place_input(int area, int64_t bytes) {
  const int64_t where = trial_below(3);
  return trial_place(area, whole(bytes), where > 0, where == 2 ? trial_below(TRIAL_LINE) : -1);
}

static bool is_nan(const uint8_t *at, int type) {
  const uint64_t bits = trial_get(at, (int)OUT_BYTES[type]);
  const uint64_t infinite[] = {0x7f800000u, 0x7c00u, 0x7f80u, 0x7f800000u}, sign[] = {0x80000000u, 0x8000u, 0x8000u, 0x80000000u};
  return (bits & ~sign[type]) > infinite[type];
}

/* What is not a number may have any payload. */
static void excuse_nans(const uint8_t *out, int64_t count, int type) {
  uint8_t *wanted = trial_wanted(out);
  for (int64_t at = 0; at < count * OUT_BYTES[type]; at += OUT_BYTES[type])
    if (is_nan(out + at, type) && is_nan(wanted + at, type)) memcpy(wanted + at, out + at, (size_t)OUT_BYTES[type]);
}

/* The portable decoder's floats, in the type of the output. */
static void want(uint8_t *wanted, int64_t count, int type) {
  if (OUT_BYTES[type] == 4)
    memcpy(wanted, wide, (size_t)count * 4);
  else
    gather_isa_portable.decode->narrow[type](wide, count, wanted);
}

static void blocks_one(gather_blocks_fn run, int codec, int type, int64_t count, int64_t align) {
  const int64_t len = count * CODECS[codec].len;
  const trial_reach reach = whole(len * OUT_BYTES[type]);
  const uint8_t *in = place_input(TRIAL_DATA, count * CODECS[codec].bytes);
  uint8_t *out = trial_place(TRIAL_OUT, reach, trial_below(2), align);
  trial_mark(out, reach);
  gather_isa_portable.decode->blocks[codec][GATHER_DECODE_FLOAT32](in, count, wide);
  want(trial_wanted(out), len, type);
  run(in, count, out);
  excuse_nans(out, len, type);
  trial_compare();
}

void test_blocks(void **state) {
  for (int codec = 1; trial_isa->decode && codec < GATHER_CODEC_COUNT; codec++)
    for (int type = 0; type < GATHER_DECODE_TYPES; type++) {
      const gather_blocks_fn run = trial_isa->decode->blocks[codec][type];
      if (!run) continue;
      begin_slot("blocks", CODECS[codec].name, type);
      for (int64_t count = 1; count <= TRIAL_COUNT; count++)
        for (int64_t shift = -1; shift < TRIAL_LINE; shift += 16 * trial_step())
          blocks_one(run, codec, type, count, shift < 0 ? -1 : (count + shift) % TRIAL_LINE);
      trial_slots++;
    }
}

/* Usual numbers, or any bits. */
static float number(void) {
  const uint64_t bits = trial_bits();
  uint32_t any = (uint32_t)(bits >> 32);
  float usual = (float)(trial_below(2001) - 1000) / 64;
  if (bits % 8 == 0) memcpy(&usual, &any, sizeof usual);
  return usual;
}

typedef struct {
  const char *name;
  bool table, orders, any_zero;
  int32_t bits; /* 0 = any */
} code_kind;

static const code_kind KINDS[GATHER_CODES_KINDS] = {
    {"any", true, true, true, 0}, {"u8", false, false, true, 8}, {"s8", false, false, true, 8}, {"t8", true, false, true, 8},
    {"t4", true, true, true, 4},  {"t2", true, true, true, 2},   {"f8", false, false, false, 8}};

/* Numbers of groups, or none. */
static const float *numbers(bool wanted, int64_t groups, int turn) {
  if (!wanted) return NULL;
  float *made = (float *)(void *)(trial_place(TRIAL_ENTRIES, whole(groups * 4), true, -1) - turn * 8192);
  for (int64_t g = 0; g < groups; g++) made[g] = number();
  return made;
}

static void codes_one(gather_codes_fn run, const code_kind *kind, int type, int64_t count, int64_t align, int codes_kind) {
  static const int64_t lens[] = {1, 2, 3, 5, 16, 17, 32, 33, 64, 100, 1000};
  static float table[256];
  const bool wide_table = trial_below(2);
  gather_codes c = {.first = trial_below(70), .count = count, .bits = kind->bits ? kind->bits : 1 + (int32_t)trial_below(8)};
  c.group_len = lens[trial_below(COUNT(lens))], c.skip = trial_below(c.group_len);
  c.high_first = kind->orders && 8 % c.bits == 0 && c.bits < 8 && trial_below(2);
  for (int k = 0; k < 256; k++) table[k] = number();
  if (kind->table && (kind->bits || wide_table)) c.table = table;
  const int64_t groups = (c.skip + count - 1) / c.group_len + 1, from = c.first * c.bits / 8,
                bytes = ((c.first + count) * c.bits + 7) / 8 - from;
  c.zero = numbers(kind->any_zero && trial_below(2), groups, 0);
  c.scale = numbers(trial_below(4) > 0, groups, 1), c.bias = numbers(trial_below(2), groups, 2);
  c.in = place_input(TRIAL_DATA, bytes) - from;
  const trial_reach reach = whole(count * OUT_BYTES[type]);
  uint8_t *out = trial_place(TRIAL_OUT, reach, trial_below(2), align);
  trial_mark(out, reach);
  c.out = wide, gather_isa_portable.decode->codes[codes_kind][GATHER_DECODE_FLOAT32](&c);
  want(trial_wanted(out), count, type);
  c.out = out, run(&c);
  excuse_nans(out, count, type);
  trial_compare();
}

void test_codes(void **state) {
  for (int kind = 0; trial_isa->decode && kind < GATHER_CODES_KINDS; kind++)
    for (int type = 0; type < GATHER_DECODE_TYPES; type++) {
      const gather_codes_fn run = trial_isa->decode->codes[kind][type];
      if (!run) continue;
      begin_slot("codes", KINDS[kind].name, type);
      for (int64_t count = 1; count <= TRIAL_COUNT; count++)
        for (int64_t shift = -1; shift < TRIAL_LINE; shift += trial_step())
          codes_one(run, &KINDS[kind], type, count, shift < 0 ? -1 : shift, kind);
      for (int64_t count = 500; count < 1100; count += 3) /* long groups may be decoded in another way */
        codes_one(run, &KINDS[kind], type, count, -1, kind);
      trial_slots++;
    }
}

/* Numbers of which many are halfway between two halves, too large, or too small for them. */
static void fill_floats(uint8_t *at, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    uint32_t bits = (uint32_t)trial_bits();
    if (trial_below(2)) bits &= trial_below(2) ? 0xffff8000u : 0xfffff000u;
    if (trial_below(2)) bits = (bits & 0x80ffffffu) | (uint32_t)(0x30 + trial_below(0x20)) << 24;
    trial_put(at + i * 4, 4, bits);
  }
}

void test_narrow(void **state) {
  for (int type = 1; trial_isa->decode && type < GATHER_DECODE_TYPES; type++) {
    const gather_narrow_fn run = trial_isa->decode->narrow[type];
    if (!run) continue;
    begin_slot("narrow", "float32", type);
    for (int64_t count = 1; count <= TRIAL_COUNT; count++)
      for (int64_t align = -1; align < TRIAL_LINE; align += trial_step()) {
        const trial_reach reach = whole(count * 2);
        const uint8_t *in = place_input(TRIAL_INDICES, count * 4);
        uint8_t *out = trial_place(TRIAL_OUT, reach, trial_below(2), align);
        fill_floats(trial_view(in), count);
        trial_mark(out, reach);
        gather_isa_portable.decode->narrow[type]((const float *)(const void *)in, count, trial_wanted(out));
        run((const float *)(const void *)in, count, out);
        excuse_nans(out, count, type);
        trial_compare();
      }
    trial_slots++;
  }
}
