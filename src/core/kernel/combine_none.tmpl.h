/* SPDX-License-Identifier: MIT
 *
 * combine_none.tmpl.h: the kernels that replace rows, one per row class: none_<class>. Included once per instruction set that has some.
 *
 * Parameter (undefined again at the end):
 *   SHORTEST_ROW  1 or 32: rows that gain nothing from wider registers are left out
 */
#define REPLACE_BY(copy, class)                                                                       \
  GATHER_INLINE void replace_##class(char *restrict row, const char *restrict update, int64_t size) { \
    copy##_##class(row, update, (size_t)size);                                                        \
  }
#define REPLACE(copy, class) REPLACE_BY(copy, class)
#define NONE(class) \
  static void none_##class(const gather_combine_span *s) { gather_combine_elements(s, replace_##class); }

#if SHORTEST_ROW == 1
REPLACE(gather_copy, 1)
REPLACE(gather_copy, 2)
REPLACE(gather_copy, 3)
REPLACE(gather_copy, 4)
REPLACE(gather_copy, 5_to_7)
REPLACE(gather_copy, 8)
REPLACE(gather_copy, 9_to_15)
REPLACE(gather_copy, 16)
REPLACE(gather_copy, 17_to_31)
NONE(1)
NONE(2)
NONE(3)
NONE(4)
NONE(5_to_7)
NONE(8)
NONE(9_to_15)
NONE(16)
NONE(17_to_31)
#endif
REPLACE(GATHER_WIDE, 32)
REPLACE(GATHER_WIDE, 33_to_63)
REPLACE(GATHER_WIDE, 64)
REPLACE(GATHER_WIDE, long)
NONE(32)
NONE(33_to_63)
NONE(64)
static void none_long(const gather_combine_span *s) { gather_combine_rows(s, replace_long); }

#undef REPLACE_BY
#undef REPLACE
#undef NONE
#undef SHORTEST_ROW
