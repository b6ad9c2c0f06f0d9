/* SPDX-License-Identifier: MIT
 *
 * fold.tmpl.h: what a run of indices spans, for one index width and instruction set; a loop that compilers turn into vectors.
 *
 * Parameters (undefined again at the end): INDEX (uint8_t ... uint64_t), FOLD (the function's name)
 */
static void FOLD(const char *indices, int64_t count, bool many, uint64_t shift, uint64_t *most, uint64_t *signs) {
  enum { LINE = 64 / sizeof(INDEX), BLOCK = 16 * LINE, FAR = GATHER_INDEX_AHEAD };
  INDEX largest = (INDEX)*most, bits = (INDEX)*signs, add = (INDEX)shift;
  int64_t j = 0;
  while (j < count) {
    int64_t end = count - j < BLOCK ? count : j + BLOCK;
    for (int line = 0; many && line < BLOCK / LINE; line++)
      GATHER_PREFETCH(indices + j * (int64_t)sizeof(INDEX) + FAR + line * 64);
    for (; j < end; j++) {
      INDEX value, moved;
      memcpy(&value, indices + j * (int64_t)sizeof(INDEX), sizeof value);
      moved = (INDEX)(value + add);
      largest = moved > largest ? moved : largest;
      bits = (INDEX)(bits | value);
    }
  }
  *most = largest, *signs = bits;
}
#undef INDEX
#undef FOLD
