/* SPDX-License-Identifier: MIT
 *
 * test_check_graphs.c: what a check of a graph finds: nested graphs, functions, values that are followed, verdicts and their reasons.
 * Each case is also written as text, with advice, its operands are found, and what can be drawn is drawn; and all of that happens again
 * with each allocation failing once.
 */
#include <ctype.h>

#include "core/base/error.h"
#include "gather/explain.h"
#include "support/fail_each.h"
#include "support/graph_text.h"

enum { ONNX, IR };

/* wanted: a line for each gather node of the check: its name, verdict, what is known of its data ("[2,0..5,?]", " = " and the elements
 * of integers), and after ": " the reason. '*' stands for any text. */
typedef struct {
  int dialect;
  const char *graph, *wanted;
} check_case;

#define NO_SHAPE(value) ": the shape of the data '" value "' is not known"
#define NO_LENGTH(value) ": the length of the data '" value "' along axis 0 is not known"
#define ALWAYS(value, range) ": the indices '" value "' are computed when the model runs, and always in [" range "]"

static const check_case CASES[] = {
    /* If */
    {ONNX,
     "y = If(bool 1) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; const b int64[3] = 4,5,6 }; "
     "g: _ = Gather(y, 0)",
     "g ok [2] = 4,5"},
    {ONNX,
     "in c bool[]; y = If(c) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; "
     "const b int64[3] = 4,5,6 }; g: _ = Gather(y, 0)",
     "g unknown [2..3]" NO_LENGTH("y")},
    {ONNX,
     "in c bool[]; y = If(c) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; "
     "const b int64[1,3] = 4,5,6 }; g: _ = Gather(y, 0)",
     "g unknown none" NO_SHAPE("y")},
    {ONNX,
     "in c bool[]; y, w = If(c) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; "
     "const b int32[2] = 4,5 }; g: _ = Gather(y, 0); h: _ = Gather(w, 0)",
     "g ok [2]\nh unknown none: the shape of the data 'w' is not known"},
    {ONNX,
     "in c bool[]; const z int64[] = 7; in x int8[5]; f: y = If(c) then_branch={ out a; "
     "g: a = Gather(x, z) } else_branch={ out b; h: b = Gather(x, z) axis=3 }",
     "g unknown [5]: the condition 'c' of If 'f' decides whether the node is executed, and is not known; if it is: "
     "indices = 7 is outside [-5, 4] of axis 0*\n"
     "h unknown [5]: the condition 'c' of If 'f' decides whether the node is executed, and is not known; if it is: "
     "axis 3 is outside [-1, 0] (Gather of data of rank 1)"},
    {ONNX,
     "const c bool[1] = 0; const z int64[] = 7; in x int8[5]; f: y = If(c) then_branch={ out a; "
     "g: a = Gather(x, z) } else_branch={ out b; h: b = Gather(x, z) }",
     "g unknown [5]: not executed: the condition 'c' of If 'f' is false\n"
     "h bad [5]: indices = 7 is outside [-5, 4] of axis 0*; the largest index is 7 and the axis has length 5: the "
     "indices may belong to a longer axis"},
    {ONNX,
     "in c bool[]; give c bool[] = 1; const z int64[] = 7; in x int8[5]; y = If(c) then_branch={ out a; "
     "g: a = Gather(x, z) } else_branch={ out b; h: b = Gather(x, z) }",
     "g bad [5]: indices = 7 is outside [-5, 4] of axis 0*; the largest index is 7 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "h unknown [5]: not executed: the condition 'c' of If is true"},
    {ONNX, "in c bool[]; y = If(c) then_branch={ out a; const a int64[2] = 4,5 }; g: _ = Gather(y, 0)",
     "g unknown none" NO_SHAPE("y")},
    {ONNX,
     "in i int64[2]; const z int64[] = 0; in c bool[]; in x int8[5]; y = If(c) then_branch={ out a; "
     "g: a = Gather(x, i) } else_branch={ out b; h: b = Gather(a, z) }",
     "g unknown [5]: the indices come from the input 'i', which was not given\n"
     "h unknown none: the shape of the data 'a' is not known"},
    /* Loop */
    {ONNX,
     "in x int8[5]; v, s = Loop(3, _, x) body={ in n int64[]; in k bool[]; in p int8*; out kk; out pp; out ss; "
     "kk = Identity(k); pp = Identity(p); g: ss = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g ok [5]: the indices 'n' are computed when the model runs, and always in [0, 2]\nh ok [5]\ni ok [3]"},
    {ONNX,
     "in x int8[5]; v, s = Loop(6, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out p; out ss; "
     "g: ss = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g unknown [5]: the indices come from 'n', an input of main/Loop_0/body\nh ok [5]\ni ok [6]"},
    {ONNX,
     "in x int8[5]; v, s = Loop(3, bool 1, x) body={ in n int64[1]; in k bool[1]; in p int8*; out kk; out pp; out n; "
     "const kk bool[] = 1; pp = Concat(p, p) axis=0 }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "h unknown [?]: the length of the data 'v' along axis 0 is not known\ni ok [3,1]"},
    {ONNX,
     "in x int8[5]; l: v, s = Loop(3, bool 1, x) body={ in n int64[]; in k bool[]; in p int8*; out kk; out pp; "
     "out n; const kk bool[] = 1; pp = Unsqueeze/11(p) axes=[0] }; h: _ = Gather(v, 0)",
     "h unknown none" NO_SHAPE("v")},
    {ONNX,
     "const m int64[] = 0; in x int8[5]; l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; in p int8*; "
     "out k; out pp; out n; g: pp = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g unknown [5]: not executed: the trip count 'm' is 0 in Loop 'l'\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "const m int64[] = -1; in x int8[5]; l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; in p int8*; "
     "out k; out pp; out n; g: pp = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g unknown [5]: not executed: the trip count 'm' is -1 in Loop 'l'\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in m int64[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; "
     "in p int8*; out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [?]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in m int64[]; in t bool[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(m, t, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [?]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in t bool[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(_, t, x) body={ in n int64[]; in k bool[]; "
     "in p int8*; out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [?]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "const t bool[] = 0; in x int8[5]; const z int64[] = 9; l: v, s = Loop(_, t, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
     "g unknown [5]: not executed: the condition 't' is false in Loop 'l'\n"
     "h bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in m int64[]; const t bool[] = 0; in x int8[5]; const z int64[] = 9; "
     "l: v, s = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out pp; out n; "
     "g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown [5]: not executed: the condition 't' is false in Loop 'l'\n"
     "h bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in t bool[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(4, t, x) body={ in n int64[]; in k bool[]; "
     "in p int8*; out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [0..4]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in x int8[5]; const z int64[] = 9; l: v, s = Loop(_, _, x) body={ in n int64[]; in k bool[]; in p int8*; "
     "out k; out p; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "h bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "i unknown [1..]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in x int8[5]; const z int64[] = 1; l: v, s = Loop(1, _, x) body={ in n int64[]; in k bool[]; in p int8*; "
     "out k; out pp; out n; pp = Concat(p, p) axis=0; g: _ = Gather(p, z) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
     "g ok [5]\n"
     "h ok [10]\n"
     "i bad [1]: indices = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may "
     "count from 1"},
    {ONNX,
     "l: v, s = Loop(2, _, [1,2]) body={ in n int64[]; in k bool[]; in p int64*; out k; out pp; out p; "
     "pp = Add(p, p) }; h: _ = Gather(v, 1); i: _ = Gather(s, 1)",
     "h ok [2]\ni ok [2,2]"},
    {ONNX, "l: v, s = Loop(2, _, [1,2]); h: _ = Gather(v, 1)", "h unknown none" NO_SHAPE("v")},
    {ONNX, "in x int8[5]; l: v = Loop(_, _, x) body={ in n int64[]; in k bool[] }; h: _ = Gather(v, 9)",
     "h unknown none" NO_SHAPE("v")},
    {ONNX,
     "in x int8[5]; const z int64[] = 0; l: v = com.example.Repeat(x) body={ in n int64[]; out o; "
     "g: o = Gather(n, z); h: _ = Gather(x, z) }; i: _ = Gather(v, z)",
     "g unknown []: the shape of the data 'n' is not known\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 'v' is not known"},
    /* Scan */
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; v, s = Scan(a, x) num_scan_inputs=1 body={ in p; in q; "
     "out p; out q; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g ok [5]\nh ok [4]\ni ok [4]\nj ok [7,5]"},
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; "
     "v, s = Scan(a, x) num_scan_inputs=1 scan_input_axes=[1] scan_output_axes=[-1] body={ in p; in q; out pp; "
     "out q; pp = Concat(p, p) axis=0; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); "
     "j: _ = Gather(s, z)",
     "g ok [7]\n"
     "h unknown [?]: the length of the data 'p' along axis 0 is not known\n"
     "i unknown [?]: the length of the data 'v' along axis 0 is not known\n"
     "j ok [7,5]"},
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; "
     "v, s = Scan(a, x) num_scan_inputs=1 scan_input_axes='1' scan_output_axes='0' body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'q' is not known\n"
     "h ok [4]\n"
     "i ok [4]\n"
     "j unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; "
     "v, s = Scan(a, x) num_scan_inputs=1 scan_input_axes=[2] scan_output_axes=[3] body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'q' is not known\n"
     "h ok [4]\n"
     "i ok [4]\n"
     "j unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in a int8[4]; in x int8[0,5]; const z int64[] = 9; v, s = Scan(a, x) num_scan_inputs=1 body={ in p; in q; "
     "out p; out q; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown [5]: not executed: the input 'x' has the length 0 in Scan\n"
     "h unknown [4]: not executed: the input 'x' has the length 0 in Scan\n"
     "i bad [4]: indices = 9 is outside [-4, 3] of axis 0*; the largest index is 9 and the axis has length 4: the "
     "indices may belong to a longer axis\n"
     "j unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in a int8[4]; in x int8[N,5]; const z int64[] = 9; v, s = Scan(a, x) num_scan_inputs=1 body={ in p; in q; "
     "out p; out q; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown [5]: the length of the input 'x' of Scan decides whether the node is executed, and is not known; if it "
     "is: indices = 9 is outside [-5, 4] of axis 0*\n"
     "h unknown [4]: the length of the input 'x' of Scan decides whether the node is executed, and is not known; if it "
     "is: indices = 9 is outside [-4, 3] of axis 0*\n"
     "i bad [4]: indices = 9 is outside [-4, 3] of axis 0*; the largest index is 9 and the axis has length 4: the "
     "indices may belong to a longer axis\n"
     "j unknown [N,5]: the data 's' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX,
     "in a int8[N,4]; in x int8[7,5]; const z int64[] = 4; v, s = Scan(a, x) num_scan_inputs=2 body={ in p; in q; "
     "out p; out q; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z) axis=1; j: _ = Gather(s, z)",
     "g ok [5]\n"
     "h bad [4]: indices = 4 is outside [-4, 3] of axis 0*; the index equals the length of the axis: the indices may "
     "count from 1\n"
     "i bad [7,4]: indices = 4 is outside [-4, 3] of axis 1*; the index equals the length of the axis: the indices may "
     "count from 1\n"
     "j ok [7,5]"},
    {ONNX,
     "in x int8[7,5]; const z int64[] = 4; v, s = Scan(x) num_scan_inputs=2 body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z)",
     "g unknown none: the shape of the data 'q' is not known\n"
     "h unknown none: the shape of the data 'p' is not known\n"
     "i unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8[7,5]; const z int64[] = 4; v = Scan/8(_, x) num_scan_inputs=1 body={ in p; out p; "
     "h: _ = Gather(p, z) }; i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\ni unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8*; const z int64[] = 4; v = Scan(x) num_scan_inputs=1 body={ in p; out p; h: _ = Gather(p, z) }; "
     "i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\ni unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8[3]; const z int64[] = 4; v = Scan(x) num_scan_inputs='1' body={ in p; out p; h: _ = Gather(p, z) }; "
     "i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\ni unknown none: the shape of the data 'v' is not known"},
    /* functions */
    {ONNX,
     "in x int8[5]; const z int64[] = 6; f: y = local.F(x, z); g: _ = Gather(y, z); fun local.F { in a; in b; "
     "out c; h: c = Gather(a, b); c2 = Identity(c) }",
     "h bad [5]: indices = 6 is outside [-5, 4] of axis 0*; the largest index is 6 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX,
     "in x int8[5,2]; f: y = local.F(x, 3); fun local.F { in a; in b; out c; default axis=1; "
     "h: c = Gather(a, b) axis=@axis }",
     "h bad [5,2]: indices = 3 is outside [-2, 1] of axis 1*; the largest index is 3 and the axis has length 2: the "
     "indices may belong to a longer axis"},
    {ONNX,
     "in x int8[5,2]; f: y = local.F(x, 3) axis=0; fun local.F { in a; in b; out c; default axis=1; "
     "h: c = Gather(a, b) axis=@axis }",
     "h ok [5,2]"},
    {ONNX, "in x int8[5,2]; g: y = Gather(x, 3); fun local.F { in a; in b; out c; h: c = Gather(a, b) axis=@axis }",
     "g ok [5,2]\nh unknown none: not executed: no call leads to this function"},
    {ONNX,
     "in x int8[5,2]; f: y = local.F(x, 3); fun local.F { in a; in b; out c; h: c = Gather(a, b) }; fun local.F { "
     "in a; out c; i: c = Gather(a, a) }",
     "h unknown none: two functions of the model have this name\n"
     "i unknown none: two functions of the model have this name"},
    {ONNX,
     "in x int8[5,2]; f: y = local.F(x, 3); fun local.F { in a; in b; out c; h: c = Gather(a, b) }; fun other.F { "
     "in a; out c; i: c = Gather(a, a) }",
     "h ok [5,2]\ni unknown none: not executed: no call leads to this function"},
    {ONNX,
     "in x int8[5,2]; f: y, w = local.F(x); fun local.F { in a; in b; out c; h: c = Gather(a, b) }; "
     "g: _ = Gather(w, 3)",
     "h unknown [5,2]: the indices come from 'b', an input of main/f/function:F\n"
     "g unknown none: the shape of the data 'w' is not known"},
    {ONNX,
     "in x int8[5,2]; in i int64[1]; f: y = local.F(x, i); fun local.F { in a; in b; out c; h: c = Gather(a, b) }",
     "h unknown [5,2]: the indices 'b' come from the input 'i', which was not given"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 4; l: v = Loop(2, _, x) body={ in n int64[]; in k bool[]; in p; out k; "
     "out q; f: q = local.F(p, z) }; fun local.F { in a; in b; out c; h: _ = Gather(a, b); c = Identity(a) }",
     "h ok [5,2]"},
    /* values: lengths and numbers that come through Shape, Size, Cast, Range */
    {ONNX, "in x int8[2,N,?]; y = Shape(x); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "in x int8[2,N,?]; y = Shape/15(x) start=-2 end=2; g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "in x int8[]; y = Shape(x); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "in x int8[2,3]; y = Size(x); g: _ = Gather(y, 0)",
     "g bad [] = 6: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "in x int8[2,N]; y = Size(x); g: _ = Gather(y, 0)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "y = Cast(boolean[1,0]) to=7; g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = Cast(boolean[1,0]) to=9; g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = Cast([1,0]) to=9; g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = Cast([1,2]) to=9; g: _ = Gather(y, 0)", "g ok [2] = 1,1"},
    {ONNX, "y = Cast(uint32[1,4294967295]) to=6; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Cast(uint32[1,7]) to=6; g: _ = Gather(y, 0)", "g ok [2] = 1,7"},
    {ONNX, "y = Cast(uint32[4294967295]) to=7; g: _ = Gather(y, 0)", "g ok [1] = 4294967295"},
    {ONNX, "y = Cast(int8[-1,2]) to=12; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Cast(uint64[1,18446744073709551615]) to=7; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Cast([1]) to=?; g: _ = Gather(y, 0)", "g ok [1]"},
    {IR, "y = Convert([1]); g: _ = Gather(y, 0, 0)", "g ok [1]"},
    {IR, "y = Convert([1]) destination_type='i32'; g: _ = Gather(y, 0, 0)", "g ok [1] = 1"},
    {ONNX, "y = Range(1, 9, 3); g: _ = Gather(y, 0)", "g ok [3] = 1,4,7"},
    {ONNX, "y = Range(9, 1, -3); g: _ = Gather(y, 0)", "g ok [3] = 9,6,3"},
    {ONNX, "y = Range(9, 1, 3); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "y = Range(1, 9, 0); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = Range(-9223372036854775808, 9, 1); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = Range(-9223372036854775807, 9223372036854775807, 1); g: _ = Gather(y, 0)",
     "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = Range(0, -9223372036854775808, -1); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = Range(9, 1, -9223372036854775808); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = Range(int8 120, int8 127, int8 5); g: _ = Gather(y, 0)", "g ok [2] = 120,125"},
    {ONNX, "y = Range(float32 0, float32 3, float32 1); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = Range([0,1], 3, 1); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX,
     "in x int8[N]; s = Shape(x); n = Squeeze(s); y = Range(0, n, 1); g: _ = Gather(y, 0); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "in x int8[N]; s = Shape(x); n = Squeeze(s); y = Range(1, n, 1); g: _ = Gather(y, 0); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "in x int8[N]; s = Shape(x); n = Squeeze(s); y = Range(0, n, 2); g: _ = Gather(y, 0); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "in x int8[N]; s = Shape(x); n = Squeeze(s); y = Range(-1, n, 1); g: _ = Gather(y, 0); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "in x int8[0..5]; s = Shape(x); n = Squeeze(s); y = Range(0, n, 1); g: _ = Gather(y, 0); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "g unknown [0..5]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]"},
    {ONNX,
     "const z int64[] = 0; in x int8[0..5]; s = Shape(x); n = Squeeze(s); y = Range(n, 0, -1); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "const z int64[] = 0; in x int8[1..5]; s = Shape(x); n = Squeeze(s); y = Range(0, n, n); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "h ok [5]" ALWAYS("y", "0, 4")},
    {ONNX,
     "const z int64[] = 0; in a int64[]; in b int64[]; in c int64[]; y = Range(a, b, c); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {IR, "y = Range(int32 1, int32 4, int32 1) output_type='i64'; g: _ = Gather(y, 0, 0)", "g ok [3] = 1,2,3"},
    /* values: arithmetic that fits its type, and that does not */
    {ONNX, "y = Add([1,2], [3,4]); g: _ = Gather(y, 0)", "g ok [2] = 4,6"},
    {ONNX, "y = Add(int8[100,2], int8[100,4]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Sub([9223372036854775807,1], [-1,1]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Sub([1], [-9223372036854775808]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = Mul([3037000500,1], [3037000500,2]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Div([7,-7], [2,2]); g: _ = Gather(y, 0)", "g ok [2] = 3,-3"},
    {ONNX, "y = Div([7,1], [0,1]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Div([-9223372036854775808], [-1]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = Mod([-7,7], [3,-3]); g: _ = Gather(y, 0)", "g ok [2] = 2,-2"},
    {ONNX, "y = Mod([7], [0]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = Max([1,5], [3,4]); g: _ = Gather(y, 0)", "g ok [2] = 3,5"},
    {ONNX, "y = Min([1,5], [3,4]); g: _ = Gather(y, 0)", "g ok [2] = 1,4"},
    {ONNX, "y = Equal([1,5], [1,4]); g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = Less([1,5], [3,4]); g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = GreaterOrEqual([1,5], [1,9]); g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = Add(uint8[250], uint8[10]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = Sub(uint8[1], uint8[2]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = Mod([-7], [3]) fmod=1; g: _ = Gather(y, 0)", "g ok [1] = -1"},
    {ONNX, "y = Mod([-7], [3]) fmod='x'; g: _ = Gather(y, 0)", "g ok [1]"},
    {IR, "y = Divide([7,-7,6,-6], [2]); g: _ = Gather(y, 0, 0)", "g ok [4]"},
    {IR, "y = Divide([8,-8,6,-6], [2]); g: _ = Gather(y, 0, 0)", "g ok [4] = 4,-4,3,-3"},
    {IR, "y = FloorMod([7,-7,7,-7], [3,3,-3,-3]); g: _ = Gather(y, 0, 0)", "g ok [4] = 1,2,-2,-1"},
    {ONNX, "y = Add/6([1,2], [2]); g: _ = Gather(y, 0)", "g ok [2] = 3,4"},
    {ONNX, "y = Add/6([1,2], [2,5]); g: _ = Gather(y, 0)", "g ok [2] = 3,7"},
    {ONNX, "y = Add([1,2], [2,5,6]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "const b int8[1] = 27; c = Add(int8[100], b); y = Sub(c, b); g: _ = Gather(y, 0)", "g ok [1] = 100"},
    {ONNX, "y = Neg([1,2]); g: _ = Gather(y, 0)", "g ok [2] = -1,-2"},
    {ONNX, "y = Neg([-9223372036854775808]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = Not(boolean[1,0]); g: _ = Gather(y, 0)", "g ok [2] = 0,1"},
    {ONNX, "y = And(boolean[1,0], boolean[1,1]); g: _ = Gather(y, 0)", "g ok [2] = 1,0"},
    {ONNX, "y = Where(boolean[1,0], [1,2], [5,6]); g: _ = Gather(y, 0)", "g ok [2] = 1,6"},
    {ONNX, "const a int64[1] = 1; y = Max(a, a, a, a, a, a, a, a, a); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "const a int64[1] = 1; y = Max(a, a, a, [2], a, a, a, a); g: _ = Gather(y, 0)", "g ok [1] = 2"},
    {ONNX, "const a int64[1] = 1; y = Max(); g: _ = Gather(y, 0)", "g unknown none" NO_SHAPE("y")},
    {ONNX, "y = Clip([-5,5,50], 0, 9); g: _ = Gather(y, 0)", "g ok [3] = 0,5,9"},
    {ONNX, "const lo int64[] = 0; y = Clip([-5,5,50], _, 9); g: _ = Gather(y, 0)", "g ok [3] = -5,5,9"},
    {ONNX, "const hi int64[] = 9; y = Clip([-5,5,50], 0); g: _ = Gather(y, 0)", "g ok [3] = 0,5,50"},
    {ONNX, "y = Clip([-5,5,50], int32 0); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "y = Clip([-5,5,50], [0]); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "in lo int64[]; y = Clip([-5,5,50], lo); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "y = Clip/6([-5,5,50]) min=0; g: _ = Gather(y, 0)", "g ok [3]"},
    {IR, "y = Clamp([-5,5,50]) min='0' max='9'; g: _ = Gather(y, 0, 0)", "g ok [3] = 0,5,9"},
    {IR, "y = Clamp([-5,5,50]) min='0.5' max='9'; g: _ = Gather(y, 0, 0)", "g ok [3]"},
    {IR, "y = Clamp([-5,5,50]) min='0' max='9.5'; g: _ = Gather(y, 0, 0)", "g ok [3]"},
    {ONNX, "y = ReduceSum([2,5,7]); g: _ = Gather(y, 0)", "g ok [1] = 14"},
    {ONNX, "y = ReduceMax([2,5,7]); g: _ = Gather(y, 0)", "g ok [1] = 7"},
    {ONNX, "y = ReduceMin([2,5,7]); g: _ = Gather(y, 0)", "g ok [1] = 2"},
    {ONNX, "y = ReduceProd([2,5,7]); g: _ = Gather(y, 0)", "g ok [1] = 70"},
    {ONNX, "const a int64[3] = 2,5,7; y = ReduceMax(a) keepdims=0; g: _ = Gather(y, 0)",
     "g bad [] = 7: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "y = ReduceSum(int8[100,100]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = ReduceMax([]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = ReduceSum([9223372036854775807,1]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "const a int64[2,1] = 2,5; y = ReduceMax(a); g: _ = Gather(y, 0)", "g ok [1,1]"},
    {ONNX, "y = ReduceMax(boolean[1,0]); g: _ = Gather(y, 0)", "g ok [1]"},
    /* values: elements that are moved */
    {ONNX, "const a int64[2,3] = 1,2,3,4,5,6; y = Transpose(a); g: _ = Gather(y, 0)", "g ok [3,2] = 1,4,2,5,3,6"},
    {ONNX, "const a int64[2,3] = 1,2,3,4,5,6; t = Transpose(a); y = Reshape(t, [6]); g: _ = Gather(y, 0)",
     "g ok [6] = 1,4,2,5,3,6"},
    {ONNX, "const a int64[2,3] = 1,2,3,4,5,6; t = Transpose(a); y = Reshape(t, [3,1,2]); g: _ = Gather(y, 0)",
     "g ok [3,1,2] = 1,4,2,5,3,6"},
    {ONNX, "const a int64[2,3] = 1,2,3,4,5,6; y = Reshape(a, [6]); g: _ = Gather(y, 0)", "g ok [6] = 1,2,3,4,5,6"},
    {ONNX, "const a float32[2,1] = 1,2; t = Transpose(a); y = Reshape(t, [2]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "const a int64[2,1] = 1,2; y = Expand(a, [2,3]); g: _ = Gather(y, 0)", "g ok [2,3] = 1,1,1,2,2,2"},
    {ONNX, "const a int64[2,1] = 1,2; y = Expand(a, [3,3]); g: _ = Gather(y, 0)", "g ok [2,3] = 1,1,1,2,2,2"},
    {ONNX, "const a float32[2,1] = 1,2; y = Expand(a, [2,3]); g: _ = Gather(y, 0)", "g ok [2,3]"},
    {IR, "y = Broadcast([1,2], [2,3], [0]) mode='explicit'; g: _ = Gather(y, 0, 0)", "g ok [2,3] = 1,1,1,2,2,2"},
    {IR, "y = Broadcast([1,2], [2,2], [1]) mode='explicit'; g: _ = Gather(y, 0, 0)", "g ok [2,2] = 1,2,1,2"},
    {IR, "y = Broadcast([1,2], [2,2], [2]) mode='explicit'; g: _ = Gather(y, 0, 0)", "g ok [2,2]"},
    {IR, "y = Broadcast([1,2], [2,2], [-1]) mode='explicit'; g: _ = Gather(y, 0, 0)", "g ok [2,2]"},
    {IR, "const a int64[2,2] = 1,2,3,4; y = Broadcast(a, [2,2,2], [1,0]) mode='explicit'; g: _ = Gather(y, 0, 0)",
     "g ok [2,2,2]"},
    {IR, "const a int64[2,2] = 1,2,3,4; y = Broadcast(a, [2,3,2], [0,2]) mode='explicit'; g: _ = Gather(y, 0, 0)",
     "g ok [2,3,2] = 1,2,1,2,1,2,3,4,3,4,3,4"},
    {IR, "in x int64[1]; y = Broadcast([1,2], [2,3], x) mode='explicit'; g: _ = Gather(y, 0, 0)", "g ok [2,3]"},
    {IR, "y = Broadcast([1,2], [3,2]) mode='numpy'; g: _ = Gather(y, 0, 0)", "g ok [3,2] = 1,2,1,2,1,2"},
    {IR, "y = Broadcast([1,2], [3,2]) mode='other'; g: _ = Gather(y, 0, 0)", "g unknown none" NO_SHAPE("y")},
    {ONNX, "y = Concat([1,2], [3], []) axis=0; g: _ = Gather(y, 0)", "g ok [3] = 1,2,3"},
    {ONNX, "const b int64[1,1] = 3; y = Concat([1,2], b) axis=0; g: _ = Gather(y, 0)", "g unknown none" NO_SHAPE("y")},
    {ONNX, "const a int64[1,2] = 1,2; const b int64[1,1] = 3; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g ok [2,2]"},
    {ONNX, "in b int64[1]; y = Concat([1,2], b) axis=0; g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "in x int8[N]; s = Shape(x); y = Concat(s, [3]) axis=0; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = Tile([1,2], [3]); g: _ = Gather(y, 0)", "g ok [6] = 1,2,1,2,1,2"},
    {ONNX, "const a int64[2,1] = 1,2; y = Tile(a, [2,3]); g: _ = Gather(y, 0)", "g ok [4,3] = 1,1,1,2,2,2,1,1,1,2,2,2"},
    {ONNX, "const a int64[2,2] = 1,2,3,4; y = Tile(a, [1,2]); g: _ = Gather(y, 0)", "g ok [2,4] = 1,2,1,2,3,4,3,4"},
    {ONNX, "y = Tile([], [3]); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "y = Tile([1,2], [0]); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "y = Tile(float32[1,2], [2]); g: _ = Gather(y, 0)", "g ok [4]"},
    {IR, "y = Tile([1,2], [2,2]); g: _ = Gather(y, 0, 0)", "g ok [2,4] = 1,2,1,2,1,2,1,2"},
    {ONNX,
     "in x int8[2,N]; in q int8[M]; r = Shape(q); rr = Concat([1], r) axis=0; y = Tile(x, rr); g: _ = Gather(y, 0)",
     "g ok [2,?]"},
    {ONNX,
     "in x int8[1,3]; in q int8[M]; r = Shape(q); rr = Concat(r, [2]) axis=0; y = Tile(x, rr); g: _ = Gather(y, 0)",
     "g unknown [M,6]: the data 'y' has the length 'M' along axis 0, a dimension that was not given"},
    {ONNX, "y = Gather([1,2,3], [2,-1]); g: _ = Gather(y, 0)", " ok [3] = 1,2,3\ng ok [2] = 3,3"},
    {ONNX, "y = Gather([1,2,3], [2,3]); g: _ = Gather(y, 0)",
     " bad [3] = 1,2,3: indices[1] = 3 is outside [-3, 2] of axis 0 (Gather onnx-13); 1 of 2 indices is bad; the "
     "largest index equals the length of the axis: the indices may count from 1\n"
     "g ok [2]"},
    {IR, "y = Gather([1,2,3], [2,-1], 0); g: _ = Gather(y, 0, 0)", " ok [3] = 1,2,3\ng ok [2] = 3,3"},
    {IR, "y = Gather([1,2,3], [2,5], 0); g: _ = Gather(y, 0, 0)",
     " ok [3] = 1,2,3: 1 of 2 indices is out of range: zeros under the rules openvino-8\ng ok [2] = 3,0"},
    {IR, "in x int64[]; y = Gather([1,2,3], [2,-1], x); g: _ = Gather(y, 0, 0)",
     " unknown [3] = 1,2,3: the axis is not known before the model runs\n"
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {IR, "y = Gather([1,2,3], [2,-1], float32 0); g: _ = Gather(y, 0, 0)", "*"},
    {IR, "y = Gather([1,2,3], [2,-1]); g: _ = Gather(y, 0, 0)", "*"},
    {ONNX, "y = Gather(boolean[1,0,1], [2,1]); g: _ = Gather(y, 0)", " ok [3] = 1,0,1\ng ok [2] = 1,0"},
    {ONNX, "y = Gather(uint64[18446744073709551615,4], [0]); g: _ = Gather(y, 0)",
     " ok [2] = 18446744073709551615,4\ng ok [1] = 18446744073709551615"},
    {ONNX, "in x int8[N,5]; s = Shape(x); y = Gather(s, [0]); g: _ = Gather(y, 0)", " ok [2]\ng ok [1]"},
    {ONNX, "in x int8[N,5]; s = Shape(x); y = Gather(s, [2]); g: _ = Gather(y, 0)",
     " bad [2]: indices[0] = 2 is outside [-2, 1] of axis 0*; the index equals the length of the axis: the indices may "
     "count from 1\n"
     "g ok [1]"},
    {ONNX, "in x int8[N,5]; s = Shape(x); in i int64[1]; y = Gather(s, i); g: _ = Gather(y, 0)",
     " unknown [2]: the indices come from the input 'i', which was not given\ng ok [1]"},
    {ONNX, "y = ConstantOfShape([2,3]) value=int64[1]:7; g: _ = Gather(y, 0)", "g ok [2,3] = 7,7,7,7,7,7"},
    {ONNX, "y = ConstantOfShape([2]) value=boolean[1]:1; g: _ = Gather(y, 0)", "g ok [2] = 1,1"},
    {ONNX, "y = ConstantOfShape([2]) value=float32[1]:7; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = ConstantOfShape([2]) value=int64[2]:7,8; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = ConstantOfShape([2]) value=int64[]:7; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = ConstantOfShape([2]) value=int64[1] gone; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = ConstantOfShape([2]) value=3; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "y = ConstantOfShape(uint64[18446744073709551615]); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "y = ConstantOfShape(float32[2]); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "in s int64*; y = ConstantOfShape(s) value=int64[1]:7; g: _ = Gather(y, 0)", "g unknown none" NO_SHAPE("y")},
    {ONNX, "const z int64[] = 0; in x int8*; y = Tile/5(x, z); g: _ = Gather(y, z)", "g unknown none" NO_SHAPE("y")},
    {ONNX, "in x int8[2]; in r int64*; y = Tile(x, r); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "f: y = local.F() v=int64[2]:3,4; g: _ = Gather(y, 0); fun local.F { out c; c = Constant() value=@v }",
     "g ok [2] = 3,4"},
    {ONNX, "f: y = local.F() v=int64[2] gone; g: _ = Gather(y, 0); fun local.F { out c; c = Constant() value=@v }",
     "g ok [2]"},
    {ONNX, "f: y = local.F(); g: _ = Gather(y, 0); fun local.F { out c; c = Constant() value=@v }",
     "g unknown none" NO_SHAPE("y")},
    {ONNX, "f: y = local.F() v=[3,4]; g: _ = Gather(y, 0); fun local.F { out c; c = Constant() value_ints=@v }",
     "g ok [2] = 3,4"},
    {ONNX, "f: y = local.F() v='abc'; g: _ = Gather(y, 0); fun local.F { out c; c = Constant() value_string=@v }",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    /* values: places by the order of elements */
    {ONNX, "const a int64[2,3] = 5,9,9,7,1,3; y = ArgMax(a) axis=1; g: _ = Gather(y, 0)", "g ok [2,1] = 1,0"},
    {ONNX, "const a int64[2,3] = 5,9,9,7,1,3; y = ArgMin(a) axis=0 keepdims=0; g: _ = Gather(y, 0)",
     "g ok [3] = 0,1,1"},
    {ONNX, "const a int64[2,3] = 5,9,9,7,1,3; y = ArgMax(a) axis=1 select_last_index=1; g: _ = Gather(y, 0)",
     "g ok [2,1]"},
    {ONNX, "const a int64[2,3] = 5,9,9,7,1,3; y = ArgMax(a) axis=1 select_last_index='x'; g: _ = Gather(y, 0)",
     "g ok [2,1]"},
    {ONNX, "y = ArgMax(float32[-1,0.5,-7]); g: _ = Gather(y, 0)", "g ok [1] = 1"},
    {ONNX, "y = ArgMin(float32[-1,0.5,-7]); g: _ = Gather(y, 0)", "g ok [1] = 2"},
    {ONNX, "y = ArgMin(float64[-1,0.5,-7]); g: _ = Gather(y, 0)", "g ok [1] = 2"},
    {ONNX, "const a float64[3] swapped = -1,0.5,-7; y = ArgMin(a); g: _ = Gather(y, 0)", "g ok [1] = 2"},
    {ONNX, "const a float16[3] = 0xbc00,0x3800,0xc700; y = ArgMin(a); g: _ = Gather(y, 0)", "g ok [1] = 2"},
    {ONNX, "const a bfloat16[3] = 0xbf80,0x3f00,0xc0e0; y = ArgMax(a); g: _ = Gather(y, 0)", "g ok [1] = 1"},
    {ONNX, "const a float16[2] = 0x3c00,0x7e00; y = ArgMax(a); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "const a float32[2] = 1,nan; y = ArgMax(a); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "const a float32[2] = 1,inf; y = ArgMax(a); g: _ = Gather(y, 0)", "g ok [1] = 1"},
    {ONNX, "y = ArgMax(uint64[1,18446744073709551615]); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "y = ArgMax(uint64[1,7]); g: _ = Gather(y, 0)", "g ok [1] = 1"},
    {ONNX, "y = ArgMax(boolean[0,1]); g: _ = Gather(y, 0)", "g ok [1] = 1"},
    {ONNX, "const a int8[2,0] =; y = ArgMax(a) axis=1; g: _ = Gather(y, 0)", "g ok [2,1]"},
    {ONNX, "const a int8[0,2] =; y = ArgMax(a) axis=1; g: _ = Gather(y, 0)",
     "g bad [0,1]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "in a int8[2]; y = ArgMax(a); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "in a int8[N]; y = ArgMax(a); g: _ = Gather(y, 0)", "g ok [1]"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [2]); g: _ = Gather(y, 0)", "g ok [2] = 1,3"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [2]) largest=0; g: _ = Gather(y, 0)", "g ok [2] = 0,2"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [2]) sorted=0; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [2]) largest='x'; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [2]) sorted='x'; g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [5]); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "const a int64[2,2] = 5,9,7,1; v, y = TopK/11(a, [1]) axis=0; g: _ = Gather(y, 0)", "g ok [1,2] = 1,0"},
    {ONNX, "const a int64[2,2] = 5,9,7,1; v, y = TopK/11(a, [1]) axis=2; g: _ = Gather(y, 0)",
     "g unknown none" NO_SHAPE("y")},
    {ONNX, "in a int64[4]; v, y = TopK/11(a, [2]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "v, y = TopK/11([5,9,7,9], [0]); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const a int64[4] = 5,9,7,9; in k int64[1]; v, y = TopK/11(a, k); g: _ = Gather(y, 0); h: _ = Gather(a, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [4] = 5,9,7,9: the indices 'y' are computed when the model runs, and always in [0, 3]"},
    {ONNX, "const a int64[2,2] = 0,1,2,0; y = NonZero(a); g: _ = Gather(y, 0)", "g ok [2,2] = 0,1,1,0"},
    {ONNX, "y = NonZero(float32[0,-0.0,2]); g: _ = Gather(y, 0)", "g ok [1,1] = 2"},
    {ONNX, "y = NonZero([0,0]); g: _ = Gather(y, 0)", "g ok [1,0]"},
    {ONNX, "y = NonZero(3); g: _ = Gather(y, 0)", "g unknown [?,?]" NO_LENGTH("y")},
    {ONNX, "in a int64[2,3]; y = NonZero(a); g: _ = Gather(y, 0)", "g ok [2,?]"},
    {ONNX, "const a float32[1] = nan; y = NonZero(a); g: _ = Gather(y, 0)", "g ok [1,?]"},
    /* slices: masks of StridedSlice, lists of Slice and Split */
    {IR, "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]); g: _ = Gather(y, 0, 0)",
     "g ok [1,3] = 4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) begin_mask='1,0' end_mask='0,1'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [2,3] = 1,2,3,4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) begin_mask='0,1' end_mask='1,0'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [1,3] = 4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) shrink_axis_mask='1,0'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [3] = 4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) shrink_axis_mask='0,1'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [1] = 4"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) new_axis_mask='1,0'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [1,2,3] = 1,2,3,4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) new_axis_mask='0,1'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [1,1,3] = 4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) ellipsis_mask='1,0'; "
     "g: _ = Gather(y, 0, 0)",
     "g ok [2,3] = 1,2,3,4,5,6"},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, [1,0], [2,9], [1,1]) ellipsis_mask='1,1'; "
     "g: _ = Gather(y, 0, 0)",
     "g unknown none" NO_SHAPE("y")},
    {IR,
     "const a int64[2,3] = 1,2,3,4,5,6; "
     "y = StridedSlice(a, [1,0], [2,9], [1,1]) ellipsis_mask='1,0' new_axis_mask='0,1'; g: _ = Gather(y, 0, 0)",
     "g ok [2,3,1] = 1,2,3,4,5,6"},
    {IR, "const a int64[3] = 4,5,6; y = StridedSlice(a, [1], [2]) shrink_axis_mask='1'; g: _ = Gather(y, 0, 0)",
     "g bad [] = 5: data is 0-D; Gather needs a rank of at least 1"},
    {IR, "const a int64[3] = 4,5,6; y = StridedSlice(a, [-1], [0]) shrink_axis_mask='1'; g: _ = Gather(y, 0, 0)",
     "g bad [] = 6: data is 0-D; Gather needs a rank of at least 1"},
    {IR, "const a int64[3] = 4,5,6; y = StridedSlice(a, [3], [4]) shrink_axis_mask='1'; g: _ = Gather(y, 0, 0)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const a int64[3] = 4,5,6; y = StridedSlice(a, [1], [2]) shrink_axis_mask='1' begin_mask='1'; "
     "g: _ = Gather(y, 0, 0)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR, "in x int8[4,N,6]; q = ShapeOf(x); y = StridedSlice(q, [1], [2]) shrink_axis_mask='1'; g: _ = Gather(y, 0, 0)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "in x int8[4,N,6]; q = ShapeOf(x); y = StridedSlice(q, [-1], [2]) shrink_axis_mask='1'; g: _ = Gather(y, 0, 0)",
     "g bad [] = 6: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "in x int8[4,N,6]; q = ShapeOf(x); y = StridedSlice(q, [-9], [2]) shrink_axis_mask='1'; g: _ = Gather(y, 0, 0)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "in x int8[4,N,6]; q = ShapeOf(x); y = StridedSlice(q, [0], [2], [2]) shrink_axis_mask='1'; "
     "g: _ = Gather(y, 0, 0)",
     "g bad [] = 4: data is 0-D; Gather needs a rank of at least 1"},
    {IR, "in x int8[4,N,6]; q = ShapeOf(x); y = StridedSlice(q, [0], [2]); g: _ = Gather(y, 0, 0)", "g ok [2]"},
    {ONNX, "in x int8[4,N,6]; q = Shape(x); y = Slice(q, [1], [3]); g: _ = Gather(y, 0)", "g ok [2]"},
    {ONNX, "in x int8[4,N,6]; q = Shape(x); y = Slice(q, [-1], [-9], [0], [-1]); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "y = Slice([1,2,3,4], [3], [-9], [0], [-2]); g: _ = Gather(y, 0)", "g ok [2] = 4,2"},
    {ONNX, "y, w = Split([1,2,3,4]); g: _ = Gather(y, 0); h: _ = Gather(w, 0)", "g ok [2] = 1,2\nh ok [2] = 3,4"},
    {ONNX, "y, w = Split([1,2,3,4], [1,3]); g: _ = Gather(y, 0); h: _ = Gather(w, 0)",
     "g ok [1] = 1\nh ok [3] = 2,3,4"},
    {ONNX, "in a int64[N]; y, w = Split(a, [1,3]); g: _ = Gather(y, 0); h: _ = Gather(w, 0)", "g ok [1]\nh ok [3]"},
    {ONNX, "y, w = Split([1,2,3,4], [-1,5]); g: _ = Gather(y, 0); h: _ = Gather(w, 0)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\nh ok [5]"},
    {IR,
     "const z int64[] = 0; y, w = VariadicSplit([1,2,3,4], z, [-1,1]); g: _ = Gather(y, z, z); "
     "h: _ = Gather(w, z, z)",
     "g ok [3] = 1,2,3\nh ok [1] = 4"},
    {IR,
     "const z int64[] = 0; y, w = VariadicSplit([1,2,3,4], z, [-1,-1]); g: _ = Gather(y, z, z); "
     "h: _ = Gather(w, z, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [?]: the length of the data 'w' along axis 0 is not known"},
    {IR,
     "const z int64[] = 0; y, w = VariadicSplit([1,2,3,4], z, [-1,5]); g: _ = Gather(y, z, z); "
     "h: _ = Gather(w, z, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\nh ok [5]"},
    {IR,
     "const z int64[] = 0; in a int64[?]; y, w = VariadicSplit(a, z, [-1,1]); g: _ = Gather(y, z, z); "
     "h: _ = Gather(w, z, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\nh ok [1]"},
    /* lengths that are stretched or added */
    {ONNX, "in a int8[1..5]; in b int8[3]; y = Add(a, b); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "in a int8[3]; in b int8[1..5]; y = Add(a, b); g: _ = Gather(y, 0)", "g ok [3]"},
    {ONNX, "in a int8[1..5]; in b int8[1..5]; y = Add(a, b); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "in a int8[0]; in b int8[?]; y = Add(a, b); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "in a int8[?]; in b int8[0]; y = Add(a, b); g: _ = Gather(y, 0)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "in a int8[N]; in b int8[N]; y = Add(a, b); g: _ = Gather(y, 0)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "in a int8[N]; in b int8[M]; y = Add(a, b); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "in a int8[1]; in b int8[N]; y = Add(a, b); g: _ = Gather(y, 0)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "in a int8[?]; in b int8[1]; y = Add(a, b); g: _ = Gather(y, 0)", "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "in a int8[0]; in b int8[N]; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "in a int8[N]; in b int8[0]; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "in a int8[2]; in b int8[?]; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g unknown [2..]" NO_LENGTH("y")},
    {ONNX, "in a int8[1..5]; in b int8[2..3]; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g unknown [3..8]" NO_LENGTH("y")},
    {ONNX,
     "in a int8[9223372036854775807]; in b int8[9223372036854775807]; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g unknown [?]" NO_LENGTH("y")},
    {ONNX, "in a int8[1..9223372036854775806]; in b int8[5]; y = Concat(a, b) axis=0; g: _ = Gather(y, 0)",
     "g unknown [6..]" NO_LENGTH("y")},
    /* verdicts: what is wrong with a node, or not known of it */
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; g: _ = Gather(x, _)", "g bad [3,4]: the node has no indices"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(_, [1])", "g bad none: the node has no data"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; g: _ = Gather(x)", "g bad [3,4]: the node has no indices"},
    {ONNX,
     "in x int8[3,4]; const i int64[1] = 1; in c bool[]; y = If(c) then_branch={ out a; "
     "g: a = Gather(x, _) } else_branch={ out x }",
     "g bad [3,4]: the node has no indices"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; g: _ = Gather(x, float32[1])",
     "g bad [3,4]: indices of type float32 are not integers"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) axis=2",
     "g bad [3,4]: axis 2 is outside [-2, 1] (Gather of data of rank 2)"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) axis='x'",
     "g bad [3,4]: attribute 'axis' must have type INT, not STRING"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) batch_dims=1",
     "g bad [3,4]: the node has the attribute 'batch_dims', but Gather onnx-13 has none of that name"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) __mine=1", "g ok [3,4]"},
    {ONNX, "in x int8[3,4]; g: _, _ = Gather(x, [1])", "g bad [3,4]: the node has 2 outputs, but Gather onnx-13 has 1"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1], _)", "g ok [3,4]"},
    {ONNX, "in x int8[3,4]; g: _ = Gather/0(x, [1])",
     "g unknown [3,4]: no version of the operator set ai.onnx is imported; Gather exists since version 1"},
    {ONNX, "in x int8[3,4]; g: _ = Gather/9999(x, [1])",
     "g unknown [3,4]: version 9999 of the operator set ai.onnx is imported; Gather is known from version 1 to *"},
    {ONNX, "in x int8[3,4]; g: _ = GatherND(x, [1]) batch_dims=7",
     "g bad [3,4]: batch_dims 7 is outside [0, 0]: data and indices must have more dimensions"},
    {ONNX, "in x int8[3,4]; g: _ = GatherElements(x, [1])",
     "g bad [3,4]: data has rank 2, indices have rank 1; GatherElements needs equal ranks"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; const j int64[2,2] = 0,1,2,3; g: _ = GatherElements(x, j) axis=1",
     "g ok [3,4]"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; in j int64[3,N]; g: _ = GatherElements(x, j) axis=1",
     "g unknown [3,4]: the indices come from the input 'j', which was not given"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; in j int64[N,2]; g: _ = GatherElements(x, j) axis=1",
     "g unknown [3,4]: the indices come from the input 'j', which was not given"},
    {ONNX,
     "in x int8[3,4]; in j int64[?,2]; k = Mod(j, [1]); const z int64[] = 0; s = Min(k, z); t = Max(s, z); "
     "g: _ = GatherElements(x, t) axis=1",
     "g unknown [3,4]: the indices 't' are computed by Max '' when the model runs"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; const j int64[2,2] = 0,1,2,3; g: _ = GatherND(x, j)", "g ok [3,4]"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; const j int64[1,2] = 1,0; g: _ = GatherND(x, j)", "g ok [3,4]"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; in j int64[1,K]; g: _ = GatherND(x, j)",
     "g unknown [3,4]: the indices come from the input 'j', which was not given"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; in j int64*; g: _ = GatherND(x, j)",
     "g unknown [3,4]: the indices come from the input 'j', which was not given"},
    {ONNX, "in x int8*; const j int64[1,2] = 1,0; g: _ = GatherND(x, j)", "g unknown none" NO_SHAPE("x")},
    {ONNX, "in x int8[N,4]; const j int64[1,2] = 1,5; g: _ = GatherND(x, j)",
     "g unknown [N,4]: the data 'x' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "in x int8[N,4]; const j int64[1,2] = 1,3; dim N 1; g: _ = GatherND(x, j)",
     "g bad [1,4]: indices[0, 0] = 1, component 0 of tuple [0], is outside [-1, 0] of axis 0 (GatherND onnx-13); 1 of "
     "2 indices is bad; the index equals the length of the axis: the indices may count from 1"},
    {ONNX, "in x int8[4,9]; const j int64[2,2] = 7,1,8,3; g: _ = GatherND(x, j)",
     "g bad [4,9]: indices[0, 0] = 7, component 0 of tuple [0], is outside [-4, 3] of axis 0 (GatherND onnx-13); 2 of "
     "4 indices are bad; the numbers of the tuples may be in the wrong order: those for axis 0 are in range on axis 1, "
     "and the other way round"},
    {ONNX, "in x int8[2,3,4]; in j int64[2,1]; g: _ = GatherND(x, j) batch_dims=1",
     "g unknown [2,3,4]: the indices come from the input 'j', which was not given"},
    {ONNX, "in x int8[2,3,4]; const j int64[2,1] = 1,2; g: _ = GatherND(x, j) batch_dims=1", "g ok [2,3,4]"},
    {ONNX, "in x int8[N,3,4]; const j int64[2,1] = 1,2; g: _ = GatherND(x, j) batch_dims=1",
     "g unknown [N,3,4]: whether the lengths of the indices 'j' fit those of the data 'x' is not known"},
    {ONNX, "in x int8[2,3,4]; g: _ = GatherND(x, [1]) batch_dims=1",
     "g bad [2,3,4]: batch_dims 1 is outside [0, 0]: data and indices must have more dimensions"},
    {ONNX,
     "in x int8[2,3]; f: y = local.F(x, [1]); fun local.F { in a; in b; out c; "
     "h: c = GatherND(a, b) batch_dims=@bd }",
     "h ok [2,3]"},
    {ONNX,
     "in x int8[2,3]; g: _ = Gather(x, [1]); fun local.F { in a; in b; out c; h: c = GatherND(a, b) batch_dims=@bd; "
     "k: d = Gather(a, b) axis=@ax }",
     "g ok [2,3]\n"
     "h unknown none: not executed: no call leads to this function\n"
     "k unknown none: not executed: no call leads to this function"},
    {ONNX,
     "const x int8[3] gone; const i int64[1] = 1; g: _ = Gather(x, i); const j int64[1] gone; h: _ = Gather(x, j); "
     "k = Add(j, i); l: _ = Gather(x, k); s = Shape(x); m: _ = Gather(s, i)",
     "g ok [3]\n"
     "h unknown [3]: the indices 'j' cannot be read: the elements are gone\n"
     "l unknown [3]: the indices 'k' cannot be read: the elements are gone\n"
     "m bad [1] = 3: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the "
     "indices may count from 1"},
    {IR,
     "const x int8[3] = 1,2,3; const i int64[1] = 1; const a int64[] gone; g: _ = Gather(x, i, a); in b int64[]; "
     "h: _ = Gather(x, i, b); in j int64[1]; k: _ = Gather(x, j, a)",
     "g unknown [3] = 1,2,3: the axis 'a' cannot be read: the elements are gone\n"
     "h unknown [3] = 1,2,3: the axis is not known before the model runs\n"
     "k unknown [3] = 1,2,3: the indices come from the input 'j', which was not given"},
    {IR,
     "const x int8[3] = 1,2,3; const i int64[3] = 1,5,-9; g: _ = Gather(x, i, 0); h: _ = Gather/7(x, i, 0); "
     "l: _ = Gather/1(x, i, 0)",
     "g ok [3] = 1,2,3: 2 of 3 indices are out of range: zeros under the rules openvino-8\n"
     "h bad [3] = 1,2,3: indices[1] = 5 is outside [0, 2] of axis 0 (Gather openvino-7); 2 of 3 indices are bad\n"
     "l bad [3] = 1,2,3: indices[1] = 5 is outside [0, 2] of axis 0 (Gather openvino-1); 2 of 3 indices are bad"},
    {ONNX,
     "in x int8[3]; a = Relu(b); b = Relu(a); g: _ = Gather(x, b); h: _ = Gather(x, nobody); "
     "k: _ = Gather(nobody, x)",
     "h unknown [3]: nothing in the model produces the indices 'nobody'\n"
     "k unknown none: the indices come from the input 'x', which was not given\n"
     "g unknown [3]: the indices 'b' are computed by Relu '' when the model runs"},
    {ONNX,
     "in x int8[3]; const i int64[1,1] = 2; e = Expand(i, [100000,1000]); g: _ = Gather(x, e); h: _ = Gather(x, e); "
     "k: _ = Gather(x, e)",
     "g unknown [3]: the indices 'e' are 100000000 repeated elements, too many to check\n"
     "h unknown [3]: the indices 'e' are 100000000 repeated elements, too many to check\n"
     "k unknown [3]: the indices 'e' are 100000000 repeated elements, too many to check"},
    {ONNX, "in x int8[3]; const i int64[1,2] = 2,3; e = Expand(i, [4,2]); g: _ = Gather(x, e)",
     "g bad [3]: indices[0, 1] = 3 is outside [-3, 2] of axis 0 (Gather onnx-13); 4 of 8 indices are bad; the largest "
     "index equals the length of the axis: the indices may count from 1"},
    {ONNX, "const x int8[0] =; g: _ = Gather(x, [0]); h: _ = Gather(x, [])",
     "g bad [0]: indices[0] = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node "
     "may have produced an empty tensor\n"
     "h ok [0]"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, uint64[18446744073709551615])",
     "g bad [3]: indices[0] = 18446744073709551615 is outside [-3, 2] of axis 0*; an index this large is probably "
     "uninitialised memory"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, [9223372036854775807])",
     "g bad [3]: indices[0] = 9223372036854775807 is outside [-3, 2] of axis 0*; an index this large is probably "
     "uninitialised memory"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, [-9223372036854775808])",
     "g bad [3]: indices[0] = -9223372036854775808 is outside [-3, 2] of axis 0*; an index this large is probably "
     "uninitialised memory"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, uint32[4294967295])",
     "g bad [3]: indices[0] = 4294967295 is outside [-3, 2] of axis 0*; the largest index is 4294967295 and the axis "
     "has length 3: the indices may belong to a longer axis"},
    {ONNX, "in x float32[3]; const i int16[1] swapped = 256; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 256 is outside [-3, 2] of axis 0*; the largest index is 256 and the axis has length 3: "
     "the indices may belong to a longer axis"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, uint8[255])",
     "g bad [3]: indices[0] = 255 is outside [-3, 2] of axis 0*; the largest index is 255 and the axis has length 3: "
     "the indices may belong to a longer axis"},
    {ONNX, "in x float32[3]; const i int32[1] swapped = -1; g: _ = Gather(x, i)", "g ok [3]"},
    {ONNX, "in x float32[3]; const i uint16[1] swapped = 3; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 3 is outside [-3, 2] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    {ONNX, "in x float32[3]; const i uint64[1] swapped = 18446744073709551614; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 18446744073709551614 is outside [-3, 2] of axis 0*; an index this large is probably "
     "uninitialised memory"},
    {ONNX, "in x float32[3]; const i uint32[1] swapped = 7; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 7 is outside [-3, 2] of axis 0*; the largest index is 7 and the axis has length 3: the "
     "indices may belong to a longer axis"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, int8[-4])",
     "g bad [3]: indices[0] = -4 is outside [-3, 2] of axis 0*; the smallest index is one below the valid range: the "
     "indices may be off by one"},
    {ONNX, "in x float32[3]; g: _ = Gather/1(x, [-1,2]); h: _ = Gather/1(x, [-2,1]); l: _ = Gather(x, [-4])",
     "g bad [3]: indices[0] = -1 is outside [0, 2] of axis 0 (Gather onnx-1); 1 of 2 indices is bad; -1 may mean "
     "padding or counting from the end, which these rules do not allow\n"
     "h bad [3]: indices[0] = -2 is outside [0, 2] of axis 0 (Gather onnx-1); 1 of 2 indices is bad; negative indices "
     "count from the end only in later versions of the operator\n"
     "l bad [3]: indices[0] = -4 is outside [-3, 2] of axis 0*; the smallest index is one below the valid range: the "
     "indices may be off by one"},
    {ONNX, "g: _ = Gather/1([1,2,3], [-1])",
     "g bad [3] = 1,2,3: indices[0] = -1 is outside [0, 2] of axis 0*; -1 may mean padding or counting from the end, "
     "which these rules do not allow"},
    {ONNX, "const x int64[200000] gone; g: _ = Gather/1(x, [-1])",
     "g bad [200000]: indices[0] = -1 is outside [0, 199999] of axis 0*; -1 may mean padding or counting from the end, "
     "which these rules do not allow"},
    {ONNX,
     "in x float32[5,2]; in q float32[50,2]; in a int64[2]; in b int64[2]; give a int64[2] = 40,41; "
     "give b int64[2] = 1,2; g: _ = Gather(x, a); h: _ = Gather(q, b)",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the inputs 'a' and 'b' may be swapped: these indices "
     "are in range for the table 'q' of the other node, which has 50 rows\n"
     "h ok [50,2]"},
    {ONNX,
     "in x float32[5,2]; in q float32[50,2]; in a int64[2]; in b int64[2]; give a int64[2] = 40,41; "
     "g: _ = Gather(x, a); h: _ = Gather(q, b)",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the inputs 'a' and 'b' may be swapped: these indices "
     "are in range for the table 'q' of the other node, which has 50 rows\n"
     "h unknown [50,2]: the indices come from the input 'b', which was not given"},
    {ONNX,
     "in x float32[5,2]; in q float32[50,2]; in a int64[2]; in b int64[0]; give a int64[2] = 40,41; "
     "give b int64[0] =; g: _ = Gather(x, a); h: _ = Gather(q, b)",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the inputs 'a' and 'b' may be swapped: these indices "
     "are in range for the table 'q' of the other node, which has 50 rows\n"
     "h ok [50,2]"},
    {ONNX,
     "in x float32[5,2]; in q float32*; in a int64[2]; in b int64[2]; give a int64[2] = 40,41; g: _ = Gather(x, a); "
     "h: _ = Gather(q, b); k: _ = Gather/0(q, b); l: _ = Gather(x, b) axis=7",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the table has 5 rows and the largest id is 41: it "
     "may belong to another vocabulary\n"
     "h unknown none: the indices come from the input 'b', which was not given\n"
     "k unknown none: no version of the operator set ai.onnx is imported; Gather exists since version 1\n"
     "l bad [5,2]: axis 7 is outside [-2, 1] (Gather of data of rank 2)"},
    {ONNX,
     "in x float32[5,2,2]; in a int64[2]; give a int64[2] = 4,7; g: _ = Gather(x, a); in s float32[3]; "
     "h: _ = Gather(s, [3])",
     "g bad [5,2,2]: indices[1] = 7 is outside [-5, 4] of axis 0 (Gather onnx-13); 1 of 2 indices is bad; the largest "
     "index is 7 and the axis has length 5: the indices may belong to a longer axis\n"
     "h bad [3]: indices[0] = 3 is outside [-3, 2] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    {ONNX,
     "in x float32[5]; in a int64[1]; give a int64[1] = 1; in b int64[N]; dim N 3; g: _ = Gather(x, a); "
     "h: _ = Gather(b, a); k: _ = Gather(b, [3])",
     "g ok [5]\n"
     "h ok [3]\n"
     "k bad [3]: indices[0] = 3 is outside [-3, 2] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    /* verdicts: indices that stay in range, whatever they are */
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "y = Mod(i, 5); g: _ = Gather(d, y)",
     "g ok [5]" ALWAYS("y", "0, 4")},
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "y = Mod(i, 5) fmod=1; g: _ = Gather(d, y)",
     "g ok [5]" ALWAYS("y", "-4, 4")},
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "y = Mod(i, 5) fmod='x'; g: _ = Gather(d, y)",
     "g unknown [5]: the indices 'y' are computed by Mod '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; "
     "y = Mod(i, 0); g: _ = Gather(d, y)",
     "g unknown [5]: the indices 'y' are computed by Mod '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; "
     "const z int64[] = 0; y = Mod(i, i); g: _ = Gather(d, y)",
     "g unknown [5]: the indices 'y' are computed by Mod '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; "
     "const z int64[] = 0; a = Max(i, z); const four int64[] = 4; y = Min(a, four); g: _ = Gather(d, y); "
     "w = Sub(four, y); h: _ = Gather(d, w); v = Add(y, one); k: _ = Gather(d, v); u = Mul(y, z); "
     "l: _ = Gather(d, u); t = Div(y, one); n: _ = Gather(d, t); r = Neg(y); o: _ = Gather(d, r)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h ok [5]: the indices 'w' are computed when the model runs, and always in [0, 4]\n"
     "k unknown [5]: the indices 'v' are computed by Add '' when the model runs\n"
     "l ok [5]: the indices 'u' are computed when the model runs, and always in [0, 0]\n"
     "n ok [5]: the indices 't' are computed when the model runs, and always in [0, 4]\n"
     "o ok [5]: the indices 'r' are computed when the model runs, and always in [-4, 0]"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; "
     "const z int64[] = 0; const four int64[] = 4; y = Clip(i, z, four); g: _ = Gather(d, y); w = Clip(i, z); "
     "h: _ = Gather(d, w); v = Clip(i, _, four); k: _ = Gather(d, v); u = Clip/6(i); l: _ = Gather(d, u)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h unknown [5]: the indices 'w' are computed by Clip '' when the model runs\n"
     "k unknown [5]: the indices 'v' are computed by Clip '' when the model runs\n"
     "l unknown [5]: the indices 'u' are computed by Clip '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const m int64[] = -1; const z int64[] = 0; "
     "a = Mod(i, five); c = Sub(a, five); y = Div(c, five); g: _ = Gather(d, y); b = Mod(a, 1); h: _ = Gather(d, b); "
     "w = Mod(c, five) fmod=1; k: _ = Gather(d, w)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [-1, 0]\n"
     "h ok [5]: the indices 'b' are computed when the model runs, and always in [0, 0]\n"
     "k ok [5]: the indices 'w' are computed when the model runs, and always in [-4, 4]"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; "
     "const z int64[] = 0; y = ArgMax(d); g: _ = Gather(d, y); in e float32[7]; w = ArgMax(e); h: _ = Gather(d, w); "
     "in f float32[0..5]; v = ArgMin(f); k: _ = Gather(d, v); in u float32*; t = ArgMax(u); l: _ = Gather(d, t); "
     "s = ArgMax(d) axis='x'; m2: _ = Gather(d, s)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h unknown [5]: the indices 'w' are computed by ArgMax '' when the model runs\n"
     "k ok [5]: the indices 'v' are computed when the model runs, and always in [0, 4]\n"
     "l unknown [5]: the indices 't' are computed by ArgMax '' when the model runs\n"
     "m2 unknown [5]: the indices 's' are computed by ArgMax '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; "
     "const z int64[] = 0; y = NonZero(d); g: _ = Gather(d, y); in e float32[N]; w = NonZero(e); "
     "h: _ = Gather(d, w); s = Size(e); k: _ = Gather(d, s)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h unknown [5]: the indices 'w' are computed by NonZero '' when the model runs\n"
     "k unknown [5]: the indices 's' are computed by Size '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; in c boolean[2]; a = Mod(i, 5); "
     "y = Where(c, a, 0); g: _ = Gather(d, y); b = Cast(a) to=6; h: _ = Gather(d, b); e = Concat(a, i) axis=0; "
     "k: _ = Gather(d, e); f = Unsqueeze/11(a) axes=[0]; l: _ = Gather(d, f)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h ok [5]: the indices 'b' are computed when the model runs, and always in [0, 4]\n"
     "k unknown [5]: the indices 'e' are computed by Concat '' when the model runs\n"
     "l ok [5]: the indices 'f' are computed when the model runs, and always in [0, 4]"},
    {ONNX,
     "in d float32[256]; in i uint8[2]; g: _ = Gather(d, i); in j uint8[1]; s = Add(i, j); h: _ = Gather(d, s); "
     "in e float32[255]; k: _ = Gather(e, i); in q int8[2]; l: _ = Gather(d, q); in o uint64[2]; "
     "m: _ = Gather(d, o); in p int8[1]; n: _ = Gather/1(d, p); r = Max(uint64[18446744073709551615,1], o); "
     "u: _ = Gather(d, r)",
     "g ok [256]: the indices 'i' are computed when the model runs, and always in [0, 255]\n"
     "h ok [256]: the indices 's' are computed when the model runs, and always in [0, 255]\n"
     "k unknown [255]: the indices come from the input 'i', which was not given\n"
     "l ok [256]: the indices 'q' are computed when the model runs, and always in [-128, 127]\n"
     "m unknown [256]: the indices come from the input 'o', which was not given\n"
     "n unknown [256]: the indices come from the input 'p', which was not given\n"
     "u unknown [256]: the indices 'r' are computed by Max '' when the model runs"},
    {ONNX,
     "in d float32[2]; in c boolean[2]; i = Cast(c) to=7; g: _ = Gather(d, i); in x int64[2]; e = Less(x, 0); "
     "j = Cast(e) to=6; h: _ = Gather(d, j)",
     "g ok [2]: the indices 'i' are computed when the model runs, and always in [0, 1]\n"
     "h ok [2]: the indices 'j' are computed when the model runs, and always in [0, 1]"},
    {ONNX,
     "in d float32[N]; in c boolean[]; in i int64[2]; const five int64[] = 5; const six int64[] = 6; "
     "y = If(c) then_branch={ out a; a = Mod(i, five) } else_branch={ out b; b = Mod(i, six) }; dim N 6; "
     "g: _ = Gather(d, y); w = If(c) then_branch={ out a; a = Mod(i, five) } else_branch={ out i }; "
     "h: _ = Gather(d, w)",
     "g ok [6]: the indices 'y' are computed when the model runs, and always in [0, 5]\n"
     "h unknown [6]: the indices 'w' are computed by If '' when the model runs"},
    {ONNX,
     "in d float32[9223372036854775807]; in i int64[2]; const b int64[] = 9223372036854775807; y = Mod(i, b); "
     "w = Mul(y, b); g: _ = Gather(d, w); v = Add(y, y); h: _ = Gather(d, v); u = Min(i, -9223372036854775808); "
     "t = Neg(u); k: _ = Gather(d, t)",
     "g unknown [9223372036854775807]: the indices 'w' are computed by Mul '' when the model runs\n"
     "h unknown [9223372036854775807]: the indices 'v' are computed by Add '' when the model runs\n"
     "k unknown [9223372036854775807]: the indices 't' are computed by Neg '' when the model runs"},
    {ONNX,
     "in d float32[5]; in n int64[]; a = Mod(n, 5); y = Range(0, a, n); g: _ = Gather(d, y); w = Range(4, a, -1); "
     "h: _ = Gather(d, w); v = Range(n, n, n); k: _ = Gather(d, v)",
     "g unknown [5]: the indices 'y' are computed by Range '' when the model runs\n"
     "h ok [5]: the indices 'w' are computed when the model runs, and always in [1, 4]\n"
     "k unknown [5]: the indices 'v' are computed by Range '' when the model runs"},
    {ONNX,
     "in x int8[?,3]; in i int64[?,1]; const t int64[] = 3; j = Mod(i, t); g: _ = GatherND(x, j) batch_dims=1; "
     "in d int8[4,3]; in k int64[4,1]; m = Mod(k, t); h: _ = GatherND(d, m) batch_dims=1",
     "g unknown [?,3]: the indices 'j' are computed by Mod '' when the model runs\n"
     "h ok [4,3]: the indices 'm' are computed when the model runs, and always in [0, 2]"},
    {ONNX,
     "in x int8[N,4]; s = Shape(x); n = Gather(s, [0]); const m int64[1] = -1; t = Concat(n, n, m) axis=0; "
     "y = Reshape(x, t); g: _ = Gather(y, 0) axis=2; u = Concat(n, m) axis=0; w = Reshape(x, u); "
     "h: _ = Gather(w, 0) axis=1",
     " ok [2]\ng unknown [N,N,?]: the length of the data 'y' along axis 2 is not known\nh ok [N,4]"},
    /* quantised data */
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,32]\n"
     "h bad [1,32]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,32]; in s float32[2,4]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,32]\n"
     "h bad [1,64]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,32]; in s float32[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16 bits=8; h: _ = Gather(y, i) axis=1",
     "g ok [2,32]\nh ok [1,32]"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,32]; in s float32[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16 bits=3; h: _ = Gather(y, i)",
     "g bad [2,32]: bits is 3, not 2, 4 or 8\nh unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,N]; in s float32[2,?]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,N]\n"
     "h bad [1,?]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,9223372036854775807]; in s float32[2,?]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,9223372036854775807]\n"
     "h bad [1,?]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices "
     "may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,1..9223372036854775806]; in s float32[2,?]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,1..9223372036854775806]\n"
     "h bad [1,2..]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the "
     "indices may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; in p uint4[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s, p) block_size=16; in q uint4[2,N]; "
     "h: _ = com.microsoft.GatherBlockQuantized/1(a, i, s, q) block_size=16; "
     "k: _ = com.microsoft.GatherBlockQuantized/1(a, i, s, i) block_size=16",
     "g ok [2,32]\nh ok [2,32]\nk bad [2,32]: zero_points of type int64 for data of type uint4"},
    {ONNX, "in a uint4[2,32]; g: y = com.microsoft.GatherBlockQuantized/1(a, [1]) block_size=16",
     "g bad [2,32]: the node has no scales"},
    {ONNX, "in a uint4[2,32]; g: y = com.microsoft.GatherBlockQuantized/1(a, [1], _) block_size=16",
     "g bad [2,32]: the node has no scales"},
    {ONNX, "in a uint4[2,32]; g: y = com.microsoft.GatherBlockQuantized/1(a, [1], nobody) block_size=16",
     "g ok [2,32]"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size='16'; h: _ = Gather(y, i)",
     "g bad [2,32]: attribute 'block_size' must have type INT, not STRING\n"
     "h unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16 gather_axis='x'; h: _ = Gather(y, i)",
     "g bad [2,32]: attribute 'gather_axis' must have type INT, not STRING\n"
     "h unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const i int64[1] = 1; in a uint4*; in s float32[2,2]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; in j int64*; in b uint4[2,32]; "
     "h: _ = com.microsoft.GatherBlockQuantized/1(b, j, s) block_size=16; in e any*; "
     "k: _ = com.microsoft.GatherBlockQuantized/1(e, i, s) block_size=16",
     "g unknown none: the shape of the data 'a' is not known\n"
     "h unknown [2,32]: the indices come from the input 'j', which was not given\n"
     "k unknown none: the shape of the data 'e' is not known"},
    {ONNX,
     "in a uint4[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, 1, s) block_size=16; "
     "h: _ = Gather(y, [1]); k: _ = com.microsoft.GatherBlockQuantized/1(a, 1, s) block_size=16 gather_axis=7",
     "g ok [2,32]\nh ok [32]\nk bad [2,32]: axis 7 is outside [-2, 1] (GatherBlockQuantized of data of rank 2)"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; f: y = local.F(a, i, s) bs=16; fun local.F { in a; "
     "in i; in s; out r; h: r = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=@bs }; fun local.U { in a; "
     "in i; in s; out r; k: r = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=@bs }",
     "h ok [2,32]\nk unknown none: not executed: no call leads to this function"},
    {ONNX,
     "const i int64[1] = 1; const a int8[2,2] = 1,2,3,4; const s float32[] = 2; d = DequantizeLinear(a, s); "
     "g: _ = Gather(d, i); e = DequantizeLinear/23(a, s) output_dtype=10; h: _ = Gather(e, i); "
     "f = DequantizeLinear/23(a, s) output_dtype='x'; k: _ = Gather(f, i); const w int32[2,2] = 1,2,3,4; "
     "l = DequantizeLinear(w, s); m: _ = Gather(l, i); in n int8[2,2]; o = DequantizeLinear(n, s); "
     "p: _ = Gather(o, i); q = DequantizeLinear(); r: _ = Gather(q, i)",
     "g ok [2,2]\n"
     "h ok [2,2]\n"
     "k ok [2,2]\n"
     "m ok [2,2]\n"
     "p ok [2,2]\n"
     "r unknown none: the shape of the data 'q' is not known"},
    /* GatherTree */
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,0; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g ok [2,1,2]"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g bad [2,1,2]: parent_ids[1, 0, 1] = 2 is outside [0, 1] of axis 2 (GatherTree openvino-1); 1 of 4 parents is "
     "bad"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; in m int32[1]; g: _ = GatherTree/1(s, p, m, int32 9)",
     "g unknown [2,1,2]: the parents are known, but which of them count is not: max_seq_len 'm' is known when the "
     "model runs"},
    {IR, "in s int32[2,1,2]; in p int32[2,1,2]; in m int32[1]; g: _ = GatherTree/1(s, p, m, int32 9)",
     "g unknown [2,1,2]: the indices come from the input 'p', which was not given"},
    {IR, "in s int32[2,1,2]; const p int64[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g bad [2,1,2]: parent_ids is int64, the inputs before it are int32"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,3] = 0,0,1,2,0,0; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g bad [2,1,2]: dimension 2 of parent_ids cannot be equal to that of step_ids"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, int32[7], int32 9)",
     "g bad [2,1,2]: parent_ids[1, 0, 1] = 2 is outside [0, 1] of axis 2 (GatherTree openvino-1); 1 of 4 parents is "
     "bad"},
    {IR,
     "const e int32[] = 9; in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, _, e); "
     "in a any*; in b any*; h: _ = GatherTree/1(a, p, b, e)",
     "g bad [2,1,2]: the node has no max_seq_len\n"
     "h unknown none: the parents are known, but which of them count is not: max_seq_len 'b' is known when the model "
     "runs"},
    {IR,
     "const e int32[] = 9; in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; const m int32[1] = 2; "
     "const c boolean[] = 0; f: y = If(c) then_body={ in p int32[2,1,2] < p; in s int32[2,1,2] < s; "
     "in m int32[1] < m; in e int32[] < e; g: r = GatherTree/1(s, p, m, e); out r > 0 } else_body={ "
     "in s int32[2,1,2] < s; out s > 0 }; h: _ = Gather(y, 0, 0)",
     "g unknown [2,1,2]: not executed: the condition 'c' of If 'f' is false\nh ok [2,1,2]"},
    /* graphs: order, declarations, bodies of OpenVINO */
    {ONNX, "g: _ = Gather(y, 1); y = Identity([5,6])", "g ok [2] = 5,6"},
    {ONNX,
     "in c bool[]; const z int64[] = 1; w = If(c) then_branch={ out a; g: a = Gather(y, z) } else_branch={ out b; "
     "b = Identity(y) }; y = Identity([5,6])",
     "g ok [2] = 5,6"},
    {ONNX,
     "y = Identity(x); const x int64[2] = 5,6; info y int64[3]; g: o = Gather(y, 1); out o int64[4]; info o int64*; "
     "info x int64[9]",
     "g ok [2] = 5,6\n"
     "the value 'y' of main is declared [3], but is [2]\n"
     "the value 'o' of main is declared [4], but is []"},
    {ONNX,
     "in x int64[N]; y = Relu(x); info y int64[N]; g: _ = Gather(y, 1); dim N 4; w = Own(x); info w int64[7]; "
     "h: _ = Gather(w, 1); v = Own(x); info v int64[N,K]; k: _ = Gather(v, 1) axis=1; l: _ = Gather(v, 1) axis=-1; "
     "u = Own(x); info u int64[M]; m: _ = Gather(u, 1); dim M 5",
     "g ok [4]\n"
     "h unknown [7]: the length 7 of the data 'w' along axis 0 is only declared: runtimes do not enforce it\n"
     "k unknown [4,K]: the data 'v' has the length 'K' along axis 1, a dimension that was not given\n"
     "l unknown [4,K]: the data 'v' has the length 'K' along axis -1, a dimension that was not given\n"
     "m unknown [5]: the length 5 of the data 'u' along axis 0 is only declared: runtimes do not enforce it"},
    {ONNX,
     "in x int64[N]; y = Own(x); info y int64[0..9]; g: _ = Gather(y, 1); w = Own(x); info w int64[K]; "
     "h: _ = Gather(w, 1); in q int64[N]; give q int64[3] = 1,2,3; k: _ = Gather(x, 1); l: _ = Gather(q, 1)",
     "g unknown [0..9]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [K]: the data 'w' has the length 'K' along axis 0, a dimension that was not given\n"
     "k unknown [3]: the length 3 of the data 'x' along axis 0 is only declared: runtimes do not enforce it\n"
     "l ok [3] = 1,2,3"},
    {ONNX,
     "in x int64[N]; const z int64[] = 1; v, s = Loop(2, _, x) body={ in n int64[]; in k bool[]; in p int64[7]; "
     "out k; out q int64[2]; out r; q = Identity(p); r = Identity(p); g: _ = Gather(p, z) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
     "g unknown [7]: the length 7 of the data 'p' along axis 0 is only declared: runtimes do not enforce it\n"
     "h unknown [N]: the data 'v' has the length 'N' along axis 0, a dimension that was not given\n"
     "i ok [2,N]"},
    {ONNX,
     "in x int64[N]; in q int64[N]; in w int64[M]; const z int64[] = 1; v, u, t = Loop(2, _, x, q, w) body={ "
     "in n int64[]; in k bool[]; in a; in b; in c; out k; out b2; out a2; out c2; b2 = Relu(b); a2 = Relu(a); "
     "c2 = Concat(c, z1) axis=0; const z1 int64[1] = 1; g: _ = Gather(a, z) }; h: _ = Gather(v, z); "
     "i: _ = Gather(t, z)",
     "g unknown [N]: the data 'a' has the length 'N' along axis 0, a dimension that was not given\n"
     "h unknown [N]: the data 'v' has the length 'N' along axis 0, a dimension that was not given\n"
     "i unknown [1..]: the length of the data 't' along axis 0 is not known"},
    {IR,
     "in x int8[3]; y, w = If(boolean 1) then_body={ in p int8[3] < x; out p > 1; q = Relu(p); out q > 0 } "
     "else_body={ in p int8[3] < x; out p > 0 }; g: _ = Gather(y, 0, 0); h: _ = Gather(w, 0, 0)",
     "g ok [3]\nh ok [3]"},
    {IR,
     "in x int8[3,2]; const z int64[] = 4; const zz int64[] = 0; y = Loop(z) body={ in p int8[3,2] < x; in q int8*; "
     "in r int8[1] < nobody; g: s = Gather(p, z, zz); out s > 0 }; h: _ = Gather(y, zz, zz)",
     "g ok [3,2]: 1 of 1 indices is out of range: zeros under the rules openvino-8\n"
     "h unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const t bool[] = 1; const f bool[] = 0; const m int64[] = 3; in x int8[5]; v, s = Loop(m, t, x) body={ "
     "in n int64[]; in k bool[]; in p; out f; out p; out n }; h: _ = Gather(s, 0); w, r = Loop(m, t, x) body={ "
     "in n int64[]; in k bool[]; in p; out g; out p; out n; g = Identity(t) }; i: _ = Gather(r, 0); "
     "b, e = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p; out g; out p; out n; g = Own(t) }; "
     "j: _ = Gather(e, 0)",
     "h unknown [1..3]: the length of the data 's' along axis 0 is not known\n"
     "i ok [3]\n"
     "j unknown [1..3]: the length of the data 'e' along axis 0 is not known"},
    {ONNX,
     "const c bool[] = 0; in x int8[5]; const z int64[] = 7; y = If(c) then_branch={ out a; "
     "a = If(c) then_branch={ out d; g: d = Gather(x, z) } else_branch={ out d; "
     "h: d = Gather(x, z) } } else_branch={ out b; in d bool[]; b = If(e) then_branch={ out q; "
     "i: q = Gather(x, z) } else_branch={ out x } }; in e bool[]",
     "g unknown [5]: not executed: the condition 'c' of If is false\n"
     "h unknown [5]: not executed: the condition 'c' of If is false\n"
     "i unknown [5]: the condition 'e' of If decides whether the node is executed, and is not known; if it is: indices "
     "= 7 is outside [-5, 4] of axis 0*"},
    {ONNX,
     "in i int64[2]; in x int8[4]; p = Own(i); q = Add(p, i); r = Own(q, i); g: _ = Gather(x, r); s = Identity(i); "
     "h: _ = Gather(x, s); in j any[2]; k: _ = Gather(x, j); in e bool[]; in n int64[]; "
     "t = If(e) then_branch={ out a; a = Mod(i, n) } else_branch={ out i }; l: _ = Gather(x, t)",
     "g unknown [4]: the indices 'r' are computed by Own '' when the model runs\n"
     "h unknown [4]: the indices 's' are computed by Identity '' when the model runs\n"
     "k unknown [4]: the indices come from the input 'j', which was not given\n"
     "l unknown [4]: the indices 't' are computed by If '' when the model runs"},
    {ONNX,
     "in x int8[A,B,C]; in i int64[2]; g: _ = Gather(x, 1) axis=1; h: _ = Gather(x, i) axis=2; y = Transpose(x); "
     "k: _ = Gather(y, 1); w = Own(x); l: _ = Gather(w, 1); in n int64[]; s = Unsqueeze/11(n) axes=[0]; "
     "v = ConstantOfShape(s); m: _ = Gather(v, 1)",
     "g unknown [A,B,C]: the data 'x' has the length 'B' along axis 1, a dimension that was not given\n"
     "h unknown [A,B,C]: the indices come from the input 'i', which was not given\n"
     "k unknown [C,B,A]: the data 'y' has the length 'C' along axis 0, a dimension that was not given\n"
     "l unknown none: the shape of the data 'w' is not known\n"
     "m unknown [?]: the length of the data 'v' along axis 0 is not known"},
    {ONNX,
     "in x int8[5]; in c bool[]; const z int64[] = 1; const big int64[] = 9; y = If(c) then_branch={ out a; "
     "g: a = Gather(x, big); h: _ = Gather(x, z) } else_branch={ out b; in n int64[]; "
     "b = Loop(n, _, x) body={ in r int64[]; in k bool[]; in p; out k; out q; i: q = Gather(x, big) } }",
     "g unknown [5]: the condition 'c' of If decides whether the node is executed, and is not known; if it is: indices "
     "= 9 is outside [-5, 4] of axis 0*\n"
     "h ok [5]\n"
     "i unknown [5]: the condition 'c' of If decides whether the node is executed, and is not known; if it is: indices "
     "= 9 is outside [-5, 4] of axis 0*"},
};

/* ---- what is known, as text */

static char *print_operand(char *text, const gather_operand *operand) {
  if (operand->rank < 0) return text + sprintf(text, "none");
  *text++ = '[';
  for (int32_t d = 0; d < operand->rank; d++) {
    const gather_dim *dim = &operand->dims[d];
    if (d) *text++ = ',';
    if (dim->min != dim->max && dim->symbol)
      text += sprintf(text, "%s", dim->symbol);
    else if (dim->min == dim->max)
      text += sprintf(text, "%lld", (long long)dim->min);
    else if (dim->max != GATHER_DIM_UNBOUNDED)
      text += sprintf(text, "%lld..%lld", (long long)dim->min, (long long)dim->max);
    else if (dim->min > 0)
      text += sprintf(text, "%lld..", (long long)dim->min);
    else
      *text++ = '?';
  }
  *text++ = ']';
  return text;
}

/* Whether the text is the pattern, in which '*' is any text. */
static bool fits(const char *text, const char *pattern) {
  for (; *pattern && *pattern != '*'; text++, pattern++)
    if (*text != *pattern) return false;
  if (!*pattern) return !*text;
  for (pattern++; !fits(text, pattern); text++)
    if (!*text) return false;
  return true;
}

static void print_node(char *text, const gather_model_node *node) {
  const gather_tensor *value = node->data.value;
  char whole[2000], *last = whole;
  text += sprintf(text, "%s %s ", node->name, gather_verdict_name(node->verdict));
  text = print_operand(text, &node->data);
  if (value && gather_type_get(value->type)->kind <= GATHER_KIND_UINT && gather_tensor_len(value) <= 64) {
    /* In row-major order, whatever the strides. */
    int64_t none = 0, room[64];
    const int64_t one = 1;
    gather_tensor ids = tensor_of(GATHER_TYPE_INT64, &none, 1, &none), from = *value;
    if (from.rank == 0) from.rank = 1, from.shape = &one, from.strides = NULL;
    gather_tensor to = tensor_of(from.type, room, from.rank, from.shape);
    to.flags = from.flags & GATHER_TENSOR_BYTE_SWAPPED;
    assert_status(gather_apply(op_of("GatherND", "openvino-8"), &from, &ids, &to, NULL, NULL), GATHER_OK);
    (void)graph_text_print(last, &to);
    last = strstr(whole, " =");
    text += sprintf(text, "%s", last ? last : "");
  }
  (void)sprintf(text, "%s%s%s%s", *node->reason ? ": " : "", node->reason, *node->cause ? "; " : "", node->cause);
}

/* ---- everything that is done with a model */

static bool draws = true; /* what can be drawn, and writes the bad nodes alone */

static gather_status draw(const gather_model_operands *operands, gather_error *error) {
  gather_explain *made = NULL;
  char *text = NULL, *picture = NULL;
  gather_status status = gather_explain_create_node(operands, NULL, NULL, &made, error);
  if (status == GATHER_OK) status = gather_explain_text(made, NULL, &text, NULL, error);
  if (status == GATHER_OK) status = gather_explain_svg(made, &picture, NULL, error);
  gather_text_free(text);
  gather_text_free(picture);
  gather_explain_destroy(made);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK; /* not everything can be drawn */
}

/* Nodes of one name, and operands that no gather can be of, are errors of their own. */
static gather_status find(const gather_model *model, const gather_model_node *node, const gather_check_options *options,
                          gather_error *error) {
  gather_model_operands *operands = NULL;
  char path[300];
  (void)gather_model_node_path(node, path, sizeof path);
  gather_status status = gather_model_operands_find(model, path, options, &operands, error);
  if (status == GATHER_OK && draws) status = draw(operands, error);
  gather_model_operands_destroy(operands);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

/* The first line counts the nodes by verdict; only_bad leaves those that are bad, and those whose indices the rules repair. */
static void read_text(const gather_check *check, const char *text, bool only_bad) {
  int64_t skipped = 0, count = gather_check_describe(check)->count, bad = gather_check_describe(check)->bad;
  char wanted[400], counted[40] = "";
  for (int64_t i = 0; i < count; i++) {
    const gather_model_node *node = gather_check_at(check, i);
    const bool shown = !only_bad || (bad > 0 && (node->verdict == GATHER_VERDICT_BAD || node->bad > 0));
    const size_t len = gather_model_node_path(node, wanted, sizeof wanted - 1);
    (void)strcpy(wanted + len, "\n");
    if (shown != (strstr(text, wanted) != NULL)) fail_msg("%s%s", wanted, text);
    skipped += node->not_executed;
  }
  if (skipped > 0) (void)sprintf(counted, " (%d not executed)", (int)skipped);
  (void)sprintf(wanted, ", %d gather %s: %d ok, %d unknown%s, %d bad", (int)count, count == 1 ? "node" : "nodes",
                (int)gather_check_describe(check)->ok, (int)gather_check_describe(check)->unknown, counted, (int)bad);
  if (only_bad && bad == 0)
    assert_string_equal(text, "");
  else if (!strstr(text, wanted))
    fail_msg("'%s' is not in:\n%s", wanted, text);
}

static gather_status write_text(const gather_check *check, gather_error *error) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_check_advice *advice = NULL;
  char *text = NULL;
  gather_status status = gather_check_advise(check, &advice, error);
  options.advice = advice;
  if (status == GATHER_OK) status = gather_check_text(check, &options, &text, NULL, error);
  if (status == GATHER_OK) read_text(check, text, false);
  gather_text_free(text);
  text = NULL;
  options.only_bad = true;
  if (status == GATHER_OK && draws) status = gather_check_text(check, &options, &text, NULL, error);
  if (status == GATHER_OK && draws) read_text(check, text, true);
  gather_text_free(text);
  gather_check_advice_destroy(advice);
  return status;
}

static gather_status use_case(const void *context, gather_error *error) {
  static graph_text t;
  static char text[1 << 16];
  const check_case *c = context;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  gather_model *model = NULL;
  gather_check *check = NULL;
  static const check_case *last;
  if (last != c) graph_text_read(&t, c->dialect == IR, c->graph);
  last = c;
  options.inputs = t.given, options.input_count = t.given_count;
  options.dims = t.dims, options.dim_count = t.dim_count;
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_check(model, &options, &check, error);
  *text = 0;
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_describe(check)->count; i++) {
    if (i) strcat(text, "\n");
    print_node(text + strlen(text), gather_check_at(check, i));
  }
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_describe(check)->contradiction_count; i++)
    strcat(strcat(text, "\n"), gather_check_describe(check)->contradictions[i]);
  if (status == GATHER_OK && !fits(text, c->wanted)) {
    print_error("%s\n---\n%s\n\n", c->graph, text);
    status = gather_fail(error, GATHER_USAGE, "not as wanted");
  }
  if (status == GATHER_OK) status = write_text(check, error);
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_describe(check)->count; i++)
    status = find(model, gather_check_at(check, i), &options, error);
  gather_check_destroy(check);
  gather_model_close(model);
  return status;
}

/* ---- what the caller may not give to a check */

static const struct {
  int dialect;
  const char *graph;
  gather_status status;
  const char *words;
} REFUSED[] = {
    {ONNX, "in x int8[N]; dim N -1", GATHER_SHAPE_MISMATCH, "the dimension 'N' cannot have the length -1"},
    {ONNX, "in x int8[N]; dim M 1", GATHER_NAME_NOT_FOUND, "'M'"},
    {ONNX, "in x int8[N]; info y int8[M]; out o int8[K]; dim M 1; dim K 1; dim L 1", GATHER_NAME_NOT_FOUND, "'L'"},
    {ONNX, "in x int8[N]; dim N 3; give x int8[2] = 1,2", GATHER_SHAPE_MISMATCH, "N"},
    {ONNX, "in x int8[N]; in y int8[N]; give y int8[3] = 1,2,3; give x int8[2] = 1,2", GATHER_SHAPE_MISMATCH, "N"},
    {ONNX, "in x int8[N]; dim N 3; dim N 4", GATHER_SHAPE_MISMATCH, "N"},
    {ONNX, "in x int8[2]; give x int8[3] = 1,2,3", GATHER_SHAPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2..4]; give x int8[1] = 1", GATHER_SHAPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2..4]; give x int8[5] = 1,2,3,4,5", GATHER_SHAPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2]; give x int8[] = 1", GATHER_RANK_MISMATCH, "'x'"},
    {ONNX, "in x int8[2]; give x int16[2] = 1,2", GATHER_TYPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2]; give y int8[2] = 1,2", GATHER_NAME_NOT_FOUND, "'x'"},
    {ONNX, "give y int8[2] = 1,2", GATHER_NAME_NOT_FOUND, "none"},
    {ONNX, "in x int8[2]; give x int8[2] = 1,2; give x int8[2] = 1,2", GATHER_USAGE, "'x'"},
    {ONNX, "in x int8[2]; give x int8[2] gone", GATHER_USAGE, "NULL"},
};

/* Lists that are not there, and names that are not. */
static void what_is_not_there(void **state) {
  static const gather_model_dim nameless_dim = {NULL, 1};
  const gather_model_input nameless = {NULL, tensor_of(GATHER_TYPE_INT8, "", 0, NULL)};
  const gather_check_options INIT = GATHER_CHECK_OPTIONS_INIT;
  gather_check_options wrong[6] = {INIT, INIT, INIT, INIT, INIT, INIT};
  static graph_text t;
  gather_model *model = NULL;
  (void)state;
  wrong[0].input_count = 1;
  wrong[1].input_count = -1;
  wrong[2].dim_count = 1;
  wrong[3].dim_count = -1;
  wrong[4].inputs = &nameless, wrong[4].input_count = 1;
  wrong[5].dims = &nameless_dim, wrong[5].dim_count = 1;
  graph_text_read(&t, false, "in x int8[2]; const i int64[] = 0; g: _ = Gather(x, i)");
  assert_status(gather_model_from_graph(&t.file, &model, NULL), GATHER_OK);
  for (size_t i = 0; i < COUNT(wrong); i++) {
    gather_check *check = NULL;
    gather_model_operands *operands = NULL;
    gather_error error = dirty_error();
    assert_status(gather_model_check(model, &wrong[i], &check, &error), GATHER_USAGE);
    assert_error(&error, GATHER_USAGE);
    assert_status(gather_model_operands_find(model, "g", &wrong[i], &operands, &error), GATHER_USAGE);
    assert_null(check);
    assert_null(operands);
  }
  assert_int_equal(gather_model_describe(model)->input_count, 1);
  assert_int_equal(gather_model_describe(model)->output_count, 0);
  assert_string_equal(gather_model_describe(model)->inputs[0], "x");
  gather_model_close(model);
}

static void refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(REFUSED); i++) {
    static graph_text t;
    gather_model *model = NULL;
    gather_check *check = NULL;
    gather_error error = dirty_error();
    gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
    graph_text_read(&t, REFUSED[i].dialect == IR, REFUSED[i].graph);
    options.inputs = t.given, options.input_count = t.given_count;
    options.dims = t.dims, options.dim_count = t.dim_count;
    assert_status(gather_model_from_graph(&t.file, &model, &error), GATHER_OK);
    const gather_status status = gather_model_check(model, &options, &check, &error);
    if (status != REFUSED[i].status || !strstr(error.message, REFUSED[i].words))
      fail_msg("%s: %s: %s", REFUSED[i].graph, gather_status_name(status), status ? error.message : "");
    assert_error(&error, status);
    assert_null(check);
    gather_model_close(model);
  }
}

/* ---- the operands of a node, where the caller gives values in between */

/* wanted: data and indices as they are known, and the names of what is missing; or words of the error. */
static const struct {
  int dialect;
  const char *graph, *node;
  gather_status status;
  const char *wanted;
} FOUND[] = {
    {ONNX, "in x int64[3]; in i int64[2]; g: _ = Gather(x, i)", "g", GATHER_OK, "[3]; [2]; needs i"},
    {ONNX, "in x int64[3]; in i int64[2]; g: _ = Gather(x, i); give i int64[2] = 1,0", "g", GATHER_OK,
     "[3]; [2] = 1,0; needs"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[2] = 1,0", "g", GATHER_OK,
     "[3]; [2] = 1,0; needs"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j)", "g", GATHER_OK, "[3]; [2]; needs j"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int32[2] = 1,0", "g", GATHER_OK,
     "[3]; [2] = 1,0; needs"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j float32[2] = 1,0", "g",
     GATHER_TYPE_MISMATCH, "the value 'j' has type int64, but float32 was given"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); info j int64[2]; g: _ = Gather(x, j); give j int32[2] = 1,0",
     "g", GATHER_TYPE_MISMATCH, "the value 'j' has type int64, but int32 was given"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[] = 1", "g",
     GATHER_RANK_MISMATCH, "the value 'j' has rank 1, but rank 0 was given"},
    {ONNX, "in x int64[3]; in i int64[2..3]; j = Relu(i); g: _ = Gather(x, j); give j int64[1] = 1", "g",
     GATHER_SHAPE_MISMATCH, "the value 'j' does not have the length 1 in dimension 0"},
    {ONNX, "in x int64[3]; in i int64[2..3]; j = Relu(i); g: _ = Gather(x, j); give j int64[4] = 1,2,1,2", "g",
     GATHER_SHAPE_MISMATCH, "the value 'j' does not have the length 4 in dimension 0"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give k int64[2] = 1,0", "g",
     GATHER_NAME_NOT_FOUND, "the model has no input 'k', nor a value of that name in main"},
    {ONNX,
     "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[2] = 1,0; give j int64[2] = 1,0",
     "g", GATHER_USAGE, "the input 'j' is given twice"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[2] gone", "g", GATHER_USAGE,
     "NULL"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); k = Own(j, i, x); g: _ = Gather(x, k); give j int64[2] = 1,0",
     "g", GATHER_OK, "[3]; none; needs k"},
    {ONNX,
     "in x int64[3]; in i int64[2]; in k int64[2]; j = Concat(i, k) axis=0; r = Reshape(j, [2]); g: _ = Gather(x, r)",
     "g", GATHER_OK, "[3]; [2]; needs i,k"},
    {ONNX,
     "in x int64[3]; in i int64[4]; in s int64[2]; r = Reshape(i, s); g: _ = Gather(x, r); "
     "give i int64[4] = 0,1,2,0; give s int64[2] = 2,2",
     "g", GATHER_OK, "[3]; [2,2] = 0,1,2,0; needs"},
    {ONNX,
     "in a int64[3]; in b int64[1]; in c int64[1]; in d int64[1]; in e int64[1]; in f int64[1]; in h int64[1]; "
     "in k int64[1]; in l int64[1]; in m int64[1]; n = Own(b, c); o = Own(d, e); "
     "p = Concat(b, c, d, e, f, h, k, l, m,n, o, a) axis=0; g: _ = Gather(a, p)",
     "g", GATHER_OK, "[3]; [12..]; needs b,c,d,e,f,h,k,l"},
    {ONNX,
     "in c bool[]; in x int64[3]; in i int64[2]; y = If(c) then_branch={ out a; j = Relu(i); g: a = Gather(x, j) }"
     "else_branch={ out i }; give j int64[2] = 2,0",
     "g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in c bool[]; in x int64[3]; in i int64[2]; j = Relu(i); y = If(c) then_branch={ out a; g: a = Gather(x, j) }"
     "else_branch={ out i }; give j int64[2] = 2,0",
     "g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in c bool[]; in x int64[3]; in i int64[2]; y = If(c) then_branch={ out a; g: a = Gather(x, i) }"
     "else_branch={ out i }",
     "g", GATHER_OK, "[3]; [2]; needs i"},
    {ONNX,
     "in x int64[3]; in i int64[2]; j = Relu(i); f: y = local.F(x, j); fun local.F { in p; in q; out r;"
     "g: r = Gather(p, q) }; give j int64[2] = 2,0",
     "main/f/function:F/g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in x int64[3]; in i int64[2]; j = Relu(i); f: y = local.F(x, j); fun local.F { in p; in q; out r;"
     "k = Relu(q); g: r = Gather(p, k) }; give k int64[2] = 2,0",
     "main/f/function:F/g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in x int64[3]; in i int64[2]; f: y = local.F(x, i); fun local.F { in p; in q; out r; s: r = local.G(p, q) }; "
     "fun local.G { in p; in q; out r; g: r = Gather(p, q) }; give i int64[2] = 2,0",
     "main/f/function:F/s/function:G/g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in x int64[3]; g: _ = Gather(x, x); fun local.F { in p; in q; out r; h: r = Gather(p, q) }; "
     "give q int64[2] = 2,0",
     "function:F/h", GATHER_OK, "none; [2] = 2,0; needs"},
    {IR,
     "in x int64[3]; in i int64[2]; in a int64[]; b = Own(a); g: _ = Gather(x, i, b); give b int64[] = 0; "
     "give i int64[2] = 1,0",
     "g", GATHER_OK, "[3]; [2] = 1,0; needs"},
    {IR, "in x int64[3]; in i int64[2]; in a int64[]; b = Negative(a); g: _ = Gather(x, i, b)", "g", GATHER_OK,
     "[3]; [2]; needs i,a"},
    {IR, "in v int64[2]; in x int64[3]; i: v = Parameter(); g: _ = Gather(x, v, 0); give i int64[2] = 1,0", "g",
     GATHER_OK, "[3]; [2] = 1,0; needs"},
    {ONNX, "const x int64[3] gone; in i int64[2]; g: _ = Gather(x, i); give i int64[2] = 0,1", "g", GATHER_OK,
     "[3]; [2] = 0,1; needs"},
    {ONNX, "in x int64[3]; j = Gather([1,2,0], [7]); g: _ = Gather(x, j)", "g", GATHER_INDEX_OUT_OF_RANGE,
     "indices[0] = 7"},
    {ONNX, "in x int64[3]; const i int64[1] = 0; g: _ = Gather(x, i); g: _ = Gather(x, i)", "g", GATHER_USAGE, "'g'"},
    {ONNX, "in x int64[3]; const i int64[1] = 0; g: _ = Gather(x, i); h: _ = Gather(x, i)", NULL, GATHER_USAGE,
     "name one of them: 'main/g', 'main/h'"},
    {ONNX, "in x int64[3]; g: _ = Gather(x, [0])", NULL, GATHER_OK, "[3]; [1] = 0; needs"},
    {ONNX, "in x int64[3]; const i int64[1] = 0; _ = Gather(x, i); y = Gather(x, i)", "main/Gather_0", GATHER_OK,
     "[3]; [1] = 0; needs"},
    {ONNX, "in x int64[3]; y = Gather(x, [0])", "h", GATHER_NAME_NOT_FOUND, "it has 'main/y'"},
};

static char *print_value(char *text, const gather_operand *operand) {
  char value[2000];
  text = print_operand(text, operand);
  if (!operand->value || gather_tensor_len(operand->value) > 64) return text;
  (void)graph_text_print(value, operand->value);
  const char *elements = strstr(value, " =");
  return text + sprintf(text, "%s", elements ? elements : "");
}

static gather_status use_found(const void *context, gather_error *error) {
  static graph_text t;
  static char text[4000];
  const size_t i = *(const size_t *)context;
  gather_model *model = NULL;
  gather_model_operands *operands = NULL;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  graph_text_read(&t, FOUND[i].dialect == IR, FOUND[i].graph);
  options.inputs = t.given, options.input_count = t.given_count;
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_operands_find(model, FOUND[i].node, &options, &operands, error);
  if (status == GATHER_OK) {
    const gather_model_node *node = gather_model_operands_describe(operands)->node;
    char *at = print_value(text, &node->data);
    at = print_value(at + sprintf(at, "; "), &node->indices);
    at += sprintf(at, "; needs");
    for (int64_t k = 0; k < gather_model_operands_describe(operands)->missing_count; k++)
      at += sprintf(at, "%s%s", k ? "," : " ", gather_model_operands_describe(operands)->missing[k]);
    if (strcmp(text, FOUND[i].wanted) != 0) status = gather_fail(error, GATHER_OVERFLOW, "%s", text);
  }
  gather_model_operands_destroy(operands);
  gather_model_close(model);
  return status;
}

static void operands_with_values_in_between(void **state) {
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < COUNT(FOUND); i++) {
    gather_error error = dirty_error();
    const gather_status status = use_found(&i, &error);
    const bool fits = status == FOUND[i].status && (status == GATHER_OK || strstr(error.message, FOUND[i].wanted));
    if (!fits)
      print_error("%s:\n%s: '%s', not '%s'\n", FOUND[i].graph, gather_status_name(status), status ? error.message : "",
                  FOUND[i].wanted);
    wrong += !fits;
  }
  assert_int_equal(wrong, 0);
  for (size_t i = 0; i < COUNT(FOUND); i++) assert_true(fail_each(use_found, &i, FOUND[i].status) > 10);
}

static void verdicts(void **state) {
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_error error = dirty_error();
    const gather_status status = use_case(&CASES[i], &error);
    if (status != GATHER_OK && status != GATHER_USAGE) print_error("%s\n---\n%s\n", CASES[i].graph, error.message);
    wrong += status != GATHER_OK;
  }
  assert_int_equal(wrong, 0);
}

static void without_memory(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(CASES); i++) {
    draws = i % 16 == 0; /* test_safety_explain_alloc has more of them */
    assert_true(fail_each(use_case, &CASES[i], GATHER_OK) > 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verdicts),
      cmocka_unit_test(without_memory),
      cmocka_unit_test(refused),
      cmocka_unit_test(what_is_not_there),
      cmocka_unit_test(operands_with_values_in_between),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
