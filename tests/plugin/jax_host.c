/* SPDX-License-Identifier: MIT
 *
 * jax_host.c: plays the host of the FFI handlers: LIBRARY. Versions older and newer than any, interface tables that end early, a
 * thread pool whose helpers come late or never. test_jax_process.py builds and runs it, with sanitizers too.
 */
#define _POSIX_C_SOURCE 200809L
#include "jax_xla.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef xla_error *handler(xla_frame *frame);

struct xla_error {
  char text[600];
  int code;
};

static int failed;
#define CHECK(truth)                                               \
  do {                                                             \
    if (!(truth)) {                                                \
      printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #truth); \
      failed = 1;                                                  \
    }                                                              \
  } while (0)

/* ---- the interface --------------------------------------------------------------------------------------------------- */

static int64_t pool_threads = 4;
static int pool_refuses; /* schedules this many tasks, then refuses */
static int64_t errors_made, errors_freed;

static xla_error *create(xla_error_create *arguments) {
  xla_error *error = malloc(sizeof *error);
  snprintf(error->text, sizeof error->text, "%s", arguments->message);
  error->code = arguments->code;
  errors_made++;
  return error;
}

static void destroy(xla_error_destroy *arguments) {
  free(arguments->error);
  errors_freed++;
}

static xla_error *new_error(void) {
  xla_error_create arguments = {sizeof arguments, NULL, "no", 13};
  return create(&arguments);
}

static pthread_t threads[4096];
static int started;

static struct late {
  void (*task)(void *data);
  void *data;
} late[4096];

static void *run_late(void *argument) {
  struct late *task = argument;
  const struct timespec pause = {0, (task - late) % 7 * 300000L};
  nanosleep(&pause, NULL); /* some come after the call has returned */
  task->task(task->data);
  return NULL;
}

static xla_error *schedule(xla_schedule *arguments) {
  if (pool_refuses-- == 0) return new_error();
  late[started] = (struct late){arguments->task, arguments->data};
  if (pthread_create(&threads[started], NULL, run_late, &late[started]) != 0) return new_error();
  started++;
  return NULL;
}

static void join_all(void) {
  while (started > 0) pthread_join(threads[--started], NULL);
}

static xla_error *num_threads(xla_num_threads *arguments) {
  if (pool_threads < 0) return new_error();
  *arguments->threads = pool_threads;
  return NULL;
}

static xla_api table(int major, int minor, int slots) {
  xla_api api = {.size = offsetof(xla_api, functions) + (size_t)slots * sizeof(void (*)(void)),
                 .version = {sizeof(xla_version), NULL, major, minor}};
  api.functions[XLA_ERROR_CREATE] = (void (*)(void))create;
  api.functions[XLA_ERROR_DESTROY] = (void (*)(void))destroy;
  api.functions[XLA_SCHEDULE] = (void (*)(void))schedule;
  api.functions[XLA_NUM_THREADS] = (void (*)(void))num_threads;
  return api;
}

/* ---- a call ---------------------------------------------------------------------------------------------------------- */

enum { ROWS = 5000, WIDTH = 64, IDS = 40000 };
static float data[ROWS][WIDTH], out[IDS][WIDTH];
static int32_t ids[IDS];

static xla_error *call(handler *gather, const xla_api *api, size_t frame_size, int64_t buffers) {
  static const char *const NAMES[] = {"axis", "batch_dims", "broadcast", "data_shape", "family", "fill", "negative", "on_bad"};
  int64_t values[] = {0, 0, 0, 0, 1, 0, 1, 1}, data_shape[] = {ROWS, WIDTH}, ids_shape[] = {IDS}, out_shape[] = {IDS, WIDTH};
  unsigned char fill[16] = {0};
  xla_span spans[8], *names[8];
  xla_scalar scalars[8];
  xla_array none = {XLA_S64, 0, NULL}, filled = {XLA_U8, sizeof fill, fill};
  int kinds[8];
  void *items[8];
  for (int i = 0; i < 8; i++) {
    spans[i] = (xla_span){NAMES[i], strlen(NAMES[i])};
    names[i] = &spans[i];
    scalars[i] = (xla_scalar){XLA_S64, &values[i]};
    kinds[i] = i == 3 || i == 5 ? XLA_ATTRIBUTE_ARRAY : XLA_ATTRIBUTE_SCALAR;
    items[i] = i == 3 ? (void *)&none : i == 5 ? (void *)&filled : (void *)&scalars[i];
  }
  xla_buffer of_data = {sizeof of_data, NULL, XLA_F32, data, 2, data_shape}, of_ids = {sizeof of_ids, NULL, XLA_S32, ids, 1, ids_shape};
  xla_buffer of_out = {sizeof of_out, NULL, XLA_F32, out, 2, out_shape};
  int buffer_kinds[] = {XLA_BUFFER, XLA_BUFFER};
  void *inputs[] = {&of_data, &of_ids}, *outputs[] = {&of_out};
  xla_frame frame = {.size = frame_size, .api = api, .stage = XLA_STAGE_EXECUTE};
  frame.arguments = (xla_buffers){sizeof(xla_buffers), NULL, buffers, buffer_kinds, inputs};
  frame.results = (xla_buffers){sizeof(xla_buffers), NULL, 1, buffer_kinds, outputs};
  frame.attributes = (xla_attributes){sizeof(xla_attributes), NULL, 8, kinds, names, items};
  return gather(&frame);
}

static int right(void) {
  for (int i = 0; i < IDS; i++)
    if (out[i][0] != data[ids[i]][0] || out[i][WIDTH - 1] != data[ids[i]][WIDTH - 1]) return 0;
  return 1;
}

static void check_versions(handler *gather) {
  for (int major = 0; major < 3; major++) {
    for (int minor = 0; minor < 10; minor++) {
      xla_api api = table(major, minor, XLA_SLOTS);
      xla_metadata metadata = {.size = sizeof metadata};
      xla_metadata_extension question = {{sizeof question.base, XLA_EXTENSION_METADATA, NULL}, &metadata};
      xla_extension unknown = {sizeof unknown, 77, &question.base};
      xla_frame frame = {.size = sizeof frame, .extensions = &unknown, .api = minor == 9 ? NULL : &api, .stage = XLA_STAGE_EXECUTE};
      CHECK(gather(&frame) == NULL);
      int wanted = minor == 9 || (major == 0 && minor == 0) ? 1 : major == 0 && minor <= 3 ? minor : 3; /* 9: no table */
      CHECK(metadata.version.major == 0 && metadata.version.minor == wanted && metadata.traits == 0);
    }
  }
}

static void check_pools(handler *gather) {
  const struct {
    int slots;
    int64_t threads;
    int refuses;
  } CASES[] = {{XLA_SLOTS, 4, -1}, {XLA_SLOTS, 1, -1},    {XLA_SLOTS, -1, -1}, {XLA_SLOTS, 64, 2},
               {XLA_SLOTS, 3, 0},  {XLA_SCHEDULE, 4, -1}, {1, 4, -1}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    for (int turn = 0; turn < 5; turn++) {
      xla_api api = table(0, 3, CASES[i].slots);
      pool_threads = CASES[i].threads;
      pool_refuses = CASES[i].refuses;
      memset(out, 1, sizeof out);
      CHECK(call(gather, &api, sizeof(xla_frame), 2) == NULL);
      CHECK(right());
      if (turn == 0) printf("slots %d, threads %lld: %d helpers\n", CASES[i].slots, (long long)CASES[i].threads, started);
      if (i == 0) CHECK(started > 0);
      join_all();
    }
  }
}

static void check_errors(handler *gather) {
  xla_api api = table(0, 3, XLA_SLOTS);
  pool_threads = 4;
  pool_refuses = -1;
  ids[30001] = ROWS;
  xla_error *error = call(gather, &api, sizeof(xla_frame), 2);
  CHECK(error != NULL && error->code == XLA_OUT_OF_RANGE && strstr(error->text, "indices[30001] = 5000 is outside [-5000, 4999]") != NULL);
  free(error);
  join_all();
  ids[30001] = 0;
  error = call(gather, &api, sizeof(xla_frame), 1);
  CHECK(error != NULL && error->code == XLA_INVALID_ARGUMENT);
  free(error);
  CHECK(call(gather, &api, offsetof(xla_frame, attributes), 2) == NULL); /* a host before the handlers' first version: never registered */
  api = table(0, 3, 0);
  CHECK(call(gather, &api, sizeof(xla_frame), 2) == NULL);
}

int main(int count, char **arguments) {
  void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  handler *gather = NULL;
  if (library != NULL) *(void **)&gather = dlsym(library, "libgather_jax_gather");
  if (gather == NULL) return 2;
  for (int i = 0; i < ROWS; i++) data[i][0] = data[i][WIDTH - 1] = (float)i;
  for (int i = 0; i < IDS; i++) ids[i] = (int32_t)((unsigned)i * 2654435761u % ROWS);
  check_versions(gather);
  check_pools(gather);
  check_errors(gather);
  CHECK(errors_made - errors_freed == 2); /* those that were returned */
  dlclose(library);
  printf("%s\n", failed ? "bad" : "good");
  return failed;
}
