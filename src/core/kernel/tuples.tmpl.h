/* SPDX-License-Identifier: MIT
 *
 * tuples.tmpl.h: tuples in plain C: for the portable instruction set, and for the last few tuples of the others. One pair of
 * functions per width (TYPE, w) and number of columns K, which the compiler knows.
 */
#define TUPLES(K, w, TYPE)                                                                                                   \
  GATHER_INLINE bool within_rest_##K##_##w(const gather_tuple_axes *a, const char *indices, int64_t count) {                 \
    uint64_t outside = 0;                                                                                                    \
    for (int64_t j = 0; j < count; j++)                                                                                      \
      for (int c = 0; c < K; c++) {                                                                                          \
        TYPE number;                                                                                                         \
        memcpy(&number, indices + (j * K + c) * (int64_t)sizeof number, sizeof number);                                      \
        const uint64_t moved = (uint64_t)(int64_t)number + (uint64_t)a->back[c];                                             \
        outside |= moved | ((uint64_t)(a->len[c] + a->back[c] - 1) - moved);                                                 \
      }                                                                                                                      \
    return outside >> 63 == 0;                                                                                               \
  }                                                                                                                          \
  GATHER_INLINE void fold_rest_##K##_##w(const gather_tuple_axes *a, const char *indices, int64_t count, int64_t *offsets) { \
    for (int64_t j = 0; j < count; j++) {                                                                                    \
      int64_t offset = a->base;                                                                                              \
      for (int c = 0; c < K; c++) {                                                                                          \
        TYPE number;                                                                                                         \
        memcpy(&number, indices + (j * K + c) * (int64_t)sizeof number, sizeof number);                                      \
        offset += ((int64_t)number + (number < 0 ? a->back[c] : 0)) * a->step[c];                                            \
      }                                                                                                                      \
      offsets[j] = offset;                                                                                                   \
    }                                                                                                                        \
  }
TUPLES(2, 4, int32_t)
TUPLES(3, 4, int32_t)
TUPLES(4, 4, int32_t)
TUPLES(2, 8, int64_t)
TUPLES(3, 8, int64_t)
TUPLES(4, 8, int64_t)
#undef TUPLES

/* Those functions as kernels. */
#define TUPLES_ALONE(K, w)                                                                                              \
  static bool tuples_within_##K##_##w(const gather_tuple_axes *a, const char *indices, int64_t count) {                 \
    return within_rest_##K##_##w(a, indices, count);                                                                    \
  }                                                                                                                     \
  static void tuples_fold_##K##_##w(const gather_tuple_axes *a, const char *indices, int64_t count, int64_t *offsets) { \
    fold_rest_##K##_##w(a, indices, count, offsets);                                                                    \
  }

#define TUPLES_WITHIN_SLOTS                                                                                                \
  {                                                                                                                        \
    {tuples_within_2_4, tuples_within_3_4, tuples_within_4_4}, { tuples_within_2_8, tuples_within_3_8, tuples_within_4_8 } \
  }
#define TUPLES_FOLD_SLOTS                                                                                      \
  {                                                                                                            \
    {tuples_fold_2_4, tuples_fold_3_4, tuples_fold_4_4}, { tuples_fold_2_8, tuples_fold_3_8, tuples_fold_4_8 } \
  }
