/* SPDX-License-Identifier: MIT
 *
 * test_check_graphs.c: what a check finds in nested graphs, functions, and graphs that are written in unusual ways.
 */
#include "model/unit/check_case.h"

static const check_case CASES[] = {
    /* If */
    {ONNX,
     "y = If(bool 1) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; const b int64[3] = 4,5,6 }; g: _ = Gather(y, 0)",
     "g ok [2] = 4,5"},
    {ONNX,
     "in c bool[]; y = If(c) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; const b int64[3] = 4,5,6 }; "
     "g: _ = Gather(y, 0)",
     "g unknown [2..3]" NO_LENGTH("y")},
    {ONNX,
     "in c bool[]; y = If(c) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; const b int64[1,3] = 4,5,6 }; "
     "g: _ = Gather(y, 0)",
     "g unknown none" NO_SHAPE("y")},
    {ONNX,
     "in c bool[]; y, w = If(c) then_branch={ out a; const a int64[2] = 4,5 } else_branch={ out b; const b int32[2] = 4,5 }; "
     "g: _ = Gather(y, 0); h: _ = Gather(w, 0)",
     "g ok [2]\nh unknown none: the shape of the data 'w' is not known"},
    {ONNX,
     "in c bool[]; const z int64[] = 7; in x int8[5]; f: y = If(c) then_branch={ out a; g: a = Gather(x, z) } else_branch={ out b; "
     "h: b = Gather(x, z) axis=3 }",
     "g unknown [5]: the condition 'c' of If 'f' decides whether the node is executed, and is not known; "
     "if executed: indices = 7 is outside [-5, 4] of axis 0*\n"
     "h unknown [5]: the condition 'c' of If 'f' decides whether the node is executed, and is not known; if executed: axis 3 is outside "
     "[-1, "
     "0] (Gather of data of rank 1)"},
    {ONNX,
     "const c bool[1] = 0; const z int64[] = 7; in x int8[5]; f: y = If(c) then_branch={ out a; g: a = Gather(x, z) } "
     "else_branch={ out b; h: b = Gather(x, z) }",
     "g unknown [5]: not executed: the condition 'c' of If 'f' is false\n"
     "h bad [5]: indices = 7 is outside [-5, 4] of axis 0*; the largest index is 7 and the axis has length 5: the indices may belong to a "
     "longer axis"},
    {ONNX,
     "in c bool[]; give c bool[] = 1; const z int64[] = 7; in x int8[5]; y = If(c) then_branch={ out a; g: a = Gather(x, z) } "
     "else_branch={ out b; h: b = Gather(x, z) }",
     "g bad [5]: indices = 7 is outside [-5, 4] of axis 0*; the largest index is 7 and the axis has length 5: the indices may belong to a "
     "longer axis\n"
     "h unknown [5]: not executed: the condition 'c' of If is true"},
    {ONNX, "in c bool[]; y = If(c) then_branch={ out a; const a int64[2] = 4,5 }; g: _ = Gather(y, 0)", "g unknown none" NO_SHAPE("y")},
    {ONNX,
     "in i int64[2]; const z int64[] = 0; in c bool[]; in x int8[5]; y = If(c) then_branch={ out a; g: a = Gather(x, i) } "
     "else_branch={ out b; h: b = Gather(a, z) }",
     "g unknown [5]: the indices come from the input 'i', which was not given\n"
     "h unknown none: the shape of the data 'a' is not known"},
    /* Loop */
    {ONNX,
     "in x int8[5]; v, s = Loop(3, _, x) body={ in n int64[]; in k bool[]; in p int8*; out kk; out pp; out ss; kk = Identity(k); "
     "pp = Identity(p); g: ss = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g ok [5]: the indices 'n' are computed when the model runs, and always in [0, 2]\nh ok [5]\ni ok [3]"},
    {ONNX,
     "in x int8[5]; v, s = Loop(6, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out p; out ss; g: ss = Gather(p, n) }; "
     "h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g unknown [5]: the indices come from 'n', an input of main/Loop_0/body\nh ok [5]\ni ok [6]"},
    {ONNX,
     "in x int8[5]; v, s = Loop(3, bool 1, x) body={ in n int64[1]; in k bool[1]; in p int8*; out kk; out pp; out n; const kk bool[] = 1; "
     "pp = Concat(p, p) axis=0 }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "h unknown [?]: the length of the data 'v' along axis 0 is not known\ni ok [3,1]"},
    {ONNX,
     "in x int8[5]; l: v, s = Loop(3, bool 1, x) body={ in n int64[]; in k bool[]; in p int8*; out kk; out pp; out n; "
     "const kk bool[] = 1; pp = Unsqueeze/11(p) axes=[0] }; h: _ = Gather(v, 0)",
     "h unknown none" NO_SHAPE("v")},
    {ONNX,
     "const m int64[] = 0; in x int8[5]; l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out pp; out n; "
     "g: pp = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g unknown [5]: not executed: the trip count 'm' is 0 in Loop 'l'\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "const m int64[] = -1; in x int8[5]; l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out pp; out n; "
     "g: pp = Gather(p, n) }; h: _ = Gather(v, 0); i: _ = Gather(s, 0)",
     "g unknown [5]: not executed: the trip count 'm' is -1 in Loop 'l'\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in m int64[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(m, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; "
     "out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [?]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in m int64[]; in t bool[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p int8*; "
     "out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [?]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in t bool[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(_, t, x) body={ in n int64[]; in k bool[]; in p int8*; out k; "
     "out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [?]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "const t bool[] = 0; in x int8[5]; const z int64[] = 9; l: v, s = Loop(_, t, x) body={ in n int64[]; in k bool[]; in p int8*; out k; "
     "out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown [5]: not executed: the condition 't' is false in Loop 'l'\n"
     "h bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the indices may belong to a "
     "longer axis\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in m int64[]; const t bool[] = 0; in x int8[5]; const z int64[] = 9; l: v, s = Loop(m, t, x) body={ in n int64[]; in k bool[]; "
     "in p int8*; out k; out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown [5]: not executed: the condition 't' is false in Loop 'l'\n"
     "h bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the indices may belong to a "
     "longer axis\n"
     "i unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in t bool[]; in x int8[5]; const z int64[] = 9; l: v, s = Loop(4, t, x) body={ in n int64[]; in k bool[]; in p int8*; out k; "
     "out pp; out n; g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'p' is not known\n"
     "h unknown none: the shape of the data 'v' is not known\n"
     "i unknown [0..4]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in x int8[5]; const z int64[] = 9; l: v, s = Loop(_, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out p; out n; "
     "g: pp = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the indices may belong to a "
     "longer axis\n"
     "h bad [5]: indices = 9 is outside [-5, 4] of axis 0*; the largest index is 9 and the axis has length 5: the indices may belong to a "
     "longer axis\n"
     "i unknown [1..]: the length of the data 's' along axis 0 is not known"},
    {ONNX,
     "in x int8[5]; const z int64[] = 1; l: v, s = Loop(1, _, x) body={ in n int64[]; in k bool[]; in p int8*; out k; out pp; out n; "
     "pp = Concat(p, p) axis=0; g: _ = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g ok [5]\n"
     "h ok [10]\n"
     "i bad [1]: indices = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "l: v, s = Loop(2, _, [1,2]) body={ in n int64[]; in k bool[]; in p int64*; out k; out pp; out p; pp = Add(p, p) }; "
     "h: _ = Gather(v, 1); i: _ = Gather(s, 1)",
     "h ok [2]\ni ok [2,2]"},
    {ONNX, "l: v, s = Loop(2, _, [1,2]); h: _ = Gather(v, 1)", "h unknown none" NO_SHAPE("v")},
    {ONNX, "in x int8[5]; l: v = Loop(_, _, x) body={ in n int64[]; in k bool[] }; h: _ = Gather(v, 9)", "h unknown none" NO_SHAPE("v")},
    {ONNX,
     "in x int8[5]; const z int64[] = 0; l: v = com.example.Repeat(x) body={ in n int64[]; out o; g: o = Gather(n, z); "
     "h: _ = Gather(x, z) }; i: _ = Gather(v, z)",
     "g unknown []: the shape of the data 'n' is not known\n"
     "h ok [5]\n"
     "i unknown none: the shape of the data 'v' is not known"},
    /* Scan */
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; v, s = Scan(a, x) num_scan_inputs=1 body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g ok [5]\nh ok [4]\ni ok [4]\nj ok [7,5]"},
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; v, s = Scan(a, x) num_scan_inputs=1 scan_input_axes=[1] scan_output_axes=[-1] "
     "body={ in p; in q; out pp; out q; pp = Concat(p, p) axis=0; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); "
     "j: _ = Gather(s, z)",
     "g ok [7]\n"
     "h unknown [?]: the length of the data 'p' along axis 0 is not known\n"
     "i unknown [?]: the length of the data 'v' along axis 0 is not known\n"
     "j ok [7,5]"},
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; v, s = Scan(a, x) num_scan_inputs=1 scan_input_axes='1' scan_output_axes='0' "
     "body={ in p; in q; out p; out q; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'q' is not known\n"
     "h ok [4]\n"
     "i ok [4]\n"
     "j unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in a int8[4]; in x int8[7,5]; const z int64[] = 0; v, s = Scan(a, x) num_scan_inputs=1 scan_input_axes=[2] scan_output_axes=[3] "
     "body={ in p; in q; out p; out q; g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown none: the shape of the data 'q' is not known\n"
     "h ok [4]\n"
     "i ok [4]\n"
     "j unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in a int8[4]; in x int8[0,5]; const z int64[] = 9; v, s = Scan(a, x) num_scan_inputs=1 body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown [5]: not executed: the input 'x' has the length 0 in Scan\n"
     "h unknown [4]: not executed: the input 'x' has the length 0 in Scan\n"
     "i bad [4]: indices = 9 is outside [-4, 3] of axis 0*; the largest index is 9 and the axis has length 4: the indices may belong to a "
     "longer axis\n"
     "j unknown none: the shape of the data 's' is not known"},
    {ONNX,
     "in a int8[4]; in x int8[N,5]; const z int64[] = 9; v, s = Scan(a, x) num_scan_inputs=1 body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z); j: _ = Gather(s, z)",
     "g unknown [5]: the length of the input 'x' of Scan decides whether the node is executed, and is not known; "
     "if executed: indices = 9 is outside [-5, 4] of axis 0*\n"
     "h unknown [4]: the length of the input 'x' of Scan decides whether the node is executed, and is not known; "
     "if executed: indices = 9 is outside [-4, 3] of axis 0*\n"
     "i bad [4]: indices = 9 is outside [-4, 3] of axis 0*; the largest index is 9 and the axis has length 4: the indices may belong to a "
     "longer axis\n"
     "j unknown [N,5]: the data 's' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX,
     "in a int8[N,4]; in x int8[7,5]; const z int64[] = 4; v, s = Scan(a, x) num_scan_inputs=2 body={ in p; in q; out p; out q; "
     "g: _ = Gather(q, z); h: _ = Gather(p, z) }; i: _ = Gather(v, z) axis=1; j: _ = Gather(s, z)",
     "g ok [5]\n"
     "h bad [4]: indices = 4 is outside [-4, 3] of axis 0*; the index equals the length of the axis: the indices may count from 1\n"
     "i bad [7,4]: indices = 4 is outside [-4, 3] of axis 1*; the index equals the length of the axis: the indices may count from 1\n"
     "j ok [7,5]"},
    {ONNX,
     "in x int8[7,5]; const z int64[] = 4; v, s = Scan(x) num_scan_inputs=2 body={ in p; in q; out p; out q; g: _ = Gather(q, z); "
     "h: _ = Gather(p, z) }; i: _ = Gather(v, z)",
     "g unknown none: the shape of the data 'q' is not known\n"
     "h unknown none: the shape of the data 'p' is not known\n"
     "i unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8[7,5]; const z int64[] = 4; v = Scan/8(_, x) num_scan_inputs=1 body={ in p; out p; h: _ = Gather(p, z) }; "
     "i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\ni unknown none: the shape of the data 'v' is not known"},
    {ONNX, "in x int8*; const z int64[] = 4; v = Scan(x) num_scan_inputs=1 body={ in p; out p; h: _ = Gather(p, z) }; i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\ni unknown none: the shape of the data 'v' is not known"},
    {ONNX,
     "in x int8[3]; const z int64[] = 4; v = Scan(x) num_scan_inputs='1' body={ in p; out p; h: _ = Gather(p, z) }; i: _ = Gather(v, z)",
     "h unknown none: the shape of the data 'p' is not known\ni unknown none: the shape of the data 'v' is not known"},
    /* functions */
    {ONNX,
     "in x int8[5]; const z int64[] = 6; f: y = local.F(x, z); g: _ = Gather(y, z); fun local.F { in a; in b; out c; h: c = Gather(a, b); "
     "c2 = Identity(c) }",
     "h bad [5]: indices = 6 is outside [-5, 4] of axis 0*; the largest index is 6 and the axis has length 5: the indices may belong to a "
     "longer axis\n"
     "g bad []: data is 0-D; Gather needs a rank of at least 1"},
    {ONNX, "in x int8[5,2]; f: y = local.F(x, 3); fun local.F { in a; in b; out c; default axis=1; h: c = Gather(a, b) axis=@axis }",
     "h bad [5,2]: indices = 3 is outside [-2, 1] of axis 1*; the largest index is 3 and the axis has length 2: the indices may belong to "
     "a longer axis"},
    {ONNX, "in x int8[5,2]; f: y = local.F(x, 3) axis=0; fun local.F { in a; in b; out c; default axis=1; h: c = Gather(a, b) axis=@axis }",
     "h ok [5,2]"},
    {ONNX, "in x int8[5,2]; g: y = Gather(x, 3); fun local.F { in a; in b; out c; h: c = Gather(a, b) axis=@axis }",
     "g ok [5,2]\nh unknown none: not executed: no call leads to this function"},
    {ONNX,
     "in x int8[5,2]; f: y = local.F(x, 3); fun local.F { in a; in b; out c; h: c = Gather(a, b) }; fun local.F { in a; out c; "
     "i: c = Gather(a, a) }",
     "h unknown none: two functions of the model have this name\n"
     "i unknown none: two functions of the model have this name"},
    {ONNX,
     "in x int8[5,2]; f: y = local.F(x, 3); fun local.F { in a; in b; out c; h: c = Gather(a, b) }; fun other.F { in a; out c; "
     "i: c = Gather(a, a) }",
     "h ok [5,2]\ni unknown none: not executed: no call leads to this function"},
    {ONNX, "in x int8[5,2]; f: y, w = local.F(x); fun local.F { in a; in b; out c; h: c = Gather(a, b) }; g: _ = Gather(w, 3)",
     "h unknown [5,2]: the indices come from 'b', an input of main/f/function:F\n"
     "g unknown none: the shape of the data 'w' is not known"},
    {ONNX, "in x int8[5,2]; in i int64[1]; f: y = local.F(x, i); fun local.F { in a; in b; out c; h: c = Gather(a, b) }",
     "h unknown [5,2]: the indices 'b' come from the input 'i', which was not given"},
    {ONNX,
     "in x int8[5,2]; const z int64[] = 4; l: v = Loop(2, _, x) body={ in n int64[]; in k bool[]; in p; out k; out q; "
     "f: q = local.F(p, z) }; fun local.F { in a; in b; out c; h: _ = Gather(a, b); c = Identity(a) }",
     "h ok [5,2]"},
    /* graphs: order, declarations, bodies of OpenVINO */
    {ONNX, "g: _ = Gather(y, 1); y = Identity([5,6])", "g ok [2] = 5,6"},
    {ONNX,
     "in c bool[]; const z int64[] = 1; w = If(c) then_branch={ out a; g: a = Gather(y, z) } else_branch={ out b; b = Identity(y) }; "
     "y = Identity([5,6])",
     "g ok [2] = 5,6"},
    {ONNX, "y = Identity(x); const x int64[2] = 5,6; info y int64[3]; g: o = Gather(y, 1); out o int64[4]; info o int64*; info x int64[9]",
     "g ok [2] = 5,6\n"
     "the value 'y' of main is declared [3], but is [2]\n"
     "the value 'o' of main is declared [4], but is []"},
    {ONNX,
     "in x int64[N]; y = Relu(x); info y int64[N]; g: _ = Gather(y, 1); dim N 4; w = Own(x); info w int64[7]; h: _ = Gather(w, 1); "
     "v = Own(x); info v int64[N,K]; k: _ = Gather(v, 1) axis=1; l: _ = Gather(v, 1) axis=-1; u = Own(x); info u int64[M]; "
     "m: _ = Gather(u, 1); dim M 5",
     "g ok [4]\n"
     "h unknown [7]: the length 7 of the data 'w' along axis 0 is only declared: runtimes do not enforce it\n"
     "k unknown [4,K]: the data 'v' has the length 'K' along axis 1, a dimension that was not given\n"
     "l unknown [4,K]: the data 'v' has the length 'K' along axis -1, a dimension that was not given\n"
     "m unknown [5]: the length 5 of the data 'u' along axis 0 is only declared: runtimes do not enforce it"},
    {ONNX,
     "in x int64[N]; y = Own(x); info y int64[0..9]; g: _ = Gather(y, 1); w = Own(x); info w int64[K]; h: _ = Gather(w, 1); "
     "in q int64[N]; give q int64[3] = 1,2,3; k: _ = Gather(x, 1); l: _ = Gather(q, 1)",
     "g unknown [0..9]: the length of the data 'y' along axis 0 is not known\n"
     "h unknown [K]: the data 'w' has the length 'K' along axis 0, a dimension that was not given\n"
     "k unknown [3]: the length 3 of the data 'x' along axis 0 is only declared: runtimes do not enforce it\n"
     "l ok [3] = 1,2,3"},
    {ONNX,
     "in x int64[N]; const z int64[] = 1; v, s = Loop(2, _, x) body={ in n int64[]; in k bool[]; in p int64[7]; out k; out q int64[2]; "
     "out r; q = Identity(p); r = Identity(p); g: _ = Gather(p, z) }; h: _ = Gather(v, z); i: _ = Gather(s, z)",
     "g unknown [7]: the length 7 of the data 'p' along axis 0 is only declared: runtimes do not enforce it\n"
     "h unknown [N]: the data 'v' has the length 'N' along axis 0, a dimension that was not given\n"
     "i ok [2,N]"},
    {ONNX,
     "in x int64[N]; in q int64[N]; in w int64[M]; const z int64[] = 1; v, u, t = Loop(2, _, x, q, w) body={ in n int64[]; in k bool[]; "
     "in a; in b; in c; out k; out b2; out a2; out c2; b2 = Relu(b); a2 = Relu(a); c2 = Concat(c, z1) axis=0; const z1 int64[1] = 1; "
     "g: _ = Gather(a, z) }; h: _ = Gather(v, z); i: _ = Gather(t, z)",
     "g unknown [N]: the data 'a' has the length 'N' along axis 0, a dimension that was not given\n"
     "h unknown [N]: the data 'v' has the length 'N' along axis 0, a dimension that was not given\n"
     "i unknown [1..]: the length of the data 't' along axis 0 is not known"},
    {IR,
     "in x int8[3]; y, w = If(boolean 1) then_body={ in p int8[3] < x; out p > 1; q = Relu(p); out q > 0 } else_body={ in p int8[3] < x; "
     "out p > 0 }; g: _ = Gather(y, 0, 0); h: _ = Gather(w, 0, 0)",
     "g ok [3]\nh ok [3]"},
    {IR,
     "in x int8[3,2]; const z int64[] = 4; const zz int64[] = 0; y = Loop(z) body={ in p int8[3,2] < x; in q int8*; "
     "in r int8[1] < nobody; g: s = Gather(p, z, zz); out s > 0 }; h: _ = Gather(y, zz, zz)",
     "g ok [3,2]: 1 of 1 indices is out of range: zeros under the rules openvino-8\n"
     "h unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const t bool[] = 1; const f bool[] = 0; const m int64[] = 3; in x int8[5]; v, s = Loop(m, t, x) body={ in n int64[]; in k bool[]; "
     "in p; out f; out p; out n }; h: _ = Gather(s, 0); w, r = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p; out g; out p; out n; "
     "g = Identity(t) }; i: _ = Gather(r, 0); b, e = Loop(m, t, x) body={ in n int64[]; in k bool[]; in p; out g; out p; out n; "
     "g = Own(t) }; j: _ = Gather(e, 0)",
     "h unknown [1..3]: the length of the data 's' along axis 0 is not known\n"
     "i ok [3]\n"
     "j unknown [1..3]: the length of the data 'e' along axis 0 is not known"},
    {ONNX,
     "const c bool[] = 0; in x int8[5]; const z int64[] = 7; y = If(c) then_branch={ out a; a = If(c) then_branch={ out d; "
     "g: d = Gather(x, z) } else_branch={ out d; h: d = Gather(x, z) } } else_branch={ out b; in d bool[]; b = If(e) then_branch={ out q; "
     "i: q = Gather(x, z) } else_branch={ out x } }; in e bool[]",
     "g unknown [5]: not executed: the condition 'c' of If is false\n"
     "h unknown [5]: not executed: the condition 'c' of If is false\n"
     "i unknown [5]: the condition 'e' of If decides whether the node is executed, and is not known; if executed: indices = 7 is outside "
     "[-5, "
     "4] of axis 0*"},
    {ONNX,
     "in i int64[2]; in x int8[4]; p = Own(i); q = Add(p, i); r = Own(q, i); g: _ = Gather(x, r); s = Identity(i); h: _ = Gather(x, s); "
     "in j any[2]; k: _ = Gather(x, j); in e bool[]; in n int64[]; t = If(e) then_branch={ out a; a = Mod(i, n) } else_branch={ out i }; "
     "l: _ = Gather(x, t)",
     "g unknown [4]: the indices 'r' are computed by Own '' when the model runs\n"
     "h unknown [4]: the indices 's' are computed by Identity '' when the model runs\n"
     "k unknown [4]: the indices come from the input 'j', which was not given\n"
     "l unknown [4]: the indices 't' are computed by If '' when the model runs"},
    {ONNX,
     "in x int8[A,B,C]; in i int64[2]; g: _ = Gather(x, 1) axis=1; h: _ = Gather(x, i) axis=2; y = Transpose(x); k: _ = Gather(y, 1); "
     "w = Own(x); l: _ = Gather(w, 1); in n int64[]; s = Unsqueeze/11(n) axes=[0]; v = ConstantOfShape(s); m: _ = Gather(v, 1)",
     "g unknown [A,B,C]: the data 'x' has the length 'B' along axis 1, a dimension that was not given\n"
     "h unknown [A,B,C]: the indices come from the input 'i', which was not given\n"
     "k unknown [C,B,A]: the data 'y' has the length 'C' along axis 0, a dimension that was not given\n"
     "l unknown none: the shape of the data 'w' is not known\n"
     "m unknown [?]: the length of the data 'v' along axis 0 is not known"},
    {ONNX,
     "in x int8[5]; in c bool[]; const z int64[] = 1; const big int64[] = 9; y = If(c) then_branch={ out a; g: a = Gather(x, big); "
     "h: _ = Gather(x, z) } else_branch={ out b; in n int64[]; b = Loop(n, _, x) body={ in r int64[]; in k bool[]; in p; out k; out q; "
     "i: q = Gather(x, big) } }",
     "g unknown [5]: the condition 'c' of If decides whether the node is executed, and is not known; "
     "if executed: indices = 9 is outside [-5, 4] of axis 0*\n"
     "h ok [5]\n"
     "i unknown [5]: the condition 'c' of If decides whether the node is executed, and is not known; if executed: indices = 9 is outside "
     "[-5, "
     "4] of axis 0*"},
};

int main(void) { return check_cases_run(CASES, COUNT(CASES)); }
