/* SPDX-License-Identifier: MIT
 *
 * instruction.tmpl.h: elements of 4 and 8 bytes by the CPU's gather instruction, from one table or one that advances by data_step. Included
 * once per instruction set, after below.tmpl.h.
 *
 * Parameters (undefined again at the end): INSTRUCTION_LANES, elements at a time; INSTRUCTION_NUMBERS, a vector of as many 32-bit numbers.
 * The file that includes this defines
 *   numbers_all(n), numbers_from(start, step)   vectors of n, and of start, start + step, ...
 *   pick_lanes(out, data, indices, width, bytes, step, along, past)  stores the elements at data + index * step + along; past: with
 *                  non-temporal stores
 */

/* A round. Returns how many elements it moved. past: the first ones align the output. checked: it ends before an index that is not below
 * the limit. Fields of the span that the loop reads are copied: for the compiler, a store might change them. */
GATHER_INLINE int64_t instruction_round(const gather_span *s, int64_t round, int width, int bytes, int64_t data_step, int64_t axis_step,
                                        bool past, bool checked, uint64_t limit) {
  const INSTRUCTION_NUMBERS along = numbers_from(0, (int)data_step), step = numbers_all((int)axis_step);
  const char *restrict data = s->data + round * s->data_round, *restrict indices = s->indices + round * s->index_round;
  char *restrict out = s->out + round * s->out_round;
  const int64_t count = s->count, apart = (int64_t)(-(uintptr_t)out & 63) / bytes, head = !past ? 0 : apart < count ? apart : count;
  const bool many = s->many;
  int64_t j = 0;
#define ONE_BY_ONE(end)                                                                                       \
  for (; j < (end); j++) {                                                                                    \
    if (checked && (uint64_t)gather_row(indices, width, j) >= limit) return j;                                \
    memcpy(out + j * bytes, data + j * data_step + gather_row(indices, width, j) * axis_step, (size_t)bytes); \
  }
  ONE_BY_ONE(head)
  for (; j + INSTRUCTION_LANES <= count; j += INSTRUCTION_LANES) {
    for (int at = 0; many && at < INSTRUCTION_LANES * width; at += 64) GATHER_PREFETCH(indices + j * width + GATHER_INDEX_PREFETCH + at);
    if (checked && !all_below(indices + j * width, width, INSTRUCTION_LANES, limit)) return j;
    pick_lanes(out + j * bytes, data + j * data_step, indices + j * width, width, bytes, step, along, past);
  }
  GATHER_OPAQUE(j);
  ONE_BY_ONE(count)
#undef ONE_BY_ONE
  return j;
}

GATHER_INLINE int64_t instruction_rounds_by(const gather_span *s, int width, int bytes, int64_t data_step, int64_t axis_step, bool past,
                                            bool checked, uint64_t limit) {
  for (int64_t i = 0; i < s->rounds; i++) {
    const int64_t moved = instruction_round(s, i, width, bytes, data_step, axis_step, past, checked, limit);
    if (moved < s->count) return i * s->count + moved;
  }
  return s->rounds * s->count;
}

GATHER_INLINE int64_t instruction(const gather_span *s, int width, int bytes, bool checked, uint64_t limit) {
  const bool past = s->nontemporal && ((uintptr_t)s->out | (uintptr_t)s->out_round) % (unsigned)bytes == 0;
  const bool dense = s->data_step == 0 && s->axis_step == bytes;
  if (checked && limit > BELOW_MOST(width)) return 0;
  if (GATHER_SMALL) return instruction_rounds_by(s, width, bytes, s->data_step, s->axis_step, past, checked, limit);
  if (dense && past) return instruction_rounds_by(s, width, bytes, 0, bytes, true, checked, limit);
  if (dense) return instruction_rounds_by(s, width, bytes, 0, bytes, false, checked, limit);
  if (past) return instruction_rounds_by(s, width, bytes, s->data_step, s->axis_step, true, checked, limit);
  return instruction_rounds_by(s, width, bytes, s->data_step, s->axis_step, false, checked, limit);
}

#define INSTRUCTION(w, width, E) \
  static void instruction_##E##_##w(const gather_span *s) { instruction(s, width, E, false, 0); }
#define CHECKED_INSTRUCTION(w, width, E) \
  static int64_t checked_instruction_##E##_##w(const gather_span *s, uint64_t limit) { return instruction(s, width, E, true, limit); }
#undef INSTRUCTION_NUMBERS
#undef INSTRUCTION_LANES
