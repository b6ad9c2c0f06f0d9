/* SPDX-License-Identifier: MIT
 *
 * count_instructions.c: runs each kernel of NEON and SVE and the portable one of the same slot on the same rows, under qemu with
 * count_plugin.c. It writes a line per kernel: its name, the portable one's, and how many rows (or elements, or bytes) it moved; the plugin
 * writes the counts: of nothing, of the portable kernel, of the other. script/count-arm-instructions joins both.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/dispatch.h"

extern const gather_isa gather_isa_portable, gather_isa_neon, gather_isa_sve;

enum { MARK = 4000, ROWS = 4096, LONG_ROW = 1024, TABLE = 1 << 20, BLOCKS = 16, CODES = 4096 };

static char table[TABLE], indices[ROWS * 8], out[ROWS * LONG_ROW + 64];
static int64_t wide[ROWS];

static void mark(void) { (void)syscall(MARK); }

/* What a kernel is called with. */
typedef void (*call_fn)(const void *kernel, const void *what);

static void count(const char *isa, const char *name, call_fn call, const void *portable, const void *kernel, const void *what,
                  int64_t units) {
  call(portable, what), call(kernel, what); /* symbols are bound */
  mark(), mark();
  call(portable, what), mark();
  call(kernel, what), mark();
  printf("%s\t%s\t%lld\n", isa, name, (long long)units);
}

/* Pointers to functions as pointers to them, which C allows. */
static void call_rows(const void *kernel, const void *what) { (*(const gather_rows_fn *)kernel)(what); }

/* Indices of one byte are widened first. */
static void call_widened(const void *kernel, const void *what) {
  const gather_span *span = what;
  gather_span widened = *span;
  if (span->index_step > 1) {
    call_rows(kernel, span);
    return;
  }
  gather_isa_portable.widen[4](span->indices, span->count, 0, wide);
  widened.indices = (const char *)wide, widened.index_step = 8;
  call_rows(kernel, &widened);
}

static gather_span span_of(int width, int64_t row, int64_t table_rows, int64_t rows, bool runs) {
  for (int64_t j = 0, at = 0; j < rows; j++) {
    at = runs && j % 16 ? at + 1 : (j * 7919 + 5) % (table_rows - 16 > 0 ? table_rows - 16 : table_rows);
    const uint64_t eight = (uint64_t)at;
    const uint32_t four = (uint32_t)at;
    const uint8_t one = (uint8_t)at;
    const void *from = width == 1 ? (const void *)&one : width == 4 ? (const void *)&four : (const void *)&eight;
    memcpy(indices + j * width, from, (size_t)width);
  }
  return (gather_span){.data = table,
                       .indices = indices,
                       .out = out + (64 - (uintptr_t)out % 64) % 64,
                       .count = rows,
                       .rounds = 1,
                       .index_step = width,
                       .out_step = row,
                       .axis_step = row,
                       .row_bytes = row,
                       .prefetch_lines = 1,
                       .table_bytes = table_rows * row};
}

static const int WIDTHS[GATHER_WIDTHS] = {4, 8}, TABLE_WIDTHS[GATHER_TABLE_WIDTHS] = {1, 4, 8};
static const int64_t CLASS_ROWS[GATHER_ROW_CLASSES] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, LONG_ROW};

static void count_rows(const gather_isa *isa) {
  char name[100];
  for (int w = 0; w < GATHER_WIDTHS; w++) {
    for (int c = 0; c < GATHER_ROW_CLASSES; c++) {
      if (!isa->nontemporal[w][c]) continue;
      const gather_span s = span_of(WIDTHS[w], CLASS_ROWS[c], TABLE / CLASS_ROWS[c], ROWS, false);
      snprintf(name, sizeof name, "non-temporal rows of %d B, indices of %d B", (int)CLASS_ROWS[c], WIDTHS[w]);
      count(isa->name, name, call_rows, &gather_isa_portable.rows[w][c], &isa->nontemporal[w][c], &s, ROWS);
    }
    const gather_span longs = span_of(WIDTHS[w], LONG_ROW, TABLE / LONG_ROW, ROWS, false);
    snprintf(name, sizeof name, "interleaved rows of %d B, indices of %d B", LONG_ROW, WIDTHS[w]);
    if (isa->interleaved[w])
      count(isa->name, name, call_rows, &gather_isa_portable.rows[w][GATHER_ROW_CLASSES - 1], &isa->interleaved[w], &longs, ROWS);
    const gather_span runs = span_of(WIDTHS[w], 64, TABLE / 64, ROWS, true);
    snprintf(name, sizeof name, "runs of 16 rows of 64 B, indices of %d B", WIDTHS[w]);
    if (isa->runs[w]) count(isa->name, name, call_rows, &gather_isa_portable.runs[w], &isa->runs[w], &runs, ROWS);
    snprintf(name, sizeof name, "non-temporal runs of 16 rows of 64 B, indices of %d B", WIDTHS[w]);
    if (isa->nontemporal_runs[w]) count(isa->name, name, call_rows, &gather_isa_portable.runs[w], &isa->nontemporal_runs[w], &runs, ROWS);
    for (int size = 0; size < 2; size++) {
      if (!isa->gather_instruction[w][size]) continue;
      const gather_span s = span_of(WIDTHS[w], 4 << size, 1024, ROWS, false);
      snprintf(name, sizeof name, "gather instruction, elements of %d B, indices of %d B", 4 << size, WIDTHS[w]);
      count(isa->name, name, call_rows, &gather_isa_portable.rows[w][gather_row_class(4 << size)], &isa->gather_instruction[w][size], &s,
            ROWS);
    }
  }
}

static void count_tables(const gather_isa *isa) {
  char name[100];
  for (int w = 0; w < GATHER_TABLE_WIDTHS; w++)
    for (int size = 0; size < 4; size++)
      for (int64_t bytes = 16; isa->table[w][size] && bytes <= isa->table_bytes[size]; bytes *= 2) {
        const int rows_width = TABLE_WIDTHS[w] == 4 ? GATHER_WIDTH_4 : GATHER_WIDTH_8;
        const gather_span s = span_of(TABLE_WIDTHS[w], 1 << size, bytes >> size, ROWS, false);
        snprintf(name, sizeof name, "table of %d B, elements of %d B, indices of %d B", (int)bytes, 1 << size, TABLE_WIDTHS[w]);
        /* Only the portable kernel needs wider indices. */
        mark(), mark();
        call_widened(&gather_isa_portable.rows[rows_width][size], &s), mark();
        call_rows(&isa->table[w][size], &s), mark();
        printf("%s\t%s\t%d\n", isa->name, name, ROWS);
      }
}

static void call_widen(const void *kernel, const void *what) {
  (void)what;
  (*(const gather_widen_fn *)kernel)(indices, ROWS, 1000, wide);
}

static void call_blocks(const void *kernel, const void *what) {
  (void)what;
  (*(const gather_blocks_fn *)kernel)((const unsigned char *)table, BLOCKS, out);
}

static void call_codes(const void *kernel, const void *what) { (*(const gather_codes_fn *)kernel)(what); }

static void call_narrow(const void *kernel, const void *what) {
  (void)what;
  (*(const gather_narrow_fn *)kernel)((const float *)(const void *)wide, ROWS, out);
}

static void count_decoding(const gather_isa *isa) {
  static const int32_t lens[GATHER_CODEC_COUNT] = {
      1,
#define GATHER_CODEC(ENUM, number, name, KIND, len, bytes, bits, sides, value, source) len,
#include "gather/codec.def"
#undef GATHER_CODEC
  };
  static const char *const names[GATHER_CODEC_COUNT] = {
      "",
#define GATHER_CODEC(ENUM, number, name, KIND, len, bytes, bits, sides, value, source) name,
#include "gather/codec.def"
#undef GATHER_CODEC
  };
  static const char *const kinds[GATHER_CODES_KINDS] = {"any", "u8", "s8", "t8", "t4", "t2", "f8"};
  static const int32_t bits[GATHER_CODES_KINDS] = {8, 8, 8, 8, 4, 2, 8};
  static const char *const types[GATHER_DECODE_TYPES] = {"float32", "float16", "bfloat16"};
  static float values[256], numbers[CODES / 32 + 1];
  const gather_decoding *base = gather_isa_portable.decode, *d = isa->decode;
  char name[100];
  if (!d) return;
  for (int t = 0; t < GATHER_DECODE_TYPES; t++) {
    for (int c = 1; c < GATHER_CODEC_COUNT; c++) {
      snprintf(name, sizeof name, "%s to %s", names[c], types[t]);
      if (d->blocks[c][t] && base->blocks[c][t])
        count(isa->name, name, call_blocks, &base->blocks[c][t], &d->blocks[c][t], NULL, BLOCKS * lens[c]);
    }
    for (int k = 0; k < GATHER_CODES_KINDS; k++) {
      const bool is_table = k == GATHER_CODES_T8 || k == GATHER_CODES_T4 || k == GATHER_CODES_T2;
      const gather_codes codes = {.in = (const unsigned char *)table,
                                  .count = CODES,
                                  .group_len = 32,
                                  .bits = bits[k],
                                  .table = is_table ? values : NULL,
                                  .scale = numbers,
                                  .bias = numbers,
                                  .out = out};
      snprintf(name, sizeof name, "codes %s to %s", kinds[k], types[t]);
      if (d->codes[k][t] && base->codes[k][t]) count(isa->name, name, call_codes, &base->codes[k][t], &d->codes[k][t], &codes, CODES);
    }
    snprintf(name, sizeof name, "float32 to %s", types[t]);
    if (d->narrow[t] && base->narrow[t]) count(isa->name, name, call_narrow, &base->narrow[t], &d->narrow[t], NULL, ROWS);
  }
}

static void count_isa(const gather_isa *isa) {
  static const char *const types[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
  char name[100];
  count_rows(isa);
  count_tables(isa);
  for (int t = 0; t < 8; t++) {
    snprintf(name, sizeof name, "widen %s", types[t]);
    if (isa->widen[t]) count(isa->name, name, call_widen, &gather_isa_portable.widen[t], &isa->widen[t], NULL, ROWS);
  }
  count_decoding(isa);
}

int main(void) {
  for (int i = 0; i < TABLE; i++) table[i] = (char)(i * 31);
  mark();
  if (gather_cpu_bits() & GATHER_CPU_SVE)
    count_isa(&gather_isa_sve);
  else
    count_isa(&gather_isa_neon);
  return 0;
}
