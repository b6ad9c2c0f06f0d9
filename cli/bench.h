/* SPDX-License-Identifier: MIT
 *
 * bench.h: what the files of `gather bench` share: what is measured, on what, and the results.
 */
#ifndef GATHER_CLI_BENCH_H
#define GATHER_CLI_BENCH_H

#include "bench_verdict.h"
#include "table_arg.h"
#include "tensor_arg.h"

enum {
  GATHER_CLI_BENCH_ROUNDS = 5, /* of each measurement; the median counts */
  GATHER_CLI_BENCH_WAYS = 20,
  GATHER_CLI_BENCH_DEPTHS = 4,
  GATHER_CLI_BENCH_DEVICES = 16 /* of which a method keeps what they did */
};

/* If a larger share of a file stays in the page cache, it is not cold. */
#define GATHER_CLI_BENCH_STAYS 0.01

/* A method to read rows. */
typedef enum gather_cli_bench_kind {
  GATHER_CLI_BENCH_LIMIT, /* random whole blocks by an engine: the disk limit */
  GATHER_CLI_BENCH_TABLE, /* rows by an engine */
  GATHER_CLI_BENCH_SWEEP, /* the same at another depth */
  GATHER_CLI_BENCH_MMAP,  /* a loop over the mapped file, without madvise */
  GATHER_CLI_BENCH_PREAD  /* a loop that reads row by row */
} gather_cli_bench_kind;

typedef struct gather_cli_bench_way {
  gather_cli_bench_kind kind;
  gather_engine engine;
  int32_t depth;                            /* 0 = automatic */
  int rounds;                               /* measured cold */
  double cold[2 * GATHER_CLI_BENCH_ROUNDS]; /* rows/s; limits have two per round: before the other methods, and after them */
  double warm[GATHER_CLI_BENCH_ROUNDS];     /* 0 = not measured */
  double blocks_per_row;                    /* needed in the last cold round: less than 1 if rows share blocks; 0 = not counted */
  double amplification;                     /* cold: bytes read per byte needed */
  gather_table_statistics statistics;       /* of the last cold round */
  gather_table_device devices[GATHER_CLI_BENCH_DEVICES];
  int32_t device_count;
} gather_cli_bench_way;

/* A file whose rows are measured. */
typedef struct gather_cli_bench_file {
  char *path;
  int64_t size, first_block; /* its first block among those of all files */
  /* For plain loops. */
  int fd;
  char *map;
} gather_cli_bench_file;

/* Consecutive rows in one of the files. */
typedef struct gather_cli_bench_part {
  int32_t file;
  int64_t offset, first, rows;
} gather_cli_bench_part;

typedef struct gather_cli_bench {
  const gather_cli_args *args;
  const char **paths; /* of the line: FILE and --part */
  int32_t path_count;
  gather_cli_table_options options;
  gather_cli_raw raw;
  bool one_engine; /* --engine was given */
  int64_t seed;
  int64_t measured; /* rows of one measurement */
  bool rows_given;
  /* The table. */
  char *type_name, *format;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  int64_t rows, row_bytes, block_bytes;
  gather_cli_bench_part *parts;
  int32_t part_count;
  gather_cli_bench_file *files; /* without duplicates */
  int32_t file_count;
  gather_cli_bench_file *largest;
  /* Its file system. */
  char file_system[32];
  bool in_memory;           /* the file system has no disk */
  int64_t read_ahead_bytes; /* -1 = unknown */
  bool direct;              /* O_DIRECT works */
  double resident;          /* the largest share of the file that could not be dropped from the page cache */
  /* Working memory. */
  int64_t *ids;
  char *out;
  int64_t out_bytes;
  int64_t blocks;      /* of all files */
  unsigned char *seen; /* a bit per block; NULL = too many */
  int64_t needed;      /* how many of them `needed_rows` rows of round needed_round need; the last count */
  int64_t needed_rows;
  int needed_round;
  /* Results. */
  gather_cli_bench_way ways[GATHER_CLI_BENCH_WAYS];
  int way_count;
  const gather_cli_bench_way *limit, *best, *naive; /* the fastest of their kinds, cold; or NULL */
  gather_cli_bench_judgement judgement;
  double seconds;
} gather_cli_bench;

/* ---- what is measured */

/* Opens the table of the line once, to describe it and its files. */
GATHER_CHECKED gather_status gather_cli_bench_describe(gather_cli_bench *bench, gather_error *error);

/* ---- its file system */

/* Drops the pages of all files from the page cache, and records what remains. */
GATHER_CHECKED gather_status gather_cli_bench_drop(gather_cli_bench *bench, gather_error *error);
/* Examines the file system. */
void gather_cli_bench_look(gather_cli_bench *bench);

/* ---- measuring */

/* Measures one round of one method, cold, from an empty page cache, into way->cold[round]; rows: how many. */
GATHER_CHECKED gather_status gather_cli_bench_cold(gather_cli_bench *bench, gather_cli_bench_way *way, int round, int64_t rows,
                                                   gather_error *error);
/* Reads the rows of a round into the page cache. */
GATHER_CHECKED gather_status gather_cli_bench_fill(gather_cli_bench *bench, int round, gather_error *error);
/* The same, warm. */
GATHER_CHECKED gather_status gather_cli_bench_warm(gather_cli_bench *bench, gather_cli_bench_way *way, int round, gather_error *error);

/* ---- bench_remote.c */

/* The command for a URL, after the options of the line: measures, prints, and returns the exit code. */
int gather_cli_bench_remote(const gather_cli_bench *bench);

/* ---- reporting */

/* The cold rate of a method; 0 for NULL. */
gather_cli_bench_rate gather_cli_bench_cold_rate(const gather_cli_bench_way *way);
/* Its share of the disk limit: the blocks that its rows need per second, over single blocks per second. */
double gather_cli_bench_share(const gather_cli_bench *bench, const gather_cli_bench_way *way);
/* Whether the file was out of the page cache. */
bool gather_cli_bench_is_cold(const gather_cli_bench *bench);

/* "auto", "limit", "plain mmap" ... */
const char *gather_cli_bench_way_name(const gather_cli_bench_way *way);
void gather_cli_bench_answer(const gather_cli_bench *bench);
void gather_cli_bench_answer_json(const gather_cli_bench *bench);

#endif
