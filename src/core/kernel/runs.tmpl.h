/* SPDX-License-Identifier: MIT
 *
 * runs.tmpl.h: runs of rows are copied as one long row. For indices in runs; correct for all others. Indices, rows and
 * output are dense. Included once per index width and instruction set.
 *
 * Parameters (undefined again at the end):
 *   INDEX, SUFFIX  as in rows.tmpl.h; the file that includes this has follow_<SUFFIX>(indices, first), which says how many of 16
 *                  indices, from the front, count up from `first`
 *   NONTEMPORAL         1: the file that includes this has nontemporal_line (nontemporal.tmpl.h)
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

#define RUN_INDEX(j) ((INDEX)NAME(gather_row)(indices + (j) * (int64_t)sizeof(INDEX)))

/* The length of the run that starts at j. */
GATHER_INLINE int64_t NAME(run_len)(const char *indices, int64_t j, int64_t count) {
  const INDEX first = RUN_INDEX(j);
  int64_t k = 1;
  while (j + k + 16 <= count) {
    int more = NAME(follow)(indices + (j + k) * (int64_t)sizeof first, (INDEX)(first + (INDEX)k));
    k += more;
    if (more < 16) return k;
  }
  while (j + k < count && RUN_INDEX(j + k) == (INDEX)(first + (INDEX)k)) k++;
  return k;
}

GATHER_INLINE void NAME(copy_run)(char *restrict out, const char *restrict in, int64_t bytes) {
  if (bytes < 32) {
    gather_copy_row(out, in, (size_t)bytes);
  } else if (bytes < 64) {
    gather_copy_33_to_63(out, in, (size_t)bytes);
  } else {
    for (int64_t at = 0; at + 64 <= bytes; at += 64) {
      GATHER_PREFETCH(in + at + 2048);
      memcpy(out + at, in + at, 64);
    }
    memcpy(out + bytes - 64, in + bytes - 64, 64);
  }
}

static void NAME(runs)(const gather_span *s) {
  for (int64_t i = 0; i < s->rounds; i++) {
    const char *data = s->data + i * s->data_round, *indices = s->indices + i * s->index_round;
    char *out = s->out + i * s->out_round;
    for (int64_t j = 0, len; j < s->count; j += len) {
      len = NAME(run_len)(indices, j, s->count);
      const char *in = data + (int64_t)RUN_INDEX(j) * s->row_bytes;
      NAME(copy_run)(out + j * s->row_bytes, in, len * s->row_bytes);
    }
  }
}

#if NONTEMPORAL
static void NAME(nontemporal_runs)(const gather_span *s) {
  for (int64_t i = 0; i < s->rounds; i++) {
    const char *data = s->data + i * s->data_round, *indices = s->indices + i * s->index_round;
    for (int64_t j = 0, len; j < s->count; j += len) {
      len = NAME(run_len)(indices, j, s->count);
      const char *in = data + (int64_t)RUN_INDEX(j) * s->row_bytes;
      char *out = s->out + i * s->out_round + j * s->row_bytes;
      int64_t bytes = len * s->row_bytes, at = (int64_t)(-(uintptr_t)out & 63);
      if (at > bytes) at = bytes;
      if (at > 0) memcpy(out, in, (size_t)at);
      for (; at + 64 <= bytes; at += 64) {
        GATHER_PREFETCH(in + at + 2048);
        nontemporal_line(out + at, in + at);
      }
      if (at < bytes) memcpy(out + at, in + at, (size_t)(bytes - at));
    }
  }
}
#endif

#undef RUN_INDEX
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX
#undef NONTEMPORAL
