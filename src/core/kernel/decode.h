/* SPDX-License-Identifier: MIT
 *
 * decode.h: kernels that decode. They know layouts and formulas of codes; what a table or a gather is, they do not know. They
 * allocate nothing and read no byte outside the codes they were given.
 *
 * Every kernel gives the bits of the portable one (isa_portable.c): operations in the same order, each rounded to float32, none
 * fused except where a kind of codes says so. What is not a number may have any payload.
 */
#ifndef GATHER_KERNEL_DECODE_H
#define GATHER_KERNEL_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "gather/codec.h"

/* What kernels write. Slots for halves may be empty: then float32 goes through a block in L1 and `narrow`. FLOAT32_PAST: float32, with
 * non-temporal stores where sixteen elements begin on a line; the caller calls gather_isa.fence. Its slots may be empty. */
enum { GATHER_DECODE_FLOAT32 = 0, GATHER_DECODE_FLOAT16, GATHER_DECODE_BFLOAT16, GATHER_DECODE_FLOAT32_PAST, GATHER_DECODE_TYPES };

/* The number of codecs plus one: slots of blocks are numbered by gather_codec. */
enum {
  GATHER_CODEC_COUNT = 1
#define GATHER_CODEC(ENUM, ...) +1
#include "gather/codec.def"
#undef GATHER_CODEC
};

/* Decodes `count` >= 1 consecutive blocks of one codec. Neither pointer is aligned. */
typedef void (*gather_blocks_fn)(const unsigned char *in, int64_t count, void *out);

/* Consecutive codes of one row:
 *     out[i] = ((table[q_i] - zero[g]) * scale[g]) + bias[g],  g = (skip + i) / group_len
 * with the steps whose array is NULL left out. Each step is one rounded float32 operation. */
typedef struct gather_codes {
  const unsigned char *in;          /* not aligned */
  int64_t first;                    /* number of the first code, counted from the first of in[0]; it may be large */
  int64_t count;                    /* codes, at least 1 */
  int64_t group_len;                /* at least 1 */
  int64_t skip;                     /* elements of the first group before the first code, below group_len */
  const float *table;               /* 2^bits values; NULL: the values are the codes, unsigned or (kind S8) signed */
  const float *zero, *scale, *bias; /* one for each group that occurs */
  int32_t bits;                     /* 1 to 8; codes are consecutive bits, the lowest first, across bytes */
  bool high_first;                  /* bits 1, 2, 4: the first code of a byte is in its highest bits */
  void *out;                        /* not aligned */
} gather_codes;

/* The kinds of codes that have slots of their own. ANY has every case; the portable instruction set has all. */
enum {
  GATHER_CODES_ANY = 0, /* any bits, any order */
  GATHER_CODES_U8,      /* 8 bits, no table: unsigned */
  GATHER_CODES_S8,      /* 8 bits, no table: two's complement */
  GATHER_CODES_T8,      /* 8 bits through a table */
  GATHER_CODES_T4,      /* 4 bits through a table, low first or high first; `first` is even or odd */
  GATHER_CODES_T2,      /* 2 bits through a table, likewise */
  GATHER_CODES_F8,      /* 8 bits, unsigned, no table and no zero: fma(q, scale[g], bias[g]), rounded once */
  GATHER_CODES_KINDS
};

typedef void (*gather_codes_fn)(const gather_codes *codes);

/* Rounds `count` float32 to float16 or bfloat16, to nearest even. Neither pointer is aligned. */
typedef void (*gather_narrow_fn)(const float *in, int64_t count, void *out);

/* The slots of gather_isa that decode. */
typedef struct gather_decoding {
  gather_blocks_fn blocks[GATHER_CODEC_COUNT][GATHER_DECODE_TYPES];
  gather_codes_fn codes[GATHER_CODES_KINDS][GATHER_DECODE_TYPES];
  gather_narrow_fn narrow[GATHER_DECODE_TYPES]; /* those of float32 are empty */
} gather_decoding;

/* Those of the instruction sets that have files of their own; empty on other CPU families. */
extern const gather_decoding gather_decoding_avx2, gather_decoding_avx512, gather_decoding_neon;

#endif
