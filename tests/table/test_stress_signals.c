/* SPDX-License-Identifier: MIT
 *
 * test_stress_signals.c: the handler for SIGBUS is there where a mapping is read, and nowhere else; signals that are not the table's
 * go to the program's own handler, or end the program as they would without the library.
 */
#include "table/test_stress.h"

enum { ROW = 64, ROWS = 4096 };

static known_file file;
static const int64_t ids[] = {0, 5, ROWS - 1};
static uint8_t out[3 * ROW];

static int make_table(void **unused) {
  file = make_file("signals", (int64_t)ROW * ROWS);
  return 0;
}

static int remove_table(void **unused) {
  remove_file(&file);
  return 0;
}

/* Runs a check in a process of its own, where no table was ever open. */
static int alone(void (*check)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return end_of(child);
  become_child(30);
  check();
  _exit(0);
}

static gather_table *use(gather_engine engine, bool keep_signals) {
  const setting how = {engine, false, keep_signals, 0, 0, 4};
  gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
  gather_error error;
  if (take_rows(table, ids, 3, out, &error) != GATHER_OK) _exit(90);
  if (first_wrong(&file, ROWS, ROW, 0, ids, 3, out) != -1) _exit(91);
  return table;
}

/* A fault that is not the table's: a page behind the end of another file. */
static void fault(void) {
  FILE *other = tmpfile();
  volatile char *page = other ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(other), 0) : MAP_FAILED;
  if (page == MAP_FAILED) _exit(92);
  _exit(93 + (page[0] != 0)); /* not reached */
}

static bool default_stands(void) {
  struct sigaction is;
  if (sigaction(SIGBUS, NULL, &is) != 0) _exit(95);
  return !(is.sa_flags & SA_SIGINFO) && is.sa_handler == SIG_DFL;
}

/* ---- whether there is one -------------------------------------------------------------------------------------------- */

static void keeps_signals(void) {
  for (int engine = 0; engine < 4; engine++) {
    if (engine == GATHER_ENGINE_MMAP || !engine_works((gather_engine)engine)) continue;
    gather_table *table = use((gather_engine)engine, true);
    if (!default_stands()) _exit(1);
    gather_table_close(table);
    if (!default_stands()) _exit(2);
  }
}

/* mmap and keep_signals exclude each other: refused, or read by another engine, which is said. */
static void keeps_signals_without_a_mapping(void) {
  const setting how = {GATHER_ENGINE_MMAP, false, true, 0, 0, 4};
  gather_table *table = NULL;
  gather_error error;
  gather_status status = try_open(file.path, ROWS, ROW, 0, &how, &table, &error);
  if (!default_stands()) _exit(1);
  if (status != GATHER_OK) _exit(status == GATHER_USAGE || status == GATHER_UNSUPPORTED ? 0 : 2);
  gather_table_statistics is;
  gather_table_statistics_get(table, &is);
  if (is.engine == GATHER_ENGINE_MMAP || !is.why[0]) _exit(3);
  if (take_rows(table, ids, 3, out, &error) != GATHER_OK || !default_stands()) _exit(4);
  gather_table_close(table);
}

static void handles_signals(void) {
  gather_table *table = use(GATHER_ENGINE_MMAP, false);
  if (default_stands()) _exit(1);
  gather_table_close(table);
}

static void a_handler_only_where_one_is_needed(void **unused) {
  assert_int_equal(alone(keeps_signals), 0);
  assert_int_equal(alone(keeps_signals_without_a_mapping), 0);
  assert_int_equal(alone(handles_signals), 0);
}

/* ---- signals of others ----------------------------------------------------------------------------------------------- */

static void dies_by_a_fault(void) {
  use(GATHER_ENGINE_MMAP, false);
  fault();
}

static void dies_by_a_signal(void) {
  use(GATHER_ENGINE_AUTO, false);
  alarm(3);
  kill(getpid(), SIGBUS);
  pause();
}

static void without_a_handler_it_kills_as_usual(void **unused) {
  assert_int_equal(alone(dies_by_a_fault), 1000 + SIGBUS);
  assert_int_equal(alone(dies_by_a_signal), 1000 + SIGBUS);
}

static void mine(int number, siginfo_t *about, void *context) {
  (void)context;
  _exit(number == SIGBUS && about && about->si_code == BUS_ADRERR ? 42 : 43);
}

static void mine_simple(int number) { _exit(number == SIGBUS ? 44 : 45); }

static volatile sig_atomic_t seen;

static void mine_counts(int number) { seen += number == SIGBUS; }

/* The program's handler, in one of the two forms; set before the first table. */
static void set_mine(void (*simple)(int), void (*full)(int, siginfo_t *, void *)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  if (simple)
    action.sa_handler = simple;
  else
    action.sa_sigaction = full;
  action.sa_flags = simple ? 0 : SA_SIGINFO;
  if (sigaction(SIGBUS, &action, NULL) != 0) _exit(96);
}

static void faults_with_a_full_handler(void) {
  set_mine(NULL, mine);
  use(GATHER_ENGINE_MMAP, false);
  fault();
}

static void faults_with_a_simple_handler(void) {
  set_mine(mine_simple, NULL);
  use(GATHER_ENGINE_AUTO, false);
  fault();
}

/* A signal that somebody sends; the program's handler returns, and life goes on. */
static void is_sent_one(void) {
  set_mine(mine_counts, NULL);
  gather_table *table = use(GATHER_ENGINE_MMAP, false);
  raise(SIGBUS);
  raise(SIGBUS);
  if (seen != 2) _exit(1);
  gather_error error;
  if (take_rows(table, ids, 3, out, &error) != GATHER_OK) _exit(2);
  gather_table_close(table);
}

static void ignores_them(void) {
  set_mine(SIG_IGN, NULL);
  gather_table *table = use(GATHER_ENGINE_MMAP, false);
  raise(SIGBUS);
  gather_table_close(table);
  raise(SIGBUS);
}

static void others_reach_the_programs_handler(void **unused) {
  assert_int_equal(alone(faults_with_a_full_handler), 42);
  assert_int_equal(alone(faults_with_a_simple_handler), 44);
  assert_int_equal(alone(is_sent_one), 0);
  assert_int_equal(alone(ignores_them), 0);
}

/* ---- the table's own ------------------------------------------------------------------------------------------------- */

static void survives_its_own(void) {
  set_mine(NULL, mine); /* must not be asked */
  gather_table *table = use(GATHER_ENGINE_MMAP, false);
  gather_error error = dirty_error();
  if (truncate(file.path, 4096) != 0) _exit(1);
  if (take_rows(table, ids, 3, out, &error) != GATHER_IO_ERROR) _exit(2);
  if (error.row != ROWS - 1 || error.file_offset < 4096) _exit(3);
  if (take_rows(table, ids, 2, out, &error) != GATHER_OK) _exit(4);
  gather_table_close(table);
}

/* The signal is caught, and the program's handler still gets the next one that is not the table's. */
static void survives_and_then_faults(void) {
  survives_its_own();
  fault();
}

/* A handler that was set after the table's, asks that one first, and has the signal blocked while it runs, as most have. */
static struct sigaction below_mine;

static void mine_asks_below(int number, siginfo_t *about, void *context) {
  seen++;
  below_mine.sa_sigaction(number, about, context);
}

static void survives_below_another(void) {
  gather_table *table = use(GATHER_ENGINE_MMAP, false);
  gather_error error = dirty_error();
  sigset_t blocked;
  if (sigaction(SIGBUS, NULL, &below_mine) != 0) _exit(1);
  set_mine(NULL, mine_asks_below);
  if (truncate(file.path, 4096) != 0) _exit(2);
  for (int i = 0; i < 3; i++)
    if (take_rows(table, ids, 3, out, &error) != GATHER_IO_ERROR) _exit(3);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (sigismember(&blocked, SIGBUS)) _exit(4);
  gather_table_close(table);
}

static void the_tables_own_is_an_error(void **unused) {
  assert_int_equal(alone(survives_its_own), 0);
  write_whole(file.path, file.data, file.bytes);
  assert_int_equal(alone(survives_and_then_faults), 42);
  write_whole(file.path, file.data, file.bytes);
  assert_int_equal(alone(survives_below_another), 0);
  write_whole(file.path, file.data, file.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_handler_only_where_one_is_needed),
                                     cmocka_unit_test(without_a_handler_it_kills_as_usual),
                                     cmocka_unit_test(others_reach_the_programs_handler), cmocka_unit_test(the_tables_own_is_an_error)};
  return cmocka_run_group_tests(tests, make_table, remove_table);
}
