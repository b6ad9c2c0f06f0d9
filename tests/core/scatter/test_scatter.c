/* SPDX-License-Identifier: MIT
 *
 * test_scatter.c: scatters beside the loop of scatter.h: random cases of every type, reduction, way to accumulate, policy, arrangement,
 * method, number of threads and instruction set; every method with any number of threads; 2^20 updates of one cell; repeated indices; the
 * documents' examples. GATHER_TEST_ROUNDS=N runs N random cases of each operator, and all cells; GATHER_TEST_SEED=N others.
 */
#include "core/scatter/written.h"
#include "support/machines.h"

enum { ROUNDS = 700, METHODS = 7, THREADS = 4 };

static const gather_reduction REDUCTIONS[] = {GATHER_REDUCTION_NONE, GATHER_REDUCTION_ADD, GATHER_REDUCTION_SUB, GATHER_REDUCTION_MUL,
                                              GATHER_REDUCTION_MIN,  GATHER_REDUCTION_MAX, GATHER_REDUCTION_MEAN};
static const gather_type INDEX_TYPES[] = {GATHER_TYPE_INT64,  GATHER_TYPE_INT32, GATHER_TYPE_INT64,  GATHER_TYPE_INT16, GATHER_TYPE_INT8,
                                          GATHER_TYPE_UINT64, GATHER_TYPE_UINT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32};

/* ---- the executors of all tests */

static gather_pool *pools[THREADS];
static const gather_executor *executors[THREADS + 1]; /* the last one: none */

static int begin(void **state) {
  static const int32_t COUNTS[THREADS] = {1, 2, 3, 8};
  for (int i = 0; i < THREADS; i++) {
    if (gather_pool_create(COUNTS[i], &pools[i], NULL) != GATHER_OK) return -1;
    executors[i] = gather_pool_executor(pools[i]);
  }
  return written_begin(state);
}

static int end(void **state) {
  for (int i = 0; i < THREADS; i++) gather_pool_destroy(pools[i]);
  return written_end(state);
}

/* How many rounds the environment wants; 0: as it is. */
static int64_t wanted_rounds(void) {
  const char *rounds = getenv("GATHER_TEST_ROUNDS");
  return rounds ? strtoll(rounds, NULL, 10) : 0;
}

/* Emulators and sanitizers run one case in so many. */
static int64_t sparse(void) {
  const char *machines = getenv("GATHER_TEST_MACHINES");
  return machines && atoi(machines) > 1 ? 8 : 1;
}

/* ---- a case */

typedef enum { ROWS = 0, ELEMENTS, TUPLES, OPERATORS } operator_kind;
static const char *const NAMES[OPERATORS] = {"scatter", "scatter_elements", "scatter_nd"};

typedef struct {
  operator_kind kind;
  holder tensors[HOLDERS];
  gather_scatter_options options;
  reducing reducing;
  bool in_place;
  int64_t bad;
  int64_t places[WRITTEN_UPDATES], ids[2 * WRITTEN_UPDATES]; /* ids: the indices, in row-major order */
} trial;

static void unravel(int64_t at, int32_t rank, const int64_t *shape, int64_t *spot) {
  for (int32_t d = rank - 1; d >= 0; d--) spot[d] = at % shape[d], at /= shape[d];
}

static int64_t ravel(int32_t rank, const int64_t *shape, const int64_t *spot) {
  int64_t at = 0;
  for (int32_t d = 0; d < rank; d++) at = at * shape[d] + spot[d];
  return at;
}

/* What an index selects on an axis of n elements: -1: nothing. */
static int64_t selected(const trial *t, int64_t index, int64_t n) {
  if (index >= 0 && index < n) return index;
  if (index < 0 && index >= -n && t->options.negative != GATHER_NEGATIVE_OFF) return index + n;
  if (t->options.on_bad == GATHER_ON_BAD_CLAMP) return index < 0 ? 0 : n - 1;
  return t->options.on_bad == GATHER_ON_BAD_WRAP ? (index % n + n) % n : -1;
}

/* The element of data that an element of updates goes to, and -1. spot: of the update; it becomes that of the element. */
static int64_t place_of(const trial *t, const int64_t *spot) {
  const holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES];
  const int32_t rank = data->tensor.rank, index_rank = indices->tensor.rank, axis = (int32_t)t->options.axis;
  int64_t to[WRITTEN_RANK] = {0};
  if (t->kind == ELEMENTS) {
    memcpy(to, spot, sizeof to);
    to[axis] = selected(t, t->ids[ravel(index_rank, indices->shape, spot)], data->shape[axis]);
    return to[axis] < 0 ? -1 : ravel(rank, data->shape, to);
  }
  if (t->kind == ROWS) {
    for (int32_t d = 0; d < rank; d++) to[d] = d == axis ? 0 : spot[d < axis ? d : d + index_rank - 1];
    to[axis] = selected(t, t->ids[ravel(index_rank, indices->shape, spot + axis)], data->shape[axis]);
    return to[axis] < 0 ? -1 : ravel(rank, data->shape, to);
  }
  const int32_t many = (int32_t)indices->shape[index_rank - 1];
  const int64_t tuple = ravel(index_rank - 1, indices->shape, spot);
  for (int32_t d = 0; d < rank; d++) {
    to[d] = d < many ? selected(t, t->ids[tuple * many + d], data->shape[d]) : spot[index_rank - 1 + d - many];
    if (to[d] < 0) return -1;
  }
  return ravel(rank, data->shape, to);
}

static void find_places(trial *t) {
  const holder *updates = &t->tensors[UPDATES];
  int64_t spot[2 * WRITTEN_RANK] = {0};
  assert_true(len_of(updates) <= WRITTEN_UPDATES);
  for (int64_t u = 0; u < len_of(updates); u++) {
    unravel(u, updates->tensor.rank, updates->shape, spot);
    t->places[u] = place_of(t, spot);
  }
  t->reducing.places = t->places;
}

/* ---- by chance */

static arrangement random_layout(bool input) { return below(2) ? ROW_MAJOR : (arrangement)below(input ? LAYOUTS : REPEATING); }

static void choose_type(trial *t, gather_type *type) {
  const gather_reduction reduction = t->options.reduction = PICK(REDUCTIONS);
  do *type = (gather_type)(1 + below(reduction ? GATHER_TYPE_COMPLEX128 : GATHER_TYPE_FLOAT6_E3M2FN));
  while (!gather_reduction_supports(reduction, *type));
  t->options.accumulate = (gather_accumulate)below(4);
  t->options.neutral = below(3) == 0;
  t->reducing = (reducing){.reduction = reduction, .neutral = t->options.neutral && reduction};
  t->reducing.numbers = numbers_of(*type, t->options.accumulate ? t->options.accumulate : GATHER_ACCUMULATE_HALVES);
}

static void make_data(trial *t, gather_type type) {
  static const int64_t ITEMS[] = {1, 3, 5, 8, 12, 20, 32};
  holder *data = &t->tensors[DATA];
  const int32_t rank = 1 + (int32_t)below(4);
  const int64_t longest = below(rank);
  for (int32_t d = 0; d < rank; d++) data->shape[d] = d == longest && below(3) == 0 ? 1 + below(24) : 1 + below(4);
  if (rank == 2 && below(8) == 0) data->shape[1] = 40 + below(200);
  if (rank == 1 && below(2)) data->shape[0] = 1 + below(3000);
  data->tensor.item_bytes = PICK(ITEMS);
  t->options.axis = t->kind == TUPLES ? 0 : below(rank);
  place(data, DATA, type, rank, random_layout(false));
  fill_random(data);
}

static void shape_indices(trial *t) {
  holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES];
  const int32_t rank = data->tensor.rank;
  int32_t index_rank = t->kind == ELEMENTS ? rank : (int32_t)below(3);
  const int64_t cells = len_of(data), most = cells > 100 ? 6 : cells < 60 && below(10) == 0 ? 300 : 12;
  for (int32_t d = 0; d < index_rank; d++) indices->shape[d] = below(d == 0 ? most : 6);
  for (int32_t d = 0; d < rank && t->kind == ELEMENTS; d++)
    indices->shape[d] = d == t->options.axis ? below(most) : data->shape[d] - (below(3) ? 0 : below(data->shape[d]));
  if (t->kind == TUPLES) indices->shape[index_rank++] = below(8) == 0 ? 0 : 1 + below(rank);
  indices->tensor.rank = index_rank;
}

/* The shape of updates from those of data and indices. */
static void shape_updates(trial *t) {
  const holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES];
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = 0;
  gather_error error;
  if (gather_scatter_updates_shape(gather_scatter_op(NAMES[t->kind]), &data->tensor, &indices->tensor, &t->options, shape, &rank, &error))
    fail_msg("%s", error.message);
  assert_true(rank <= WRITTEN_RANK);
  memcpy(t->tensors[UPDATES].shape, shape, (size_t)rank * sizeof *shape);
  t->tensors[UPDATES].tensor.rank = rank;
}

/* The axis of number `i` of the indices. */
static int64_t axis_len(const trial *t, int64_t i) {
  const holder *indices = &t->tensors[INDICES];
  return t->tensors[DATA].shape[t->kind == TUPLES ? i % indices->shape[indices->tensor.rank - 1] : t->options.axis];
}

static int64_t random_index(const trial *t, gather_type type, int64_t n) {
  static const int64_t ENDS[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 100000000000};
  const bool is_signed = type <= GATHER_TYPE_INT64, repairs = t->options.on_bad >= GATHER_ON_BAD_CLAMP;
  const int64_t bits = gather_type_get(type)->bits, most = bits == 8 ? (is_signed ? 127 : 255) : bits == 16 ? 32767 : INT64_MAX;
  const int64_t last = n - 1 < most ? n - 1 : most;
  if (repairs && bits == 64 && is_signed && below(20) == 0) return PICK(ENDS);
  if (repairs && below(6) == 0) return is_signed ? below(255) - 127 : below(255);
  const int64_t index = below(4) ? below(last + 1) : last - below(last / 8 + 1);
  return is_signed && t->options.negative != GATHER_NEGATIVE_OFF && below(3) == 0 && index - n >= -most ? index - n : index;
}

/* Element i of expanded indices is that of the row that it is in. */
static int64_t first_of_row(const trial *t, int64_t i, int32_t from) {
  const holder *indices = &t->tensors[INDICES];
  int64_t row = 1;
  for (int32_t d = from; d < indices->tensor.rank; d++) row *= indices->shape[d];
  return i / row * row;
}

static void make_indices(trial *t) {
  static const gather_on_bad POLICIES[] = {GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_ERROR, GATHER_ON_BAD_DEFAULT,
                                           GATHER_ON_BAD_CLAMP,   GATHER_ON_BAD_WRAP,  GATHER_ON_BAD_SKIP};
  holder *indices = &t->tensors[INDICES];
  const gather_type type = PICK(INDEX_TYPES);
  t->options.on_bad = PICK(POLICIES), t->options.negative = below(4) ? GATHER_NEGATIVE_DEFAULT : (gather_negative)below(3);
  shape_indices(t);
  const bool expanded = t->kind == ELEMENTS && below(2);
  /* A number that is of two axes may be out of range of one. */
  place(indices, INDICES, type, indices->tensor.rank, random_layout(t->kind != TUPLES || t->options.on_bad >= GATHER_ON_BAD_CLAMP));
  indices->tensor.flags =
      (below(5) ? 0 : (uint32_t)GATHER_TENSOR_SHARED) | (below(5) || item_of(indices) < 2 ? 0 : (uint32_t)GATHER_TENSOR_BYTE_SWAPPED);
  const int64_t many = len_of(indices);
  assert_true(many <= WRITTEN_UPDATES);
  for (int64_t i = 0; i < many; i++) {
    const int64_t from = expanded ? first_of_row(t, i, (int32_t)t->options.axis + 1) : i;
    t->ids[i] = from < i ? t->ids[from] : random_index(t, type, axis_len(t, i));
    put_integer(indices, i, t->ids[i]);
  }
  /* Where elements of the tensor are one in memory, the last one is there. */
  for (int64_t i = 0; i < many; i++) {
    unsigned char element[8];
    const number_kind n = numbers_of(type, GATHER_ACCUMULATE_DEFAULT);
    get_element(indices, i, element);
    if (indices->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) gather_swap(element, n.width, n.width);
    const number v = read_number(&n, element);
    t->ids[i] = type <= GATHER_TYPE_INT64 ? signed_of(&n, v.bits) : (int64_t)v.bits;
  }
}

static void count_bad(trial *t) {
  t->bad = 0;
  for (int64_t i = 0; i < len_of(&t->tensors[INDICES]) && len_of(&t->tensors[UPDATES]) > 0; i++) {
    const int64_t n = axis_len(t, i), low = t->options.negative == GATHER_NEGATIVE_OFF ? 0 : -n;
    t->bad += t->ids[i] < low || t->ids[i] >= n;
  }
}

/* Data, indices and updates; the output is data, or another tensor with what no scatter leaves in it. */
static void make_trial(trial *t, operator_kind kind) {
  gather_type type;
  holder *updates = &t->tensors[UPDATES], *out = &t->tensors[OUT];
  t->kind = kind;
  t->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  choose_type(t, &type);
  t->options.unique = below(6) == 0;
  make_data(t, type);
  make_indices(t);
  shape_updates(t);
  updates->tensor.item_bytes = t->tensors[DATA].tensor.item_bytes;
  place(updates, UPDATES, type, updates->tensor.rank, random_layout(true));
  fill_random(updates);
  find_places(t);
  count_bad(t);
  t->in_place = below(3) == 0;
  *out = t->tensors[DATA], out->tensor.shape = out->shape;
  if (!t->in_place) {
    place(out, OUT, type, out->tensor.rank, random_layout(false));
    memset(out->first, 0x5A, (size_t)out->bytes);
  } else if (out->tensor.strides) {
    out->tensor.strides = out->strides;
  }
  if (t->reducing.reduction == GATHER_REDUCTION_NONE && below(4) == 0) /* then bytes are moved as they are */
    for (int i = 0; i < HOLDERS; i++) t->tensors[i].tensor.flags |= i == INDICES ? 0 : (uint32_t)GATHER_TENSOR_BYTE_SWAPPED;
}

static void lock_inputs(const trial *t, bool locked) {
  for (int i = 0; i < OUT; i++)
    if (i != DATA || !t->in_place) guard_lock(written_memory[i], locked);
}

/* ---- ways to run a case */

typedef enum { ONE_CALL = 0, BY_PLAN, KEPT } way;

static gather_status run_plan(trial *t, way how, int64_t *bad, gather_error *error) {
  gather_scatter_plan *plan = NULL;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  const gather_tensor *indices = &t->tensors[INDICES].tensor;
  run.data = t->tensors[DATA].tensor.data, run.indices = indices->data, run.updates = t->tensors[UPDATES].tensor.data;
  run.out = t->tensors[OUT].tensor.data, run.executor = t->options.executor, run.bad_count = bad;
  gather_status status = gather_scatter_plan_create(gather_scatter_op(NAMES[t->kind]), &t->tensors[DATA].tensor, indices,
                                                    &t->tensors[UPDATES].tensor, &t->tensors[OUT].tensor, &t->options, &plan, error);
  if (status == GATHER_OK && how == KEPT) status = gather_scatter_plan_keep(plan, indices->data, t->options.executor, error);
  if (status == GATHER_OK && how == KEPT) run.indices = NULL;
  if (status == GATHER_OK) status = gather_scatter_plan_run(plan, &run, error);
  gather_scatter_plan_destroy(plan);
  return status;
}

static gather_status run_case(trial *t, way how, int64_t *bad, gather_error *error) {
  t->options.bad_count = bad;
  if (how != ONE_CALL) return run_plan(t, how, bad, error);
  return gather_scatter_apply(gather_scatter_op(NAMES[t->kind]), &t->tensors[DATA].tensor, &t->tensors[INDICES].tensor,
                              &t->tensors[UPDATES].tensor, &t->tensors[OUT].tensor, &t->options, error);
}

static const char *describe(const trial *t, int64_t seed) {
  static char text[300];
  const gather_tensor *data = &t->tensors[DATA].tensor;
  snprintf(text, sizeof text, "case %d of %s: %s, %s, accumulate %d, rank %d, axis %d, %d indices, %d updates%s%s", (int)seed,
           NAMES[t->kind], gather_type_get(data->type)->name, gather_reduction_name(t->options.reduction), (int)t->options.accumulate,
           (int)data->rank, (int)t->options.axis, (int)len_of(&t->tensors[INDICES]), (int)len_of(&t->tensors[UPDATES]),
           t->options.neutral ? ", neutral" : "", t->in_place ? ", in place" : "");
  return text;
}

/* Settings that decide how a scatter runs, never its result. */
static void tune_by_chance(trial *t) {
  tune("scatter_method", below(METHODS));
  tune("isa", below(GATHER_ISA_ROWS));
  tune("cache_bytes", below(2) ? 1 : 1 << 30), tune("prefetch_rows", below(2) ? 3 : 128);
  tune("scratch_bytes", below(4) ? 1 << 30 : 0);
  tune("task_bytes", 64), tune("awake_task_bytes", 64);
  t->options.executor = executors[below(THREADS + 1)];
}

/* The first update of a place that an earlier one goes to; -1: there is none. */
static int64_t find_repeated(const trial *t, int64_t *first) {
  static int64_t seen[WRITTEN_CELLS];
  for (int64_t i = 0; i < len_of(&t->tensors[DATA]); i++) seen[i] = -1;
  for (int64_t u = 0; u < len_of(&t->tensors[UPDATES]); u++) {
    if (t->places[u] < 0) continue;
    *first = seen[t->places[u]];
    if (*first >= 0) return u;
    seen[t->places[u]] = u;
  }
  return -1;
}

/* The coordinates of the index of an update; of tuples those of its first number. */
static void find_index(const trial *t, int64_t update, int64_t *position) {
  const holder *updates = &t->tensors[UPDATES];
  const int32_t rank = t->tensors[INDICES].tensor.rank, from = t->kind == ROWS ? (int32_t)t->options.axis : 0;
  int64_t spot[2 * WRITTEN_RANK] = {0};
  unravel(update, updates->tensor.rank, updates->shape, spot);
  memcpy(position, spot + from, (size_t)rank * sizeof *spot);
  if (t->kind == TUPLES) position[rank - 1] = 0;
}

static void assert_repeated(const trial *t, const gather_error *error, int64_t update, int64_t first) {
  const int32_t rank = t->tensors[INDICES].tensor.rank;
  int64_t position[2 * WRITTEN_RANK], before[2 * WRITTEN_RANK];
  assert_status(error->status, GATHER_INDEX_REPEATED);
  assert_string_equal(error->input, "indices");
  assert_int_equal(error->position_rank, rank);
  if (len_of(&t->tensors[INDICES]) == 0) return; /* tuples without numbers */
  find_index(t, update, position), find_index(t, first, before);
  assert_memory_equal(error->position, position, (size_t)rank * sizeof *position);
  assert_memory_equal(error->first_position, before, (size_t)rank * sizeof *before);
  assert_true(error->value == t->ids[ravel(rank, t->tensors[INDICES].shape, position)]);
}

static void random_case(operator_kind kind, int64_t seed) {
  static trial t;
  static unsigned char wanted[WRITTEN_ROOM];
  const char *add = getenv("GATHER_TEST_SEED");
  gather_error error;
  int64_t bad = -1;
  state_of_random = (uint64_t)seed * 7919 + (uint64_t)kind * 104729 + (add ? strtoull(add, NULL, 10) * 1299709 : 1);
  make_trial(&t, kind);
  tune_by_chance(&t);
  const way how = (way)below(is_packed(&t.tensors[DATA]) && (t.tensors[INDICES].tensor.flags || t.tensors[INDICES].tensor.strides) ? 2 : 3);
  memcpy(wanted, t.tensors[OUT].first, (size_t)t.tensors[OUT].bytes);
  const holder want = moved_to(&t.tensors[OUT], wanted);
  int64_t first = -1;
  const int64_t repeated = t.options.unique ? find_repeated(&t, &first) : -1;
  if (repeated < 0) scatter_loop(&t.reducing, &t.tensors[DATA], &t.tensors[UPDATES], &want);
  lock_inputs(&t, true);
  const gather_status status = run_case(&t, how, &bad, &error);
  lock_inputs(&t, false);
  if (status != (repeated < 0 ? GATHER_OK : GATHER_INDEX_REPEATED))
    fail_msg("%s: %s", describe(&t, seed), status ? error.message : "a repeated index was not found");
  assert_same(describe(&t, seed), &t.tensors[OUT], &want);
  if (repeated >= 0) assert_repeated(&t, &error, repeated, first);
  if (repeated < 0 && bad != t.bad) fail_msg("%s: %d indices out of range, not %d", describe(&t, seed), (int)bad, (int)t.bad);
}

static void random_cases(operator_kind kind) {
  const int64_t rounds = wanted_rounds() ? wanted_rounds() : ROUNDS / sparse();
  for (int64_t i = 0; i < rounds; i++) random_case(kind, i);
  machine_reset();
}

static void random_rows(void **state) { random_cases(ROWS); }
static void random_elements(void **state) { random_cases(ELEMENTS); }
static void random_tuples(void **state) { random_cases(TUPLES); }

/* ---- every method, with any number of threads, on any instruction set */

/* data [rows, len, tail] along axis 1 by `many` indices; elements: [rows, many, tail]; tuples: [many, numbers]. */
typedef struct {
  operator_kind kind;
  gather_type type;
  gather_reduction reduction;
  gather_accumulate accumulate;
  int64_t rows, len, tail, many, numbers;
} large_case;

static const large_case LARGE[] = {
    {ROWS, GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_STEPS, 1, 97, 33, 1500, 0},
    {ROWS, GATHER_TYPE_UINT16, GATHER_REDUCTION_NONE, GATHER_ACCUMULATE_STEPS, 1, 11, 700, 90, 0},
    {ROWS, GATHER_TYPE_FLOAT64, GATHER_REDUCTION_MUL, GATHER_ACCUMULATE_STEPS, 9, 50, 3, 1000, 0},
    {ROWS, GATHER_TYPE_FLOAT16, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_HALVES, 1, 31, 40, 1500, 0},
    {ROWS, GATHER_TYPE_INT8, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_STEPS, 1, 97, 49, 1000, 0}, /* in float64, 49 * (1 / 49) is below 1 */
    {ELEMENTS, GATHER_TYPE_INT32, GATHER_REDUCTION_SUB, GATHER_ACCUMULATE_STEPS, 1, 60, 40, 900, 0},
    {ELEMENTS, GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_STEPS, 9, 50, 1, 900, 0},
    {ELEMENTS, GATHER_TYPE_BFLOAT16, GATHER_REDUCTION_MEAN, GATHER_ACCUMULATE_HALVES, 3, 60, 5, 900, 0},
    {TUPLES, GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_STEPS, 3, 50, 40, 40000, 3},
    {TUPLES, GATHER_TYPE_FLOAT32, GATHER_REDUCTION_ADD, GATHER_ACCUMULATE_WIDE, 3, 50, 40, 40000, 3},
    {TUPLES, GATHER_TYPE_INT8, GATHER_REDUCTION_NONE, GATHER_ACCUMULATE_STEPS, 1, 500, 7, 40000, 3},
    {TUPLES, GATHER_TYPE_COMPLEX64, GATHER_REDUCTION_MUL, GATHER_ACCUMULATE_STEPS, 2, 90, 4, 9000, 3},
    {TUPLES, GATHER_TYPE_INT64, GATHER_REDUCTION_MAX, GATHER_ACCUMULATE_STEPS, 7, 90, 1, 30000, 2},
};

static void make_large(trial *t, const large_case *c) {
  holder *data = &t->tensors[DATA], *indices = &t->tensors[INDICES], *updates = &t->tensors[UPDATES];
  const int64_t shape[] = {c->rows, c->len, c->tail}, elements[] = {c->rows, c->many, c->tail}, tuples[] = {c->many, c->numbers};
  t->kind = c->kind, t->in_place = false;
  t->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  t->options.axis = c->kind == TUPLES ? 0 : 1, t->options.reduction = c->reduction, t->options.accumulate = c->accumulate;
  t->reducing = (reducing){.reduction = c->reduction, .numbers = numbers_of(c->type, c->accumulate)};
  memcpy(data->shape, shape, sizeof shape);
  memcpy(indices->shape,
         c->kind == ROWS       ? &c->many
         : c->kind == ELEMENTS ? elements
                               : tuples,
         c->kind == ELEMENTS ? 24
         : c->kind == ROWS   ? 8
                             : 16);
  place(data, DATA, c->type, 3, ROW_MAJOR);
  place(indices, INDICES, GATHER_TYPE_INT32, c->kind == ROWS ? 1 : c->kind == ELEMENTS ? 3 : 2, ROW_MAJOR);
  for (int64_t i = 0; i < len_of(indices); i++) {
    const int64_t n = axis_len(t, i);
    t->ids[i] = below(n) - (below(2) ? n : 0);
    put_integer(indices, i, t->ids[i]);
  }
  shape_updates(t);
  place(updates, UPDATES, c->type, updates->tensor.rank, ROW_MAJOR);
  fill_random(data), fill_random(updates);
  t->tensors[OUT] = *data;
  place(&t->tensors[OUT], OUT, c->type, 3, ROW_MAJOR);
  find_places(t);
}

static void every_method(void **state) {
  static trial t;
  static unsigned char wanted[WRITTEN_ROOM];
  gather_error error;
  int64_t bad;
  char text[200];
  state_of_random = 11;
  for (size_t i = 0; i < COUNT(LARGE); i += (size_t)sparse()) {
    make_large(&t, &LARGE[i]);
    const holder want = moved_to(&t.tensors[OUT], wanted);
    scatter_loop(&t.reducing, &t.tensors[DATA], &t.tensors[UPDATES], &want);
    for (int method = 0; method < METHODS; method++)
      for (int threads = 0; threads <= THREADS; threads++)
        for (int strongest = wanted_rounds() ? 0 : (method + threads) % 2; strongest < 2; strongest += wanted_rounds() ? 1 : 2) {
          tune("scatter_method", method), tune("isa", strongest ? GATHER_ISA_ROWS : 0), tune("task_bytes", 64),
              tune("awake_task_bytes", 64), tune("cache_bytes", threads % 2 ? 1 : 1 << 30);
          t.options.executor = executors[threads];
          memset(t.tensors[OUT].first, 0x5A, (size_t)t.tensors[OUT].bytes);
          if (run_case(&t, ONE_CALL, &bad, &error) != GATHER_OK) fail_msg("%s", error.message);
          snprintf(text, sizeof text, "case %d, method %d, executor %d, %s", (int)i, method, threads, gather_isa_name());
          assert_same(text, &t.tensors[OUT], &want);
        }
  }
  machine_reset();
}

/* Windows of StableHLO that differ by one element: no loop along them writes apart. */
static void overlapping_windows(void **state) {
  enum { LEN = 500, WINDOWS = 40 };
  static int32_t cells[LEN + 1], out[LEN + 1], want[LEN + 1], updates[WINDOWS][LEN];
  static const int64_t first[] = {0}, second[] = {1};
  int8_t starts[WINDOWS];
  gather_dimension_numbers n = GATHER_DIMENSION_NUMBERS_INIT;
  n.offset_dims = second, n.offset_dims_count = 1, n.start_index_map = first, n.start_index_map_count = 1, n.index_vector_dim = 1;
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.numbers = &n;
  memset(want, 0, sizeof want);
  for (int i = 0; i < WINDOWS; i++) {
    starts[i] = (int8_t)(i * 7 / 3 % 2);
    for (int k = 0; k < LEN; k++) want[starts[i] + k] = updates[i][k] = i * 1000 + k;
  }
  const gather_tensor data = tensor_of(GATHER_TYPE_INT32, cells, 1, DIMS(LEN + 1)),
                      to = tensor_of(GATHER_TYPE_INT32, out, 1, DIMS(LEN + 1));
  const gather_tensor by = tensor_of(GATHER_TYPE_INT8, starts, 1, DIMS(WINDOWS));
  const gather_tensor from = tensor_of(GATHER_TYPE_INT32, updates, 2, DIMS(WINDOWS, LEN));
  tune("task_bytes", 64), tune("awake_task_bytes", 64);
  for (int method = 0; method < METHODS; method++)
    for (int turn = 0; turn < 20; turn++) {
      tune("scatter_method", method);
      options.executor = executors[turn % THREADS];
      assert_status(gather_scatter_apply(op_of("scatter", "stablehlo-1"), &data, &by, &from, &to, &options, NULL), GATHER_OK);
      assert_memory_equal(out, want, sizeof out);
    }
  machine_reset();
}

/* ---- many updates of one cell */

/* Of three cells the second one, which begins as `start`: all updates are `most`, but one in the middle, or with NONE the last one, is
 * `other`. Sums of them are exact. */
typedef struct {
  double start, most, other;
} cell_numbers;

static cell_numbers cell_numbers_of(gather_reduction reduction, gather_kind kind) {
  const bool sums = reduction == GATHER_REDUCTION_ADD || reduction == GATHER_REDUCTION_SUB || reduction == GATHER_REDUCTION_MEAN;
  if (kind == GATHER_KIND_BOOL) {
    const bool both = reduction == GATHER_REDUCTION_MUL || reduction == GATHER_REDUCTION_MIN, differs = reduction == GATHER_REDUCTION_SUB;
    return (cell_numbers){both, both || differs, !(both || differs)};
  }
  if (sums && kind != GATHER_KIND_INT && kind != GATHER_KIND_UINT) return (cell_numbers){1, 1.0 / 1024, 1.0 / 512};
  if (sums) return (cell_numbers){5, 3, 100};
  if (reduction == GATHER_REDUCTION_MUL) return (cell_numbers){5, 1, 3};
  return reduction == GATHER_REDUCTION_MIN ? (cell_numbers){9, 5, 2} : (cell_numbers){1, 5, 7};
}

static number number_from(double value) { return (number){{value, 0}, (uint64_t)(int64_t)value}; }

static number one_cell_wanted(const number_kind *n, gather_reduction reduction, const cell_numbers *c, int64_t many) {
  number most = number_from(c->most);
  const bool sums = reduction == GATHER_REDUCTION_ADD || reduction == GATHER_REDUCTION_SUB || reduction == GATHER_REDUCTION_MEAN;
  if (reduction == GATHER_REDUCTION_NONE) return number_from(c->other);
  if (sums && n->kind != GATHER_KIND_BOOL) most.real[0] *= (double)(many - 1), most.bits *= (uint64_t)(many - 1);
  const number all = reduced(n, reduction, reduced(n, reduction, number_from(c->start), most), number_from(c->other));
  return reduction == GATHER_REDUCTION_MEAN ? mean_of(n, all, many + 1) : all;
}

static const int32_t *ones_of(int64_t many) {
  static int32_t *ones;
  if (ones) return ones;
  ones = malloc((size_t)many * sizeof *ones);
  for (int64_t i = 0; ones && i < many; i++) ones[i] = 1;
  return ones;
}

static void fill_cell(const number_kind *n, int64_t item, const cell_numbers *c, gather_reduction reduction, int64_t many,
                      unsigned char *updates, unsigned char *cells) {
  unsigned char other[16], most[16];
  write_number(n, number_from(c->most), most), write_number(n, number_from(c->other), other);
  for (int64_t i = 0; i < many; i++) memcpy(updates + i * item, most, (size_t)item);
  memcpy(updates + (reduction ? many / 2 : many - 1) * item, other, (size_t)item);
  for (int i = 0; i < 3; i++) write_number(n, number_from(c->start), cells + i * item);
}

static void one_cell_of(gather_type type, gather_reduction reduction, int64_t many, unsigned char *updates, int step, int *turn) {
  const number_kind n = numbers_of(type, GATHER_ACCUMULATE_HALVES);
  const int64_t item = gather_type_get(type)->bits / 8;
  const cell_numbers c = cell_numbers_of(reduction, n.kind);
  unsigned char cells[48], out[48], want[48];
  fill_cell(&n, item, &c, reduction, many, updates, cells);
  memcpy(want, cells, sizeof want);
  write_number(&n, one_cell_wanted(&n, reduction, &c, many), want + item);
  const gather_tensor data = tensor_of(type, cells, 1, DIMS(3)), from = tensor_of(type, updates, 1, &many),
                      to = tensor_of(type, out, 1, DIMS(3));
  for (int i = *turn % step; i < OPERATORS * METHODS * 2; i += step) {
    const int kind = i % OPERATORS, threads = i / OPERATORS % 2 ? 1 : 3;
    const gather_tensor indices = tensor_of(GATHER_TYPE_INT32, ones_of(many), kind == TUPLES ? 2 : 1, ((const int64_t[]){many, 1}));
    gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
    options.reduction = reduction, options.executor = executors[threads];
    tune("scatter_method", i / OPERATORS / 2);
    assert_status(gather_scatter_apply(gather_scatter_op(NAMES[kind]), &data, &indices, &from, &to, &options, NULL), GATHER_OK);
    if (memcmp(out, want, (size_t)(3 * item)) != 0)
      fail_msg("%s, %s, %s, method %d, executor %d: %02x%02x is not %02x%02x", NAMES[kind], gather_type_get(type)->name,
               gather_reduction_name(reduction), i / OPERATORS / 2, threads, out[item], out[item + 1], want[item], want[item + 1]);
  }
  ++*turn;
}

static void one_cell(void **state) {
  const int64_t many = sparse() > 1 ? 1 << 15 : 1 << 20;
  unsigned char *updates = malloc((size_t)many * 16);
  assert_non_null(updates);
  assert_non_null(ones_of(many));
  int turn = 0;
  for (int type = GATHER_TYPE_BOOL; type <= GATHER_TYPE_COMPLEX128; type++)
    for (size_t r = 0; r < COUNT(REDUCTIONS); r++)
      if (gather_reduction_supports(REDUCTIONS[r], (gather_type)type))
        one_cell_of((gather_type)type, REDUCTIONS[r], wanted_rounds() || turn % 3 == 0 ? many : many / 16, updates,
                    wanted_rounds() ? 1 : 41, &turn);
  free(updates);
  machine_reset();
}

/* ---- the documents' examples */

typedef struct {
  const char *name, *rules;
  int64_t axis;
  gather_reduction reduction;
  bool neutral;
  int32_t rank, index_rank, updates_rank;
  int64_t shape[3], index_shape[3], updates_shape[3];
  float data[16];
  int64_t indices[8];
  float updates[16], want[16];
} example;

/* clang-format off */
static const example EXAMPLES[] = {
    {"ScatterElements", "onnx-18", 0, GATHER_REDUCTION_NONE, false, 2, 2, 2, {3, 3}, {2, 3}, {2, 3}, {0}, {1, 0, 2, 0, 2, 1},
     {1.0f, 1.1f, 1.2f, 2.0f, 2.1f, 2.2f}, {2.0f, 1.1f, 0.0f, 1.0f, 0.0f, 2.2f, 0.0f, 2.1f, 1.2f}},
    {"ScatterElements", "onnx-11", 1, GATHER_REDUCTION_NONE, false, 2, 2, 2, {1, 5}, {1, 2}, {1, 2}, {1, 2, 3, 4, 5}, {1, -2},
     {1.5f, 2.5f}, {1, 1.5f, 3, 2.5f, 5}},
    {"Scatter", "onnx-9", 1, GATHER_REDUCTION_NONE, false, 2, 2, 2, {1, 5}, {1, 2}, {1, 2}, {1, 2, 3, 4, 5}, {1, 3},
     {1.1f, 2.1f}, {1, 1.1f, 3, 2.1f, 5}},
    {"ScatterElements", "onnx-16", 1, GATHER_REDUCTION_ADD, false, 2, 2, 2, {1, 5}, {1, 2}, {1, 2}, {1, 2, 3, 4, 5}, {1, 1},
     {1, 2}, {1, 5, 3, 4, 5}},
    {"ScatterND", "onnx-18", 0, GATHER_REDUCTION_NONE, false, 1, 2, 1, {8}, {4, 1}, {4}, {1, 2, 3, 4, 5, 6, 7, 8}, {4, 3, 1, 7},
     {9, 10, 11, 12}, {1, 11, 3, 10, 9, 6, 7, 12}},
    {"ScatterND", "onnx-16", 0, GATHER_REDUCTION_MUL, false, 2, 2, 2, {2, 2}, {3, 1}, {3, 2}, {1, 2, 3, 4}, {1, 1, 0},
     {2, 3, 5, 7, 1, 0.5f}, {1, 1, 30, 84}},
    {"ScatterUpdate", "openvino-3", 1, GATHER_REDUCTION_NONE, false, 2, 1, 2, {2, 3}, {2}, {2, 2}, {1, 2, 3, 4, 5, 6}, {2, 0},
     {10, 20, 30, 40}, {20, 2, 10, 40, 5, 30}},
    {"ScatterElementsUpdate", "openvino-12", 0, GATHER_REDUCTION_ADD, false, 1, 1, 1, {4}, {5}, {5}, {2, 3, 4, 6}, {1, 0, 0, -2, -1},
     {10, 20, 30, 40, 70}, {52, 13, 44, 76}},
    {"ScatterElementsUpdate", "openvino-12", 0, GATHER_REDUCTION_ADD, true, 1, 1, 1, {4}, {4}, {4}, {2, 3, 4, 6}, {1, 0, 0, -2},
     {10, 20, 30, 40}, {50, 10, 40, 6}},
    {"ScatterElementsUpdate", "openvino-12", 0, GATHER_REDUCTION_MEAN, false, 1, 1, 1, {2}, {3}, {3}, {2, 4}, {0, 0, 0},
     {4, 6, 8}, {5, 4}},
    {"ScatterElementsUpdate", "openvino-12", 0, GATHER_REDUCTION_MAX, true, 1, 1, 1, {2}, {1}, {1}, {2, 4}, {0},
     {-(float)INFINITY}, {-FLT_MAX, 4}}, /* it starts at the lowest finite number */
    {"scatter_elements", NULL, 0, GATHER_REDUCTION_MAX, true, 1, 1, 1, {2}, {1}, {1}, {2, 4}, {0},
     {-(float)INFINITY}, {-(float)INFINITY, 4}},
    {"ScatterNDUpdate", "openvino-15", 0, GATHER_REDUCTION_SUB, false, 1, 2, 1, {4}, {3, 1}, {3}, {1, 2, 3, 4}, {1, 3, 1},
     {10, 1, 100}, {1, -108, 3, 3}},
    {"ScatterNDUpdate", "openvino-3", 0, GATHER_REDUCTION_NONE, false, 1, 2, 2, {2}, {2, 0}, {2, 2}, {1, 2}, {0},
     {3, 4, 5, 6}, {5, 6}}, /* tuples without numbers: each writes the whole */
};
/* clang-format on */

static void examples(void **state) {
  for (size_t i = 0; i < COUNT(EXAMPLES); i++) {
    const example *e = &EXAMPLES[i];
    float out[16];
    gather_error error;
    const gather_op *op = e->rules ? op_of(e->name, e->rules) : gather_scatter_op(e->name);
    const gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, e->data, e->rank, e->shape);
    const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, e->indices, e->index_rank, e->index_shape);
    const gather_tensor updates = tensor_of(GATHER_TYPE_FLOAT32, e->updates, e->updates_rank, e->updates_shape);
    const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, e->rank, e->shape);
    gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
    options.axis = e->axis, options.reduction = e->reduction, options.neutral = e->neutral;
    if (gather_scatter_apply(op, &data, &indices, &updates, &to, &options, &error)) fail_msg("example %d: %s", (int)i, error.message);
    for (int64_t k = 0; k < gather_tensor_len(&data); k++)
      if (out[k] != e->want[k]) fail_msg("example %d: number %d is %g, not %g", (int)i, (int)k, (double)out[k], (double)e->want[k]);
  }
}

/* The three functions are those of their operators. */
static void functions(void **state) {
  float data[] = {1, 2, 3, 4, 5, 6}, out[6];
  const int64_t rows[] = {2, 0, 2}, tuples[] = {1, 0, 1, 0};
  const float updates[] = {10, 20, 30, 40, 50, 60};
  const gather_tensor in = tensor_of(GATHER_TYPE_FLOAT32, data, 2, DIMS(3, 2)), to = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(3, 2));
  const gather_tensor many = tensor_of(GATHER_TYPE_INT64, rows, 1, DIMS(3)), from = tensor_of(GATHER_TYPE_FLOAT32, updates, 2, DIMS(3, 2));
  assert_status(gather_scatter(&in, &many, &from, 0, GATHER_REDUCTION_ADD, &to, NULL), GATHER_OK);
  assert_memory_equal(out, ((const float[]){31, 42, 3, 4, 65, 86}), sizeof out);
  const gather_tensor one = tensor_of(GATHER_TYPE_INT64, rows, 2, DIMS(3, 1)),
                      short_from = tensor_of(GATHER_TYPE_FLOAT32, updates, 2, DIMS(3, 1));
  assert_status(gather_scatter_elements(&in, &one, &short_from, -2, GATHER_REDUCTION_MAX, &to, NULL), GATHER_OK);
  assert_memory_equal(out, ((const float[]){20, 2, 3, 4, 30, 6}), sizeof out);
  const gather_tensor two = tensor_of(GATHER_TYPE_INT64, tuples, 2, DIMS(2, 2)), pair = tensor_of(GATHER_TYPE_FLOAT32, updates, 1, DIMS(2));
  assert_status(gather_scatter_nd(&in, &two, &pair, GATHER_REDUCTION_SUB, &in, NULL), GATHER_OK);
  assert_memory_equal(data, ((const float[]){1, 2, -27, 4, 5, 6}), sizeof data);
  assert_null(gather_scatter_op("Scatter"));
  assert_null(gather_scatter_op(NULL));
}

TESTS_WITHIN(begin, end, examples, functions, random_rows, random_elements, random_tuples, every_method, overlapping_windows, one_cell)
