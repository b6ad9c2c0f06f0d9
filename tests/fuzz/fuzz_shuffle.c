/* SPDX-License-Identifier: MIT
 *
 * fuzz_shuffle.c: gather shuffle --resume in a folder that holds anything: a journal with a sum that is right or not, for a job that
 * is this one or not; files that are too short, links, or of any content. The first bytes of the input choose, the rest is the journal.
 *
 * Held to: an exit code of the contract; a journal whose sum is wrong makes nothing; OUT has its full size where it is made; a file
 * that is there is kept; nothing outside of the folder is touched.
 */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "fuzz/fuzz.h"
#include "table/shuffle/shuffle_internal.h"

enum {
  ROWS = 400,
  ROW_BYTES = 16384,
  HEADER = 128,
  OUT_BYTES = HEADER + ROWS * ROW_BYTES,
  CHOICES = 8,
  SUM_BYTES = 21,
  MEMORY = 4718592 /* as the line below says */
};

static char top[64];
static int outside = -1, inside = -1; /* folders: the fuzzer's names are relative to the first */
static const char FOLDER[] = ".gather-shuffle-o.npy";
static const char LAST_JOURNAL[] = ".done"; /* of a shuffle that has ended but for the removal of its folder */
static const char *const FILES[] = {"rows", "places", "pairs"};
static const char VICTIM[] = "precious";
static char *heads[2]; /* what a journal of one pass and of two begins with: the job */

/* ---- files */

static void put(const char *path, const void *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  fuzz_check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0, "the target can write its files");
}

static int64_t size_of(const char *path) {
  struct stat about;
  return lstat(path, &about) == 0 ? (int64_t)about.st_size : -1;
}

static bool holds(const char *path, const char *text) {
  char found[64] = "";
  int fd = open(path, O_RDONLY);
  ssize_t got = fd >= 0 ? read(fd, found, sizeof found - 1) : -1;
  if (fd >= 0) (void)close(fd);
  return got == (ssize_t)strlen(text) && memcmp(found, text, (size_t)got) == 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)kind, (void)place;
  return remove(path);
}

static void remove_all(const char *path) { (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void at_end(void) { remove_all(top); }

static void go(int folder) { fuzz_check(fchdir(folder) == 0, "the target can change folders"); }

static void make_data(void) {
  static const char SHAPE[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (400, 16384), }";
  char *bytes = malloc(OUT_BYTES);
  fuzz_check(bytes != NULL, "the target has memory");
  memset(bytes, ' ', HEADER);
  memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(bytes + 10, SHAPE, sizeof SHAPE - 1);
  bytes[HEADER - 1] = '\n';
  for (size_t i = HEADER; i < OUT_BYTES; i++) bytes[i] = (char)(i / ROW_BYTES);
  put("x.npy", bytes, OUT_BYTES);
  free(bytes);
}

/* ---- the command */

static void parse(bool two, gather_cli_args *args) {
  const char *const words[] = {"gather", "shuffle",  "x.npy", "-o",       "o.npy",   "--json",   "--seed",        "3",       "--threads",
                               "1",      "--engine", "mmap",  "--memory", "4718592", "--passes", two ? "2" : "1", "--resume"};
  static char *line[sizeof words / sizeof *words];
  gather_error error;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) line[i] = (char *)(uintptr_t)words[i];
  fuzz_check(gather_cli_parse((int)(sizeof words / sizeof *words), line, args, &error) == GATHER_OK, "the line is understood");
}

static int resume(bool two) {
  gather_cli_args args;
  parse(two, &args);
  int code = gather_cli_cmd_shuffle(&args);
  gather_cli_args_clear(&args);
  return code;
}

/* What the journal of this job begins with. */
static char *make_head(bool two) {
  static const char *const PATHS[] = {"x.npy"};
  gather_shuffle_options options = GATHER_SHUFFLE_OPTIONS_INIT;
  gather_shuffle *job = NULL;
  gather_error error;
  char *text = NULL;
  options.seed = 3;
  options.passes = two ? 2 : 1;
  options.memory_bytes = MEMORY;
  options.engine = GATHER_ENGINE_MMAP;
  gather_status status = gather_shuffle_create(PATHS, 1, "o.npy", &options, &job, &error);
  if (status == GATHER_OK) status = gather_shuffle_plan(job, NULL, NULL, &error);
  if (status == GATHER_OK) status = gather_shuffle_identity(job, &text, &error);
  fuzz_check(status == GATHER_OK, "the job can be planned");
  gather_shuffle_close(job);
  return text;
}

/* ---- the folder */

/* As shuffle_journal.c has it. */
static uint64_t sum_of(const char *text, size_t bytes) {
  uint64_t sum = bytes;
  for (size_t i = 0; i < bytes; i++) {
    sum = (sum ^ (uint8_t)text[i]) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

/* Bits of the second byte of an input. */
enum { TWO_PASSES = 1, OUR_JOB = 2, RIGHT_SUM = 4, OUT_IS_THERE = 8, NO_JOURNAL = 16, LAST = 32 };

static void make_journal(const uint8_t *bytes, size_t size, unsigned how) {
  const char *head = how & OUR_JOB ? heads[how & TWO_PASSES] : "";
  const size_t before = strlen(head), most = before + size + SUM_BYTES + 1;
  char path[64], *text = malloc(most);
  fuzz_check(text != NULL, "the target has memory");
  memcpy(text, head, before + 1);
  for (size_t i = 0; i < size; i++) text[before + i] = (char)bytes[i];
  size_t len = before + size;
  if (how & RIGHT_SUM) len += (size_t)snprintf(text + len, SUM_BYTES + 1, "sum %016" PRIx64 "\n", sum_of(text, len));
  (void)snprintf(path, sizeof path, "%s%s", FOLDER, how & LAST ? LAST_JOURNAL : "/journal");
  put(path, text, len);
  free(text);
}

/* choice: absent, empty, of the size that it should have with zeros or numbers in it, a link, another name of a file outside. */
static void make_file(int file, unsigned choice) {
  char path[64];
  (void)snprintf(path, sizeof path, "%s/%s", FOLDER, FILES[file]);
  if (choice == 0) return;
  if (choice == 1) fuzz_check(symlink("../victim", path) == 0, "the target can make links");
  if (choice == 2) fuzz_check(link("victim", path) == 0, "the target can give second names");
  if (choice <= 2) return;
  uint32_t numbers[ROWS];
  for (uint32_t i = 0; i < ROWS; i++) numbers[i] = choice == 5 ? ~i : i % 144;
  put(path, numbers, choice == 3 ? 0 : sizeof numbers);
  if (choice >= 6) fuzz_check(truncate(path, OUT_BYTES + 144 * ROW_BYTES) == 0, "the target can make files long");
}

static void begin(void) {
  if (inside >= 0) return;
  /* In memory where that can be had: each input writes some megabytes, and waits for the disk. */
  (void)snprintf(top, sizeof top, "%s/gather-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  fuzz_check(mkdtemp(top) && atexit(at_end) == 0, "the target has a folder");
  outside = open(".", O_RDONLY | O_DIRECTORY);
  inside = open(top, O_RDONLY | O_DIRECTORY);
  fuzz_check(outside >= 0 && inside >= 0, "the target has a folder");
  go(inside);
  fuzz_check(freopen("/dev/null", "w", stdout) != NULL, "answers go nowhere");
  make_data();
  heads[0] = make_head(false);
  heads[1] = make_head(true);
}

/* ---- what came of it */

/* The same for the same rows in the same order. */
static uint64_t look(const char *path) {
  uint64_t sum = 1;
  static char bytes[1 << 16];
  int fd = open(path, O_RDONLY);
  for (ssize_t got; fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0;) sum = sum * 31 + sum_of(bytes, (size_t)got);
  if (fd >= 0) (void)close(fd);
  return sum;
}

/* A folder without a journal holds nothing: the job is done from the beginning, in one pass or two. */
static void see_begun_anew(int code) {
  static uint64_t first;
  fuzz_check(code == 0 && size_of(FOLDER) == -1, "a folder without a journal is begun anew");
  uint64_t now = look("o.npy");
  if (first == 0) first = now;
  fuzz_check(now == first, "one pass and two give the same bytes");
}

static void see(int code, unsigned how, size_t journal_bytes) {
  const bool was_there = how & OUT_IS_THERE;
  fuzz_check(code >= 0 && code <= 4, "the exit code is one of the contract");
  fuzz_check(holds("victim", VICTIM), "files outside are as they were");
  fuzz_check(size_of("x.npy") == OUT_BYTES, "the data are as they were");
  if (was_there)
    fuzz_check(holds("o.npy", VICTIM), "a file that is there is kept");
  else
    fuzz_check(size_of("o.npy") == (code == 0 ? OUT_BYTES : -1) || (code == 3 && size_of("o.npy") == OUT_BYTES),
               "OUT is whole or is not there");
  /* A sum that is right by chance is not met; one that the input brings itself may be. */
  if ((how & NO_JOURNAL) && !was_there)
    see_begun_anew(code);
  else if (!(how & (RIGHT_SUM | NO_JOURNAL | LAST)) && journal_bytes < SUM_BYTES)
    fuzz_check(code != 0, "a broken journal is an error");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 3) return 0;
  begin();
  go(inside);
  const unsigned how = bytes[0], files = bytes[1] | (unsigned)bytes[2] << 8;
  fuzz_check(mkdir(FOLDER, 0777) == 0, "the target can make folders");
  put("victim", VICTIM, sizeof VICTIM - 1);
  if (how & OUT_IS_THERE) put("o.npy", VICTIM, sizeof VICTIM - 1);
  for (int i = 0; i < 3; i++) make_file(i, files >> 3 * i & (CHOICES - 1));
  if (!(how & NO_JOURNAL)) make_journal(bytes + 3, size - 3, how);
  see(resume(how & TWO_PASSES), how, size - 3 + (how & OUR_JOB ? strlen(heads[how & TWO_PASSES]) : 0));
  char last[64];
  (void)snprintf(last, sizeof last, "%s%s", FOLDER, LAST_JOURNAL);
  (void)unlink(last);
  remove_all(FOLDER);
  (void)unlink("o.npy");
  (void)unlink("victim");
  go(outside);
  return 0;
}
