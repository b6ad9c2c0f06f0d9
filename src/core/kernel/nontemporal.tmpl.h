/* SPDX-License-Identifier: MIT
 *
 * nontemporal.tmpl.h: long rows, whole lines with non-temporal stores. Included once per index width and instruction
 * set.
 *
 * Parameters (undefined again at the end): INDEX, SUFFIX as in rows.tmpl.h; the file that includes this defines
 * nontemporal_line(out, in), which copies 64 bytes to an aligned place.
 */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

GATHER_INLINE const char *NAME(source_row)(const gather_span *s, int64_t i, int64_t j) {
  const int64_t row = NAME(gather_row)(s->indices + i * s->index_round + j * s->index_step);
  return s->data + i * s->data_round + j * s->data_step + row * s->axis_step;
}

/* Rows may share lines: the end of a row waits in `held` for the next one. Rows are longer than a line, so copies of 64
 * bytes from their ends need no sizes: the excess is overwritten or outside the line. */
static void NAME(nontemporal)(const gather_span *s) {
  _Alignas(64) char room[3 * 64];
  char *const held = room + 64;
  int64_t head = (int64_t)((uintptr_t)s->out & 63), waiting = head; /* the head belongs to others */
  char *out = s->out - head;
  for (int64_t i = 0; i < s->rounds; i++)
    for (int64_t j = 0; j < s->count; j++) {
      if (s->prefetch_rows > 0 && j + s->prefetch_rows < s->count + s->more)
        gather_prefetch_row(NAME(source_row)(s, i, j + s->prefetch_rows), s->prefetch_lines);
      const char *in = NAME(source_row)(s, i, j), *const end = in + s->row_bytes;
      if (waiting > 0) {
        memcpy(held + waiting, in, 64);
        if (head > 0)
          memcpy(out + head, held + head, (size_t)(64 - head));
        else
          nontemporal_line(out, held);
        in += 64 - waiting, out += 64, head = 0;
      }
      for (; end - in >= 64; in += 64, out += 64) nontemporal_line(out, in);
      waiting = end - in;
      if (waiting > 0) memcpy(held + waiting - 64, end - 64, 64);
    }
  if (waiting > head) memcpy(out + head, held + head, (size_t)(waiting - head));
}

/* Four rows at a time, line by line: four sequences that the CPU's own prefetcher follows. Rows are whole lines. */
static void NAME(interleaved)(const gather_span *s) {
  for (int64_t i = 0; i < s->rounds; i++) {
    int64_t j = 0;
    for (; j + 4 <= s->count; j += 4) {
      const char *in[4] = {NAME(source_row)(s, i, j), NAME(source_row)(s, i, j + 1), NAME(source_row)(s, i, j + 2),
                           NAME(source_row)(s, i, j + 3)};
      char *out = s->out + i * s->out_round + j * s->out_step;
      int64_t head = (int64_t)(-(uintptr_t)out & 63), at = head;
      for (int k = 0; head > 0 && k < 4; k++) memcpy(out + k * s->out_step, in[k], (size_t)head);
      for (; at + 64 <= s->row_bytes; at += 64)
        for (int k = 0; k < 4; k++) nontemporal_line(out + k * s->out_step + at, in[k] + at);
      for (int k = 0; at < s->row_bytes && k < 4; k++) memcpy(out + k * s->out_step + at, in[k] + at, (size_t)(s->row_bytes - at));
    }
    if (j == s->count) continue;
    gather_span rest = *s;
    rest.data += i * s->data_round + j * s->data_step, rest.indices += i * s->index_round + j * s->index_step;
    rest.out += i * s->out_round + j * s->out_step;
    rest.count -= j, rest.rounds = 1, rest.prefetch_rows = 0;
    NAME(nontemporal)(&rest);
  }
}
#undef NAME
#undef NAME__
#undef NAME_
#undef INDEX
#undef SUFFIX
