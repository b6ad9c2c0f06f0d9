/* SPDX-License-Identifier: MIT
 *
 * test_check_graphs.c: what a check of a graph finds: nested graphs, functions, values that are followed, verdicts and their reasons.
 * Each case is also written as text, with advice, its operands are found, and what can be drawn is drawn; and all of that happens again
 * with each allocation failing once.
 */
#include <ctype.h>

#include "base/error.h"
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

static const check_case CASES[] = {
    /* If */
    {ONNX,
     "const c bool[] = 1; const z int64[] = 0; y = If(c) then_branch={ out a; "
     "const a int64[2] = 4,5 } else_branch={ out b; const b int64[3] = 4,5,6 }; g: _ = Gather(y, z)",
     "g ok [2] = 4,5"},
    {ONNX,
     "in c bool[]; const z int64[] = 0; y = If(c) then_branch={ out a; "
     "const a int64[2] = 4,5 } else_branch={ out b; const b int64[3] = 4,5,6 }; g: _ = Gather(y, z)",
     "g unknown [2..3]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "in c bool[]; const z int64[] = 0; y = If(c) then_branch={ out a; "
     "const a int64[2] = 4,5 } else_branch={ out b; const b int64[1,3] = 4,5,6 }; g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "in c bool[]; const z int64[] = 0; y, w = If(c) then_branch={ out a; "
     "const a int64[2] = 4,5 } else_branch={ out b; const b int32[2] = 4,5 }; g: _ = Gather(y, z); "
     "h: _ = Gather(w, z)",
     "g ok [2]\n"
     "h unknown none: the shape of the data 'w' is not known"},
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
    {ONNX,
     "in c bool[]; const z int64[] = 0; y = If(c) then_branch={ out a; const a int64[2] = 4,5 }; g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "in i int64[2]; const z int64[] = 0; in c bool[]; in x int8[5]; y = If(c) then_branch={ out a; "
     "g: a = Gather(x, i) } else_branch={ out b; h: b = Gather(a, z) }",
     "g unknown [5]: the indices come from the input 'i', which was not given\n"
     "h unknown none: the shape of the data 'a' is not known"},
    /* Loop */
    {ONNX,
     "const m int64[] = 3; in x int8[5]; const z int64[] = 0; v, s = Loop(m, _, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out kk; out pp; out ss; kk = Identity(k); pp = Identity(p); g: ss = Gather(p, n) }; "
     "h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g ok [5]: the indices 'n' are computed when the model runs, and always in [0, 2]\n"
     "h ok [5]\n"
     "i ok [3]"},
    {ONNX,
     "const m int64[] = 6; in x int8[5]; const z int64[] = 0; v, s = Loop(m, _, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out k; out p; out ss; g: ss = Gather(p, n) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
     "g unknown [5]: the indices come from 'n', an input of main/Loop_0/body\n"
     "h ok [5]\n"
     "i ok [6]"},
    {ONNX,
     "const m int64[] = 3; const t bool[] = 1; in x int8[5]; const z int64[] = 0; "
     "v, s = Loop(m, t, x) body={ in n int64[1]; in k bool[1]; in p int8*; out kk; out pp; out n; "
     "const kk bool[] = 1; pp = Concat(p, p) axis=0 }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "h unknown [?]: the length of the data 'v' along axis 0 is not known\n"
     "i ok [3,1]"},
    {ONNX,
     "const m int64[] = 3; const t bool[] = 1; in x int8[5]; const z int64[] = 0; "
     "l: v, s = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p int8*; out kk; out pp; out n; "
     "const kk bool[] = 1; pp = Unsqueeze/11(p) axes=[0] }; h: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "const m int64[] = 0; in x int8[5]; const z int64[] = 0; l: v, s = Loop(m, _, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out k; out pp; out n; g: pp = Gather(p, n) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
     "g unknown [5]: not executed: the trip count 'm' is 0 in Loop 'l'\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "const m int64[] = -1; in x int8[5]; const z int64[] = 0; l: v, s = Loop(m, _, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out k; out pp; out n; g: pp = Gather(p, n) }; h: _ = Gather(v, z); "
     "i: _ = Gather(s, z)",
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
     "const m int64[] = 4; in t bool[]; in x int8[5]; const z int64[] = 9; "
     "l: v, s = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out pp; out n; "
     "g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
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
     "const m int64[] = 1; in x int8[5]; const z int64[] = 1; l: v, s = Loop(m, _, x) body={ in n int64[]; "
     "in k bool[]; in p int8*; out k; out pp; out n; pp = Concat(p, p) axis=0; g: _ = Gather(p, z) }; "
     "h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g ok [5]\n"
     "h ok [10]\n"
     "i bad [1]: indices = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may "
     "count from 1"},
    {ONNX,
     "const m int64[] = 2; const x int64[2] = 1,2; const z int64[] = 1; "
     "l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; in p int64*; out k; out pp; out p; "
     "pp = Add(p, p) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "h ok [2]\n"
     "i ok [2,2]"},
    {ONNX,
     "const m int64[] = 2; const x int64[2] = 1,2; const z int64[] = 1; l: v, s = Loop(m, _, x); h: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8[5]; const z int64[] = 9; l: v = Loop(_, _, x) body={ in n int64[]; in k bool[] }; "
     "h: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'v' is not known"},
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
     "g ok [5]\n"
     "h ok [4]\n"
     "i ok [4]\n"
     "j ok [7,5]"},
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
     "h unknown none: the shape of the data 'p' is not known\n"
     "i unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8*; const z int64[] = 4; v = Scan(x) num_scan_inputs=1 body={ in p; out p; h: _ = Gather(p, z) }; "
     "i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\n"
     "i unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8[3]; const z int64[] = 4; v = Scan(x) num_scan_inputs='1' body={ in p; out p; h: _ = Gather(p, z) }; "
     "i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\n"
     "i unknown none: the shape of the data 'v' is not known"},
    /* functions */
    {ONNX,
     "in x int8[5]; const z int64[] = 6; f: y = local.F(x, z); g: _ = Gather(y, z); fun local.F { in a; in b; "
     "out c; h: c = Gather(a, b); c2 = Identity(c) }",
     "h bad [5]: indices = 6 is outside [-5, 4] of axis 0*; the largest index is 6 and the axis has length 5: the "
     "indices may belong to a longer axis\n"
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 3; f: y = local.F(x, z); fun local.F { in a; in b; out c; default axis=1; "
     "h: c = Gather(a, b) axis=@axis }",
     "h bad [5,2]: indices = 3 is outside [-2, 1] of axis 1*; the largest index is 3 and the axis has length 2: the "
     "indices may belong to a longer axis"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 3; f: y = local.F(x, z) axis=0; fun local.F { in a; in b; out c; "
     "default axis=1; h: c = Gather(a, b) axis=@axis }",
     "h ok [5,2]"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 3; g: y = Gather(x, z); fun local.F { in a; in b; out c; "
     "h: c = Gather(a, b) axis=@axis }",
     "g ok [5,2]\n"
     "h unknown none: not executed: no call leads to this function"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 3; f: y = local.F(x, z) ; fun local.F { in a; in b; out c; "
     "h: c = Gather(a, b) }; fun local.F { in a; out c; i: c = Gather(a, a) }",
     "h unknown none: two functions of the model have this name\n"
     "i unknown none: two functions of the model have this name"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 3; f: y = local.F(x, z) ; fun local.F { in a; in b; out c; "
     "h: c = Gather(a, b) }; fun other.F { in a; out c; i: c = Gather(a, a) }",
     "h ok [5,2]\n"
     "i unknown none: not executed: no call leads to this function"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 3; f: y, w = local.F(x) ; fun local.F { in a; in b; out c; "
     "h: c = Gather(a, b) }; g: _ = Gather(w, z)",
     "h unknown [5,2]: the indices come from 'b', an input of main/f/function:F\n"
     "g unknown none: the shape of the data 'w' is not known"},
    {ONNX,
     "in x int8[5,2]; in i int64[1]; f: y = local.F(x, i) ; fun local.F { in a; in b; out c; h: c = Gather(a, b) }",
     "h unknown [5,2]: the indices 'b' come from the input 'i', which was not given"},
    {ONNX,
     "in x int8[5,2]; const m int64[] = 2; const z int64[] = 4; l: v = Loop(m, _, x) body={ in n int64[]; "
     "in k bool[]; in p; out k; out q; f: q = local.F(p, z) }; fun local.F { in a; in b; out c; "
     "h: _ = Gather(a, b); c = Identity(a) }",
     "h ok [5,2]"},
    /* values: lengths and numbers that come through Shape, Size, Cast, Range */
    {ONNX, "const z int64[] = 0; in x int8[2,N,?]; y = Shape(x); g: _ = Gather(y, z)", "g ok [3]"},
    {ONNX, "const z int64[] = 0; in x int8[2,N,?]; y = Shape/15(x) start=-2 end=2; g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; in x int8[]; y = Shape(x); g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const z int64[] = 0; in x int8[2,3]; y = Size(x); g: _ = Gather(y, z)",
     "g bad [] = 6: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "const z int64[] = 0; in x int8[2,N]; y = Size(x); g: _ = Gather(y, z)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "const z int64[] = 0; const b boolean[2] = 1,0; y = Cast(b) to=7; g: _ = Gather(y, z)", "g ok [2] = 1,0"},
    {ONNX, "const z int64[] = 0; const b boolean[2] = 1,0; y = Cast(b) to=9; g: _ = Gather(y, z)", "g ok [2] = 1,0"},
    {ONNX, "const z int64[] = 0; const b int64[2] = 1,0; y = Cast(b) to=9; g: _ = Gather(y, z)", "g ok [2] = 1,0"},
    {ONNX, "const z int64[] = 0; const b int64[2] = 1,2; y = Cast(b) to=9; g: _ = Gather(y, z)", "g ok [2] = 1,1"},
    {ONNX, "const z int64[] = 0; const b uint32[2] = 1,4294967295; y = Cast(b) to=6; g: _ = Gather(y, z)", "g ok [2]"},
    {ONNX, "const z int64[] = 0; const b uint32[2] = 1,7; y = Cast(b) to=6; g: _ = Gather(y, z)", "g ok [2] = 1,7"},
    {ONNX, "const z int64[] = 0; const b uint32[1] = 4294967295; y = Cast(b) to=7; g: _ = Gather(y, z)",
     "g ok [1] = 4294967295"},
    {ONNX, "const z int64[] = 0; const b int8[2] = -1,2; y = Cast(b) to=12; g: _ = Gather(y, z)", "g ok [2]"},
    {ONNX, "const z int64[] = 0; const b uint64[2] = 1,18446744073709551615; y = Cast(b) to=7; g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const b int64[1] = 1; y = Cast(b) to=?; g: _ = Gather(y, z)", "g ok [1]"},
    {IR, "const z int64[] = 0; const b int64[1] = 1; y = Convert(b); g: _ = Gather(y, z, z)", "g ok [1]"},
    {IR, "const z int64[] = 0; const b int64[1] = 1; y = Convert(b) destination_type='i32'; g: _ = Gather(y, z, z)",
     "g ok [1] = 1"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = 1; const b int64[] = 9; const c int64[] = 3; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g ok [3] = 1,4,7"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = 9; const b int64[] = 1; const c int64[] = -3; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g ok [3] = 9,6,3"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = 9; const b int64[] = 1; const c int64[] = 3; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = 1; const b int64[] = 9; const c int64[] = 0; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = -9223372036854775808; const b int64[] = 9; const c int64[] = 1; "
     "y = Range(a, b, c); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = -9223372036854775807; const b int64[] = 9223372036854775807; "
     "const c int64[] = 1; y = Range(a, b, c); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = 0; const b int64[] = -9223372036854775808; const c int64[] = -1; "
     "y = Range(a, b, c); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[] = 9; const b int64[] = 1; const c int64[] = -9223372036854775808; "
     "y = Range(a, b, c); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int8[] = 120; const b int8[] = 127; const c int8[] = 5; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g ok [2] = 120,125"},
    {ONNX,
     "const z int64[] = 0; const a float32[] = 0; const b float32[] = 3; const c float32[] = 1; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[2] = 0,1; const b int64[] = 3; const c int64[] = 1; y = Range(a, b, c); "
     "g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; in x int8[N]; s = Shape(x); n = Squeeze(s); const a int64[] = 0; const c int64[] = 1; "
     "y = Range(a, n, c); g: _ = Gather(y, z); in d int8[5]; h: _ = Gather(d, y)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "const z int64[] = 0; in x int8[N]; s = Shape(x); n = Squeeze(s); const a int64[] = 1; const c int64[] = 1; "
     "y = Range(a, n, c); g: _ = Gather(y, z); in d int8[5]; h: _ = Gather(d, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "const z int64[] = 0; in x int8[N]; s = Shape(x); n = Squeeze(s); const a int64[] = 0; const c int64[] = 2; "
     "y = Range(a, n, c); g: _ = Gather(y, z); in d int8[5]; h: _ = Gather(d, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "const z int64[] = 0; in x int8[N]; s = Shape(x); n = Squeeze(s); const a int64[] = -1; const c int64[] = 1; "
     "y = Range(a, n, c); g: _ = Gather(y, z); in d int8[5]; h: _ = Gather(d, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "const z int64[] = 0; in x int8[0..5]; s = Shape(x); n = Squeeze(s); const a int64[] = 0; const c int64[] = 1; "
     "y = Range(a, n, c); g: _ = Gather(y, z); in d int8[5]; h: _ = Gather(d, y)",
     "g unknown [0..5]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]"},
    {ONNX,
     "const z int64[] = 0; in x int8[0..5]; s = Shape(x); n = Squeeze(s); const a int64[] = 0; "
     "const c int64[] = -1; y = Range(n, a, c); in d int8[5]; h: _ = Gather(d, y)",
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {ONNX,
     "const z int64[] = 0; in x int8[1..5]; s = Shape(x); n = Squeeze(s); const a int64[] = 0; y = Range(a, n, n); "
     "in d int8[5]; h: _ = Gather(d, y)",
     "h ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]"},
    {ONNX,
     "const z int64[] = 0; in a int64[]; in b int64[]; in c int64[]; y = Range(a, b, c); in d int8[5]; "
     "h: _ = Gather(d, y)",
     "h unknown [5]: the indices 'y' are computed by Range '' when the model runs"},
    {IR,
     "const z int64[] = 0; const a int32[] = 1; const b int32[] = 4; const c int32[] = 1; "
     "y = Range(a, b, c) output_type='i64'; g: _ = Gather(y, z, z)",
     "g ok [3] = 1,2,3"},
    /* values: arithmetic that fits its type, and that does not */
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; const b int64[2] = 3,4; y = Add(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 4,6"},
    {ONNX, "const z int64[] = 0; const a int8[2] = 100,2; const b int8[2] = 100,4; y = Add(a, b); g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[2] = 9223372036854775807,1; const b int64[2] = -1,1; y = Sub(a, b); "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[1] = 1; const b int64[1] = -9223372036854775808; y = Sub(a, b); "
     "g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX,
     "const z int64[] = 0; const a int64[2] = 3037000500,1; const b int64[2] = 3037000500,2; y = Mul(a, b); "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 7,-7; const b int64[2] = 2,2; y = Div(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 3,-3"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 7,1; const b int64[2] = 0,1; y = Div(a, b); g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[1] = -9223372036854775808; const b int64[1] = -1; y = Div(a, b); "
     "g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a int64[2] = -7,7; const b int64[2] = 3,-3; y = Mod(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 2,-2"},
    {ONNX, "const z int64[] = 0; const a int64[1] = 7; const b int64[1] = 0; y = Mod(a, b); g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,5; const b int64[2] = 3,4; y = Max(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 3,5"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,5; const b int64[2] = 3,4; y = Min(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 1,4"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,5; const b int64[2] = 1,4; y = Equal(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 1,0"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,5; const b int64[2] = 3,4; y = Less(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 1,0"},
    {ONNX,
     "const z int64[] = 0; const a int64[2] = 1,5; const b int64[2] = 1,9; y = GreaterOrEqual(a, b); "
     "g: _ = Gather(y, z)",
     "g ok [2] = 1,0"},
    {ONNX, "const z int64[] = 0; const a uint8[1] = 250; const b uint8[1] = 10; y = Add(a, b); g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a uint8[1] = 1; const b uint8[1] = 2; y = Sub(a, b); g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX,
     "const z int64[] = 0; const a int64[1] = -7; const b int64[1] = 3; y = Mod(a, b) fmod=1; g: _ = Gather(y, z)",
     "g ok [1] = -1"},
    {ONNX,
     "const z int64[] = 0; const a int64[1] = -7; const b int64[1] = 3; y = Mod(a, b) fmod='x'; g: _ = Gather(y, z)",
     "g ok [1]"},
    {IR,
     "const z int64[] = 0; const a int64[4] = 7,-7,6,-6; const b int64[1] = 2; y = Divide(a, b); "
     "g: _ = Gather(y, z, z)",
     "g ok [4]"},
    {IR,
     "const z int64[] = 0; const a int64[4] = 8,-8,6,-6; const b int64[1] = 2; y = Divide(a, b); "
     "g: _ = Gather(y, z, z)",
     "g ok [4] = 4,-4,3,-3"},
    {IR,
     "const z int64[] = 0; const a int64[4] = 7,-7,7,-7; const b int64[4] = 3,3,-3,-3; y = FloorMod(a, b); "
     "g: _ = Gather(y, z, z)",
     "g ok [4] = 1,2,-2,-1"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; const b int64[1] = 2; y = Add/6(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 3,4"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; const b int64[2] = 2,5; y = Add/6(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 3,7"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; const b int64[3] = 2,5,6; y = Add(a, b); g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int8[1] = 100; const b int8[1] = 27; c = Add(a, b); y = Sub(c, b); "
     "g: _ = Gather(y, z)",
     "g ok [1] = 100"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; y = Neg(a); g: _ = Gather(y, z)", "g ok [2] = -1,-2"},
    {ONNX, "const z int64[] = 0; const a int64[1] = -9223372036854775808; y = Neg(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a boolean[2] = 1,0; y = Not(a); g: _ = Gather(y, z)", "g ok [2] = 0,1"},
    {ONNX,
     "const z int64[] = 0; const a boolean[2] = 1,0; const b boolean[2] = 1,1; y = And(a, b); g: _ = Gather(y, z)",
     "g ok [2] = 1,0"},
    {ONNX,
     "const z int64[] = 0; const c boolean[2] = 1,0; const a int64[2] = 1,2; const b int64[2] = 5,6; "
     "y = Where(c, a, b); g: _ = Gather(y, z)",
     "g ok [2] = 1,6"},
    {ONNX, "const z int64[] = 0; const a int64[1] = 1; y = Max(a, a, a, a, a, a, a, a, a); g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX,
     "const z int64[] = 0; const a int64[1] = 1; const b int64[1] = 2; y = Max(a, a, a, b, a, a, a, a); "
     "g: _ = Gather(y, z)",
     "g ok [1] = 2"},
    {ONNX, "const z int64[] = 0; const a int64[1] = 1; y = Max(); g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = -5,5,50; const lo int64[] = 0; const hi int64[] = 9; "
     "y = Clip(a, lo, hi); g: _ = Gather(y, z)",
     "g ok [3] = 0,5,9"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = -5,5,50; const lo int64[] = 0; const hi int64[] = 9; "
     "y = Clip(a, _, hi); g: _ = Gather(y, z)",
     "g ok [3] = -5,5,9"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = -5,5,50; const lo int64[] = 0; const hi int64[] = 9; y = Clip(a, lo); "
     "g: _ = Gather(y, z)",
     "g ok [3] = 0,5,50"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = -5,5,50; const lo int32[] = 0; y = Clip(a, lo); g: _ = Gather(y, z)",
     "g ok [3]"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = -5,5,50; const lo int64[1] = 0; y = Clip(a, lo); g: _ = Gather(y, z)",
     "g ok [3]"},
    {ONNX, "const z int64[] = 0; const a int64[3] = -5,5,50; in lo int64[]; y = Clip(a, lo); g: _ = Gather(y, z)",
     "g ok [3]"},
    {ONNX, "const z int64[] = 0; const a int64[3] = -5,5,50; y = Clip/6(a) min=0; g: _ = Gather(y, z)", "g ok [3]"},
    {IR, "const z int64[] = 0; const a int64[3] = -5,5,50; y = Clamp(a) min='0' max='9'; g: _ = Gather(y, z, z)",
     "g ok [3] = 0,5,9"},
    {IR, "const z int64[] = 0; const a int64[3] = -5,5,50; y = Clamp(a) min='0.5' max='9'; g: _ = Gather(y, z, z)",
     "g ok [3]"},
    {IR, "const z int64[] = 0; const a int64[3] = -5,5,50; y = Clamp(a) min='0' max='9.5'; g: _ = Gather(y, z, z)",
     "g ok [3]"},
    {ONNX, "const z int64[] = 0; const a int64[3] = 2,5,7; y = ReduceSum(a); g: _ = Gather(y, z)", "g ok [1] = 14"},
    {ONNX, "const z int64[] = 0; const a int64[3] = 2,5,7; y = ReduceMax(a); g: _ = Gather(y, z)", "g ok [1] = 7"},
    {ONNX, "const z int64[] = 0; const a int64[3] = 2,5,7; y = ReduceMin(a); g: _ = Gather(y, z)", "g ok [1] = 2"},
    {ONNX, "const z int64[] = 0; const a int64[3] = 2,5,7; y = ReduceProd(a); g: _ = Gather(y, z)", "g ok [1] = 70"},
    {ONNX, "const z int64[] = 0; const a int64[3] = 2,5,7; y = ReduceMax(a) keepdims=0; g: _ = Gather(y, z)",
     "g bad [] = 7: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "const z int64[] = 0; const a int8[2] = 100,100; y = ReduceSum(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a int64[0] = ; y = ReduceMax(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 9223372036854775807,1; y = ReduceSum(a); g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a int64[2,1] = 2,5; y = ReduceMax(a); g: _ = Gather(y, z)", "g ok [1,1]"},
    {ONNX, "const z int64[] = 0; const a boolean[2] = 1,0; y = ReduceMax(a); g: _ = Gather(y, z)", "g ok [1]"},
    /* values: elements that are moved */
    {ONNX, "const z int64[] = 0; const a int64[2,3] = 1,2,3,4,5,6; y = Transpose(a); g: _ = Gather(y, z)",
     "g ok [3,2] = 1,4,2,5,3,6"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,3] = 1,2,3,4,5,6; t = Transpose(a); const s int64[1] = 6; "
     "y = Reshape(t, s); g: _ = Gather(y, z)",
     "g ok [6] = 1,4,2,5,3,6"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,3] = 1,2,3,4,5,6; t = Transpose(a); const s int64[3] = 3,1,2; "
     "y = Reshape(t, s); g: _ = Gather(y, z)",
     "g ok [3,1,2] = 1,4,2,5,3,6"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,3] = 1,2,3,4,5,6; const s int64[1] = 6; y = Reshape(a, s); "
     "g: _ = Gather(y, z)",
     "g ok [6] = 1,2,3,4,5,6"},
    {ONNX,
     "const z int64[] = 0; const a float32[2,1] = 1,2; t = Transpose(a); const s int64[1] = 2; y = Reshape(t, s); "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,1] = 1,2; const s int64[2] = 2,3; y = Expand(a, s); g: _ = Gather(y, z)",
     "g ok [2,3] = 1,1,1,2,2,2"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,1] = 1,2; const s int64[2] = 3,3; y = Expand(a, s); g: _ = Gather(y, z)",
     "g ok [2,3] = 1,1,1,2,2,2"},
    {ONNX,
     "const z int64[] = 0; const a float32[2,1] = 1,2; const s int64[2] = 2,3; y = Expand(a, s); g: _ = Gather(y, z)",
     "g ok [2,3]"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 2,3; const x int64[1] = 0; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,3] = 1,1,1,2,2,2"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 2,2; const x int64[1] = 1; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,2] = 1,2,1,2"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 2,2; const x int64[1] = 2; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,2]"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 2,2; const x int64[1] = -1; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,2]"},
    {IR,
     "const z int64[] = 0; const a int64[2,2] = 1,2,3,4; const s int64[3] = 2,2,2; const x int64[2] = 1,0; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,2,2]"},
    {IR,
     "const z int64[] = 0; const a int64[2,2] = 1,2,3,4; const s int64[3] = 2,3,2; const x int64[2] = 0,2; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,3,2] = 1,2,1,2,1,2,3,4,3,4,3,4"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 2,3; in x int64[1]; "
     "y = Broadcast(a, s, x) mode='explicit'; g: _ = Gather(y, z, z)",
     "g ok [2,3]"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 3,2; y = Broadcast(a, s) mode='numpy'; "
     "g: _ = Gather(y, z, z)",
     "g ok [3,2] = 1,2,1,2,1,2"},
    {IR,
     "const z int64[] = 0; const a int64[2] = 1,2; const s int64[2] = 3,2; y = Broadcast(a, s) mode='other'; "
     "g: _ = Gather(y, z, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[2] = 1,2; const b int64[1] = 3; const c int64[0] = ; "
     "y = Concat(a, b, c) axis=0; g: _ = Gather(y, z)",
     "g ok [3] = 1,2,3"},
    {ONNX,
     "const z int64[] = 0; const a int64[2] = 1,2; const b int64[1,1] = 3; y = Concat(a, b) axis=0; "
     "g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[1,2] = 1,2; const b int64[1,1] = 3; y = Concat(a, b) axis=0; "
     "g: _ = Gather(y, z)",
     "g ok [2,2]"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; in b int64[1]; y = Concat(a, b) axis=0; g: _ = Gather(y, z)",
     "g ok [3]"},
    {ONNX,
     "const z int64[] = 0; in x int8[N]; s = Shape(x); const b int64[1] = 3; y = Concat(s, b) axis=0; "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; const r int64[1] = 3; y = Tile(a, r); g: _ = Gather(y, z)",
     "g ok [6] = 1,2,1,2,1,2"},
    {ONNX, "const z int64[] = 0; const a int64[2,1] = 1,2; const r int64[2] = 2,3; y = Tile(a, r); g: _ = Gather(y, z)",
     "g ok [4,3] = 1,1,1,2,2,2,1,1,1,2,2,2"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,2] = 1,2,3,4; const r int64[2] = 1,2; y = Tile(a, r); g: _ = Gather(y, z)",
     "g ok [2,4] = 1,2,1,2,3,4,3,4"},
    {ONNX, "const z int64[] = 0; const a int64[0] = ; const r int64[1] = 3; y = Tile(a, r); g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 1,2; const r int64[1] = 0; y = Tile(a, r); g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const z int64[] = 0; const a float32[2] = 1,2; const r int64[1] = 2; y = Tile(a, r); g: _ = Gather(y, z)",
     "g ok [4]"},
    {IR, "const z int64[] = 0; const a int64[2] = 1,2; const r int64[2] = 2,2; y = Tile(a, r); g: _ = Gather(y, z, z)",
     "g ok [2,4] = 1,2,1,2,1,2,1,2"},
    {ONNX,
     "const z int64[] = 0; in x int8[2,N]; in q int8[M]; r = Shape(q); const o int64[1] = 1; "
     "rr = Concat(o, r) axis=0; y = Tile(x, rr); g: _ = Gather(y, z)",
     "g ok [2,?]"},
    {ONNX,
     "const z int64[] = 0; in x int8[1,3]; in q int8[M]; r = Shape(q); const o int64[1] = 2; "
     "rr = Concat(r, o) axis=0; y = Tile(x, rr); g: _ = Gather(y, z)",
     "g unknown [M,6]: the data 'y' has the length 'M' along axis 0, a dimension that was not given"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,-1; y = Gather(a, i); g: _ = Gather(y, z)",
     " ok [3] = 1,2,3\n"
     "g ok [2] = 3,3"},
    {ONNX,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,3; y = Gather(a, i); g: _ = Gather(y, z)",
     " bad [3] = 1,2,3: indices[1] = 3 is outside [-3, 2] of axis 0 (Gather onnx-13); 1 of 2 indices is bad; the "
     "largest index equals the length of the axis: the indices may count from 1\n"
     "g ok [2]"},
    {IR,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,-1; y = Gather(a, i, z); "
     "g: _ = Gather(y, z, z)",
     " ok [3] = 1,2,3\n"
     "g ok [2] = 3,3"},
    {IR,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,5; y = Gather(a, i, z); "
     "g: _ = Gather(y, z, z)",
     " ok [3] = 1,2,3: 1 of 2 indices is out of range: zeros under the rules openvino-8\n"
     "g ok [2] = 3,0"},
    {IR,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,-1; in x int64[]; y = Gather(a, i, x); "
     "g: _ = Gather(y, z, z)",
     " unknown [3] = 1,2,3: the axis is not known before the model runs\n"
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {IR,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,-1; const x float32[] = 0; "
     "y = Gather(a, i, x); g: _ = Gather(y, z, z)",
     "*"},
    {IR,
     "const z int64[] = 0; const a int64[3] = 1,2,3; const i int64[2] = 2,-1; y = Gather(a, i); "
     "g: _ = Gather(y, z, z)",
     "*"},
    {ONNX,
     "const z int64[] = 0; const a boolean[3] = 1,0,1; const i int64[2] = 2,1; y = Gather(a, i); g: _ = Gather(y, z)",
     " ok [3] = 1,0,1\n"
     "g ok [2] = 1,0"},
    {ONNX,
     "const z int64[] = 0; const a uint64[2] = 18446744073709551615,4; const i int64[1] = 0; y = Gather(a, i); "
     "g: _ = Gather(y, z)",
     " ok [2] = 18446744073709551615,4\n"
     "g ok [1] = 18446744073709551615"},
    {ONNX,
     "const z int64[] = 0; in x int8[N,5]; s = Shape(x); const i int64[1] = 0; y = Gather(s, i); g: _ = Gather(y, z)",
     " ok [2]\n"
     "g ok [1]"},
    {ONNX,
     "const z int64[] = 0; in x int8[N,5]; s = Shape(x); const i int64[1] = 2; y = Gather(s, i); g: _ = Gather(y, z)",
     " bad [2]: indices[0] = 2 is outside [-2, 1] of axis 0*; the index equals the length of the axis: the indices may "
     "count from 1\n"
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; in x int8[N,5]; s = Shape(x); in i int64[1]; y = Gather(s, i); g: _ = Gather(y, z)",
     " unknown [2]: the indices come from the input 'i', which was not given\n"
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; const s int64[2] = 2,3; y = ConstantOfShape(s) value=int64[1]:7; g: _ = Gather(y, z)",
     "g ok [2,3] = 7,7,7,7,7,7"},
    {ONNX, "const z int64[] = 0; const s int64[1] = 2; y = ConstantOfShape(s) value=boolean[1]:1; g: _ = Gather(y, z)",
     "g ok [2] = 1,1"},
    {ONNX, "const z int64[] = 0; const s int64[1] = 2; y = ConstantOfShape(s) value=float32[1]:7; g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const s int64[1] = 2; y = ConstantOfShape(s) value=int64[2]:7,8; g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const s int64[1] = 2; y = ConstantOfShape(s) value=int64[]:7; g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const s int64[1] = 2; y = ConstantOfShape(s) value=int64[1] gone; g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const s int64[1] = 2; y = ConstantOfShape(s) value=3; g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; const s uint64[1] = 18446744073709551615; y = ConstantOfShape(s); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; const s float32[1] = 2; y = ConstantOfShape(s); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; in s int64*; y = ConstantOfShape(s) value=int64[1]:7; g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX, "const z int64[] = 0; in x int8*; y = Tile/5(x, z); g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX, "const z int64[] = 0; in x int8[2]; in r int64*; y = Tile(x, r); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; f: y = local.F() v=int64[2]:3,4; g: _ = Gather(y, z); fun local.F { out c; "
     "c = Constant() value=@v }",
     "g ok [2] = 3,4"},
    {ONNX,
     "const z int64[] = 0; f: y = local.F() v=int64[2] gone; g: _ = Gather(y, z); fun local.F { out c; "
     "c = Constant() value=@v }",
     "g ok [2]"},
    {ONNX, "const z int64[] = 0; f: y = local.F(); g: _ = Gather(y, z); fun local.F { out c; c = Constant() value=@v }",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const z int64[] = 0; f: y = local.F() v=[3,4]; g: _ = Gather(y, z); fun local.F { out c; "
     "c = Constant() value_ints=@v }",
     "g ok [2] = 3,4"},
    {ONNX,
     "const z int64[] = 0; f: y = local.F() v='abc'; g: _ = Gather(y, z); fun local.F { out c; "
     "c = Constant() value_string=@v }",
     "g unknown none: the shape of the data 'y' is not known"},
    /* values: places by the order of elements */
    {ONNX, "const z int64[] = 0; const a int64[2,3] = 5,9,9,7,1,3; y = ArgMax(a) axis=1; g: _ = Gather(y, z)",
     "g ok [2,1] = 1,0"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,3] = 5,9,9,7,1,3; y = ArgMin(a) axis=0 keepdims=0; g: _ = Gather(y, z)",
     "g ok [3] = 0,1,1"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,3] = 5,9,9,7,1,3; y = ArgMax(a) axis=1 select_last_index=1; "
     "g: _ = Gather(y, z)",
     "g ok [2,1]"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,3] = 5,9,9,7,1,3; y = ArgMax(a) axis=1 select_last_index='x'; "
     "g: _ = Gather(y, z)",
     "g ok [2,1]"},
    {ONNX, "const z int64[] = 0; const a float32[3] = -1,0.5,-7; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1] = 1"},
    {ONNX, "const z int64[] = 0; const a float32[3] = -1,0.5,-7; y = ArgMin(a); g: _ = Gather(y, z)", "g ok [1] = 2"},
    {ONNX, "const z int64[] = 0; const a float64[3] = -1,0.5,-7; y = ArgMin(a); g: _ = Gather(y, z)", "g ok [1] = 2"},
    {ONNX, "const z int64[] = 0; const a float64[3] swapped = -1,0.5,-7; y = ArgMin(a); g: _ = Gather(y, z)",
     "g ok [1] = 2"},
    {ONNX, "const z int64[] = 0; const a float16[3] = 0xbc00,0x3800,0xc700; y = ArgMin(a); g: _ = Gather(y, z)",
     "g ok [1] = 2"},
    {ONNX, "const z int64[] = 0; const a bfloat16[3] = 0xbf80,0x3f00,0xc0e0; y = ArgMax(a); g: _ = Gather(y, z)",
     "g ok [1] = 1"},
    {ONNX, "const z int64[] = 0; const a float16[2] = 0x3c00,0x7e00; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a float32[2] = 1,nan; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a float32[2] = 1,inf; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1] = 1"},
    {ONNX, "const z int64[] = 0; const a uint64[2] = 1,18446744073709551615; y = ArgMax(a); g: _ = Gather(y, z)",
     "g ok [1]"},
    {ONNX, "const z int64[] = 0; const a uint64[2] = 1,7; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1] = 1"},
    {ONNX, "const z int64[] = 0; const a boolean[2] = 0,1; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1] = 1"},
    {ONNX, "const z int64[] = 0; const a int8[2,0] = ; y = ArgMax(a) axis=1; g: _ = Gather(y, z)", "g ok [2,1]"},
    {ONNX, "const z int64[] = 0; const a int8[0,2] = ; y = ArgMax(a) axis=1; g: _ = Gather(y, z)",
     "g bad [0,1]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const z int64[] = 0; in a int8[2]; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX, "const z int64[] = 0; in a int8[N]; y = ArgMax(a); g: _ = Gather(y, z)", "g ok [1]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 2; v, y = TopK/11(a, k); "
     "g: _ = Gather(y, z)",
     "g ok [2] = 1,3"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 2; v, y = TopK/11(a, k) largest=0; "
     "g: _ = Gather(y, z)",
     "g ok [2] = 0,2"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 2; v, y = TopK/11(a, k) sorted=0; "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 2; v, y = TopK/11(a, k) largest='x'; "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 2; v, y = TopK/11(a, k) sorted='x'; "
     "g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 5; v, y = TopK/11(a, k); "
     "g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,2] = 5,9,7,1; const k int64[1] = 1; v, y = TopK/11(a, k) axis=0; "
     "g: _ = Gather(y, z)",
     "g ok [1,2] = 1,0"},
    {ONNX,
     "const z int64[] = 0; const a int64[2,2] = 5,9,7,1; const k int64[1] = 1; v, y = TopK/11(a, k) axis=2; "
     "g: _ = Gather(y, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {ONNX, "const z int64[] = 0; in a int64[4]; const k int64[1] = 2; v, y = TopK/11(a, k); g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; const k int64[1] = 0; v, y = TopK/11(a, k); "
     "g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 5,9,7,9; in k int64[1]; v, y = TopK/11(a, k); g: _ = Gather(y, z); "
     "h: _ = Gather(a, y)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [4] = 5,9,7,9: the indices 'y' are computed when the model runs, and always in [0, 3]"},
    {ONNX, "const z int64[] = 0; const a int64[2,2] = 0,1,2,0; y = NonZero(a); g: _ = Gather(y, z)",
     "g ok [2,2] = 0,1,1,0"},
    {ONNX, "const z int64[] = 0; const a float32[3] = 0,-0.0,2; y = NonZero(a); g: _ = Gather(y, z)", "g ok [1,1] = 2"},
    {ONNX, "const z int64[] = 0; const a int64[2] = 0,0; y = NonZero(a); g: _ = Gather(y, z)", "g ok [1,0]"},
    {ONNX, "const z int64[] = 0; const a int64[] = 3; y = NonZero(a); g: _ = Gather(y, z)",
     "g unknown [?,?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; in a int64[2,3]; y = NonZero(a); g: _ = Gather(y, z)", "g ok [2,?]"},
    {ONNX, "const z int64[] = 0; const a float32[1] = nan; y = NonZero(a); g: _ = Gather(y, z)", "g ok [1,?]"},
    /* slices: masks of StridedSlice, lists of Slice and Split */
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s); g: _ = Gather(y, z, z)",
     "g ok [1,3] = 4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) begin_mask='1,0' end_mask='0,1'; "
     "g: _ = Gather(y, z, z)",
     "g ok [2,3] = 1,2,3,4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) begin_mask='0,1' end_mask='1,0'; "
     "g: _ = Gather(y, z, z)",
     "g ok [1,3] = 4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) shrink_axis_mask='1,0'; g: _ = Gather(y, z, z)",
     "g ok [3] = 4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) shrink_axis_mask='0,1'; g: _ = Gather(y, z, z)",
     "g ok [1] = 4"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) new_axis_mask='1,0'; g: _ = Gather(y, z, z)",
     "g ok [1,2,3] = 1,2,3,4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) new_axis_mask='0,1'; g: _ = Gather(y, z, z)",
     "g ok [1,1,3] = 4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) ellipsis_mask='1,0'; g: _ = Gather(y, z, z)",
     "g ok [2,3] = 1,2,3,4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) ellipsis_mask='1,1'; g: _ = Gather(y, z, z)",
     "g unknown none: the shape of the data 'y' is not known"},
    {IR,
     "const z int64[] = 0; const b int64[2] = 1,0; const e int64[2] = 2,9; const s int64[2] = 1,1; "
     "const a int64[2,3] = 1,2,3,4,5,6; y = StridedSlice(a, b, e, s) ellipsis_mask='1,0' new_axis_mask='0,1'; "
     "g: _ = Gather(y, z, z)",
     "g ok [2,3,1] = 1,2,3,4,5,6"},
    {IR,
     "const z int64[] = 0; const b int64[1] = 1; const e int64[1] = 2; const a int64[3] = 4,5,6; "
     "y = StridedSlice(a, b, e) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad [] = 5: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; const b int64[1] = -1; const e int64[1] = 0; const a int64[3] = 4,5,6; "
     "y = StridedSlice(a, b, e) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad [] = 6: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; const b int64[1] = 3; const e int64[1] = 4; const a int64[3] = 4,5,6; "
     "y = StridedSlice(a, b, e) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; const b int64[1] = 1; const e int64[1] = 2; const a int64[3] = 4,5,6; "
     "y = StridedSlice(a, b, e) shrink_axis_mask='1' begin_mask='1'; g: _ = Gather(y, z, z)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; in x int8[4,N,6]; q = ShapeOf(x); const b int64[1] = 1; const e int64[1] = 2; "
     "y = StridedSlice(q, b, e) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; in x int8[4,N,6]; q = ShapeOf(x); const b int64[1] = -1; const e int64[1] = 2; "
     "y = StridedSlice(q, b, e) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad [] = 6: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; in x int8[4,N,6]; q = ShapeOf(x); const b int64[1] = -9; const e int64[1] = 2; "
     "y = StridedSlice(q, b, e) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; in x int8[4,N,6]; q = ShapeOf(x); const b int64[1] = 0; const e int64[1] = 2; "
     "const s int64[1] = 2; y = StridedSlice(q, b, e, s) shrink_axis_mask='1'; g: _ = Gather(y, z, z)",
     "g bad [] = 4: data is 0-D; Gather needs a rank of at least 1"},
    {IR,
     "const z int64[] = 0; in x int8[4,N,6]; q = ShapeOf(x); const b int64[1] = 0; const e int64[1] = 2; "
     "y = StridedSlice(q, b, e); g: _ = Gather(y, z, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; in x int8[4,N,6]; q = Shape(x); const b int64[1] = 1; const e int64[1] = 3; "
     "y = Slice(q, b, e); g: _ = Gather(y, z)",
     "g ok [2]"},
    {ONNX,
     "const z int64[] = 0; in x int8[4,N,6]; q = Shape(x); const b int64[1] = -1; const e int64[1] = -9; "
     "const s int64[1] = -1; const x0 int64[1] = 0; y = Slice(q, b, e, x0, s); g: _ = Gather(y, z)",
     "g ok [3]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 1,2,3,4; const b int64[1] = 3; const e int64[1] = -9; "
     "const s int64[1] = -2; const x0 int64[1] = 0; y = Slice(a, b, e, x0, s); g: _ = Gather(y, z)",
     "g ok [2] = 4,2"},
    {ONNX, "const z int64[] = 0; const a int64[4] = 1,2,3,4; y, w = Split(a); g: _ = Gather(y, z); h: _ = Gather(w, z)",
     "g ok [2] = 1,2\n"
     "h ok [2] = 3,4"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 1,2,3,4; const p int64[2] = 1,3; y, w = Split(a, p); "
     "g: _ = Gather(y, z); h: _ = Gather(w, z)",
     "g ok [1] = 1\n"
     "h ok [3] = 2,3,4"},
    {ONNX,
     "const z int64[] = 0; in a int64[N]; const p int64[2] = 1,3; y, w = Split(a, p); g: _ = Gather(y, z); "
     "h: _ = Gather(w, z)",
     "g ok [1]\n"
     "h ok [3]"},
    {ONNX,
     "const z int64[] = 0; const a int64[4] = 1,2,3,4; const p int64[2] = -1,5; y, w = Split(a, p); "
     "g: _ = Gather(y, z); h: _ = Gather(w, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [5]"},
    {IR,
     "const z int64[] = 0; const a int64[4] = 1,2,3,4; const p int64[2] = -1,1; y, w = VariadicSplit(a, z, p); "
     "g: _ = Gather(y, z, z); h: _ = Gather(w, z, z)",
     "g ok [3] = 1,2,3\n"
     "h ok [1] = 4"},
    {IR,
     "const z int64[] = 0; const a int64[4] = 1,2,3,4; const p int64[2] = -1,-1; y, w = VariadicSplit(a, z, p); "
     "g: _ = Gather(y, z, z); h: _ = Gather(w, z, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [?]: the length of the data 'w' along axis 0 is not known"},
    {IR,
     "const z int64[] = 0; const a int64[4] = 1,2,3,4; const p int64[2] = -1,5; y, w = VariadicSplit(a, z, p); "
     "g: _ = Gather(y, z, z); h: _ = Gather(w, z, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [5]"},
    {IR,
     "const z int64[] = 0; in a int64[?]; const p int64[2] = -1,1; y, w = VariadicSplit(a, z, p); "
     "g: _ = Gather(y, z, z); h: _ = Gather(w, z, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known\n"
     "h ok [1]"},
    /* lengths that are stretched or added */
    {ONNX, "const z int64[] = 0; in a int8[1..5]; in b int8[3]; y = Add(a, b); g: _ = Gather(y, z)", "g ok [3]"},
    {ONNX, "const z int64[] = 0; in a int8[3]; in b int8[1..5]; y = Add(a, b); g: _ = Gather(y, z)", "g ok [3]"},
    {ONNX, "const z int64[] = 0; in a int8[1..5]; in b int8[1..5]; y = Add(a, b); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; in a int8[0]; in b int8[?]; y = Add(a, b); g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const z int64[] = 0; in a int8[?]; in b int8[0]; y = Add(a, b); g: _ = Gather(y, z)",
     "g bad [0]: indices = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may "
     "have produced an empty tensor"},
    {ONNX, "const z int64[] = 0; in a int8[N]; in b int8[N]; y = Add(a, b); g: _ = Gather(y, z)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "const z int64[] = 0; in a int8[N]; in b int8[M]; y = Add(a, b); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; in a int8[1]; in b int8[N]; y = Add(a, b); g: _ = Gather(y, z)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "const z int64[] = 0; in a int8[?]; in b int8[1]; y = Add(a, b); g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; in a int8[0]; in b int8[N]; y = Concat(a, b) axis=0; g: _ = Gather(y, z)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "const z int64[] = 0; in a int8[N]; in b int8[0]; y = Concat(a, b) axis=0; g: _ = Gather(y, z)",
     "g unknown [N]: the data 'y' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "const z int64[] = 0; in a int8[2]; in b int8[?]; y = Concat(a, b) axis=0; g: _ = Gather(y, z)",
     "g unknown [2..]: the length of the data 'y' along axis 0 is not known"},
    {ONNX, "const z int64[] = 0; in a int8[1..5]; in b int8[2..3]; y = Concat(a, b) axis=0; g: _ = Gather(y, z)",
     "g unknown [3..8]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; in a int8[9223372036854775807]; in b int8[9223372036854775807]; y = Concat(a, b) axis=0; "
     "g: _ = Gather(y, z)",
     "g unknown [?]: the length of the data 'y' along axis 0 is not known"},
    {ONNX,
     "const z int64[] = 0; in a int8[1..9223372036854775806]; in b int8[5]; y = Concat(a, b) axis=0; "
     "g: _ = Gather(y, z)",
     "g unknown [6..]: the length of the data 'y' along axis 0 is not known"},
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
  if (status == GATHER_OK) status = draw(operands, error);
  gather_model_operands_destroy(operands);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

static gather_status write_text(const gather_check *check, gather_error *error) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_check_advice *advice = NULL;
  char *text = NULL;
  gather_status status = gather_check_advise(check, &advice, error);
  options.advice = advice;
  if (status == GATHER_OK) status = gather_check_text(check, &options, &text, NULL, error);
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
  graph_text_read(&t, c->dialect == IR, c->graph);
  options.inputs = t.given, options.input_count = t.given_count;
  options.dims = t.dims, options.dim_count = t.dim_count;
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_check(model, &options, &check, error);
  *text = 0;
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_count(check); i++) {
    if (i) strcat(text, "\n");
    print_node(text + strlen(text), gather_check_at(check, i));
  }
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_contradiction_count(check); i++)
    strcat(strcat(text, "\n"), gather_check_contradiction(check, i));
  if (status == GATHER_OK && !fits(text, c->wanted)) {
    print_error("%s\n---\n%s\n\n", c->graph, text);
    status = gather_fail(error, GATHER_USAGE, "not as wanted");
  }
  if (status == GATHER_OK) status = write_text(check, error);
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_count(check); i++)
    status = find(model, gather_check_at(check, i), &options, error);
  gather_check_destroy(check);
  gather_model_close(model);
  return status;
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
  for (size_t i = 0; i < COUNT(CASES); i++) assert_true(fail_each(use_case, &CASES[i], GATHER_OK) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
