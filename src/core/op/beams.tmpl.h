/* SPDX-License-Identifier: MIT
 *
 * beams.tmpl.h: the loops of tree.c over the beams of a search, for one kind of elements. Before each inclusion:
 *   NAME(word)                   the functions' names
 *   ID                           an unsigned type of the elements' width
 *   FIND(beams, element, beam)   whether the parent at `element` is a beam; if so, sets *beam
 */

static void NAME(trace)(const beam_search *b, lanes *l) {
  ID end, fill;
  memcpy(&end, b->end, sizeof end);
  memcpy(&fill, b->fill, sizeof fill);
  for (int64_t t = b->time - 1; t >= 0; t--) {
    const char *from = b->steps + t * b->step[0], *up = b->parents + t * b->parent[0];
    char *to = b->out + t * b->to[0];
    for (int32_t i = 0; i < l->count; i++) {
      ID id = end;
      if (t < l->len[i]) {
        if (GATHER_LIKELY(l->beam[i] >= 0)) {
          memcpy(&id, from + l->step[i] + l->beam[i] * b->step[2], sizeof id);
          const char *parent = up + l->parent[i] + l->beam[i] * b->parent[2];
          if (t > 0 && GATHER_UNLIKELY(!FIND(b, parent, &l->beam[i])))
            l->beam[i] = repair(b, read_number(b->type, parent, b->parents_swapped));
        } else {
          id = fill;
        }
        for (int32_t e = 0; e < b->end_count; e++)
          if (memcmp(&id, b->ends[e], sizeof id) == 0) l->end[i] = t;
      }
      memcpy(to + l->to[i], &id, sizeof id);
    }
  }
  /* Everything after the first end token is the end token. */
  int64_t first = b->time;
  for (int32_t i = 0; i < l->count; i++)
    if (l->end[i] < first) first = l->end[i];
  for (int64_t t = first + 1; t < b->time; t++) {
    char *to = b->out + t * b->to[0];
    for (int32_t i = 0; i < l->count; i++)
      if (t > l->end[i]) memcpy(to + l->to[i], &end, sizeof end);
  }
}

static bool NAME(scan)(const beam_search *b, const lanes *l) {
  for (int64_t t = 1; t < b->time; t++) {
    const char *up = b->parents + t * b->parent[0];
    bool good = true;
    for (int32_t i = 0; i < l->count; i++) {
      int64_t beam;
      if (t < l->len[i]) good &= FIND(b, up + l->parent[i] + l->beam[i] * b->parent[2], &beam);
    }
    if (!good) return false;
  }
  return true;
}

#undef NAME
#undef ID
#undef FIND
