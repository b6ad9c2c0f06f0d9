/* SPDX-License-Identifier: MIT
 *
 * test_check_verdicts.c: verdicts of a check and their reasons; quantised data, and GatherTree.
 */
#include "model/unit/check_case.h"

static const check_case CASES[] = {
    /* verdicts: what is wrong with a node, or not known of it */
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; g: _ = Gather(x, _)", "g bad [3,4]: the node has no indices"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(_, [1])", "g bad none: the node has no data"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; g: _ = Gather(x)", "g bad [3,4]: the node has no indices"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; in c bool[]; y = If(c) then_branch={ out a; g: a = Gather(x, _) } else_branch={ out x }",
     "g bad [3,4]: the node has no indices"},
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; g: _ = Gather(x, float32[1])", "g bad [3,4]: indices of type float32 are not integers"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) axis=2", "g bad [3,4]: axis 2 is outside [-2, 1] (Gather of data of rank 2)"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) axis='x'", "g bad [3,4]: attribute 'axis' must have type INT, not STRING"},
    {ONNX, "in x int8[3,4]; g: _ = Gather(x, [1]) batch_dims=1",
     "g bad [3,4]: the node has the attribute 'batch_dims', but Gather onnx-13 has no such attribute"},
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
    {ONNX, "in x int8[3,4]; const i int64[1] = 1; const j int64[2,2] = 0,1,2,3; g: _ = GatherElements(x, j) axis=1", "g ok [3,4]"},
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
     "g bad [1,4]: indices[0, 0] = 1, component 0 of tuple [0], is outside [-1, 0] of axis 0 (GatherND onnx-13); 1 of 2 indices is bad; "
     "the index equals the length of the axis: the indices may count from 1"},
    {ONNX, "in x int8[4,9]; const j int64[2,2] = 7,1,8,3; g: _ = GatherND(x, j)",
     "g bad [4,9]: indices[0, 0] = 7, component 0 of tuple [0], is outside [-4, 3] of axis 0 (GatherND onnx-13); 2 of 4 indices are bad; "
     "the numbers of the tuples may be in the wrong order: those for axis 0 are in range on axis 1, and the other way round"},
    {ONNX, "in x int8[2,3,4]; in j int64[2,1]; g: _ = GatherND(x, j) batch_dims=1",
     "g unknown [2,3,4]: the indices come from the input 'j', which was not given"},
    {ONNX, "in x int8[2,3,4]; const j int64[2,1] = 1,2; g: _ = GatherND(x, j) batch_dims=1", "g ok [2,3,4]"},
    {ONNX, "in x int8[N,3,4]; const j int64[2,1] = 1,2; g: _ = GatherND(x, j) batch_dims=1",
     "g unknown [N,3,4]: whether the lengths of the indices 'j' fit those of the data 'x' is not known"},
    {ONNX, "in x int8[2,3,4]; g: _ = GatherND(x, [1]) batch_dims=1",
     "g bad [2,3,4]: batch_dims 1 is outside [0, 0]: data and indices must have more dimensions"},
    {ONNX, "in x int8[2,3]; f: y = local.F(x, [1]); fun local.F { in a; in b; out c; h: c = GatherND(a, b) batch_dims=@bd }", "h ok [2,3]"},
    {ONNX,
     "in x int8[2,3]; g: _ = Gather(x, [1]); fun local.F { in a; in b; out c; h: c = GatherND(a, b) batch_dims=@bd; "
     "k: d = Gather(a, b) axis=@ax }",
     "g ok [2,3]\n"
     "h unknown none: not executed: no call leads to this function\n"
     "k unknown none: not executed: no call leads to this function"},
    {ONNX,
     "const x int8[3] gone; const i int64[1] = 1; g: _ = Gather(x, i); const j int64[1] gone; h: _ = Gather(x, j); k = Add(j, i); "
     "l: _ = Gather(x, k); s = Shape(x); m: _ = Gather(s, i)",
     "g ok [3]\n"
     "h unknown [3]: the indices 'j' cannot be read: the elements are gone\n"
     "l unknown [3]: the indices 'k' cannot be read: the elements are gone\n"
     "m bad [1] = 3: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {IR,
     "const x int8[3] = 1,2,3; const i int64[1] = 1; const a int64[] gone; g: _ = Gather(x, i, a); in b int64[]; h: _ = Gather(x, i, b); "
     "in j int64[1]; k: _ = Gather(x, j, a)",
     "g unknown [3] = 1,2,3: the axis 'a' cannot be read: the elements are gone\n"
     "h unknown [3] = 1,2,3: the axis is not known before the model runs\n"
     "k unknown [3] = 1,2,3: the indices come from the input 'j', which was not given"},
    {IR, "const x int8[3] = 1,2,3; const i int64[3] = 1,5,-9; g: _ = Gather(x, i, 0); h: _ = Gather/7(x, i, 0); l: _ = Gather/1(x, i, 0)",
     "g ok [3] = 1,2,3: 2 of 3 indices are out of range: zeros under the rules openvino-8\n"
     "h bad [3] = 1,2,3: indices[1] = 5 is outside [0, 2] of axis 0 (Gather openvino-7); 2 of 3 indices are bad\n"
     "l bad [3] = 1,2,3: indices[1] = 5 is outside [0, 2] of axis 0 (Gather openvino-1); 2 of 3 indices are bad"},
    {ONNX, "in x int8[3]; a = Relu(b); b = Relu(a); g: _ = Gather(x, b); h: _ = Gather(x, nobody); k: _ = Gather(nobody, x)",
     "h unknown [3]: nothing in the model produces the indices 'nobody'\n"
     "k unknown none: the indices come from the input 'x', which was not given\n"
     "g unknown [3]: the indices 'b' are computed by Relu '' when the model runs"},
    {ONNX,
     "in x int8[3]; const i int64[1,1] = 2; e = Expand(i, [100000,1000]); g: _ = Gather(x, e); h: _ = Gather(x, e); k: _ = Gather(x, e)",
     "g unknown [3]: the indices 'e' are 100000000 repeated elements, too many to check\n"
     "h unknown [3]: the indices 'e' are 100000000 repeated elements, too many to check\n"
     "k unknown [3]: the indices 'e' are 100000000 repeated elements, too many to check"},
    {ONNX, "in x int8[3]; const i int64[1,2] = 2,3; e = Expand(i, [4,2]); g: _ = Gather(x, e)",
     "g bad [3]: indices[0, 1] = 3 is outside [-3, 2] of axis 0 (Gather onnx-13); 4 of 8 indices are bad; the largest index equals the "
     "length of the axis: the indices may count from 1"},
    {ONNX, "const x int8[0] =; g: _ = Gather(x, [0]); h: _ = Gather(x, [])",
     "g bad [0]: indices[0] = 0 cannot be in range: axis 0 has length 0*; the axis has no elements: an earlier node may have produced an "
     "empty tensor\n"
     "h ok [0]"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, uint64[18446744073709551615])",
     "g bad [3]: indices[0] = 18446744073709551615 is outside [-3, 2] of axis 0*; an index this large is probably uninitialised memory"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, [9223372036854775807])",
     "g bad [3]: indices[0] = 9223372036854775807 is outside [-3, 2] of axis 0*; an index this large is probably uninitialised memory"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, [-9223372036854775808])",
     "g bad [3]: indices[0] = -9223372036854775808 is outside [-3, 2] of axis 0*; an index this large is probably uninitialised memory"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, uint32[4294967295])",
     "g bad [3]: indices[0] = 4294967295 is outside [-3, 2] of axis 0*; the largest index is 4294967295 and the axis has length 3: the "
     "indices may belong to a longer axis"},
    {ONNX, "in x float32[3]; const i int16[1] swapped = 256; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 256 is outside [-3, 2] of axis 0*; the largest index is 256 and the axis has length 3: the indices may "
     "belong to a longer axis"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, uint8[255])",
     "g bad [3]: indices[0] = 255 is outside [-3, 2] of axis 0*; the largest index is 255 and the axis has length 3: the indices may "
     "belong to a longer axis"},
    {ONNX, "in x float32[3]; const i int32[1] swapped = -1; g: _ = Gather(x, i)", "g ok [3]"},
    {ONNX, "in x float32[3]; const i uint16[1] swapped = 3; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 3 is outside [-3, 2] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX, "in x float32[3]; const i uint64[1] swapped = 18446744073709551614; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 18446744073709551614 is outside [-3, 2] of axis 0*; an index this large is probably uninitialised memory"},
    {ONNX, "in x float32[3]; const i uint32[1] swapped = 7; g: _ = Gather(x, i)",
     "g bad [3]: indices[0] = 7 is outside [-3, 2] of axis 0*; the largest index is 7 and the axis has length 3: the indices may belong to "
     "a longer axis"},
    {ONNX, "in x float32[3]; g: _ = Gather(x, int8[-4])",
     "g bad [3]: indices[0] = -4 is outside [-3, 2] of axis 0*; the smallest index is one below the valid range: the indices may be off by "
     "one"},
    {ONNX, "in x float32[3]; g: _ = Gather/1(x, [-1,2]); h: _ = Gather/1(x, [-2,1]); l: _ = Gather(x, [-4])",
     "g bad [3]: indices[0] = -1 is outside [0, 2] of axis 0 (Gather onnx-1); 1 of 2 indices is bad; "
     "-1 may mean padding or counting from the end, which these rules do not allow\n"
     "h bad [3]: indices[0] = -2 is outside [0, 2] of axis 0 (Gather onnx-1); 1 of 2 indices is bad; "
     "negative indices count from the end only in later versions of the operator\n"
     "l bad [3]: indices[0] = -4 is outside [-3, 2] of axis 0*; the smallest index is one below the valid range: the indices may be off by "
     "one"},
    {ONNX, "g: _ = Gather/1([1,2,3], [-1])",
     "g bad [3] = 1,2,3: indices[0] = -1 is outside [0, 2] of axis 0*; -1 may mean padding or counting from the end, which these rules do "
     "not allow"},
    {ONNX, "const x int64[200000] gone; g: _ = Gather/1(x, [-1])",
     "g bad [200000]: indices[0] = -1 is outside [0, 199999] of axis 0*; -1 may mean padding or counting from the end, which these rules "
     "do not allow"},
    {ONNX,
     "in x float32[5,2]; in q float32[50,2]; in a int64[2]; in b int64[2]; give a int64[2] = 40,41; give b int64[2] = 1,2; "
     "g: _ = Gather(x, a); h: _ = Gather(q, b)",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the inputs 'a' and 'b' may be swapped: these indices are in range for "
     "the table 'q' of the other node, which has 50 rows\n"
     "h ok [50,2]"},
    {ONNX,
     "in x float32[5,2]; in q float32[50,2]; in a int64[2]; in b int64[2]; give a int64[2] = 40,41; g: _ = Gather(x, a); "
     "h: _ = Gather(q, b)",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the inputs 'a' and 'b' may be swapped: these indices are in range for "
     "the table 'q' of the other node, which has 50 rows\n"
     "h unknown [50,2]: the indices come from the input 'b', which was not given"},
    {ONNX,
     "in x float32[5,2]; in q float32[50,2]; in a int64[2]; in b int64[0]; give a int64[2] = 40,41; give b int64[0] =; "
     "g: _ = Gather(x, a); h: _ = Gather(q, b)",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the inputs 'a' and 'b' may be swapped: these indices are in range for "
     "the table 'q' of the other node, which has 50 rows\n"
     "h ok [50,2]"},
    {ONNX,
     "in x float32[5,2]; in q float32*; in a int64[2]; in b int64[2]; give a int64[2] = 40,41; g: _ = Gather(x, a); h: _ = Gather(q, b); "
     "k: _ = Gather/0(q, b); l: _ = Gather(x, b) axis=7",
     "g bad [5,2]: indices[0] = 40 is outside [-5, 4] of axis 0*; the table has 5 rows and the largest id is 41: it may belong to another "
     "vocabulary\n"
     "h unknown none: the indices come from the input 'b', which was not given\n"
     "k unknown none: no version of the operator set ai.onnx is imported; Gather exists since version 1\n"
     "l bad [5,2]: axis 7 is outside [-2, 1] (Gather of data of rank 2)"},
    {ONNX, "in x float32[5,2,2]; in a int64[2]; give a int64[2] = 4,7; g: _ = Gather(x, a); in s float32[3]; h: _ = Gather(s, [3])",
     "g bad [5,2,2]: indices[1] = 7 is outside [-5, 4] of axis 0 (Gather onnx-13); 1 of 2 indices is bad; "
     "the largest index is 7 and the axis has length 5: the indices may belong to a longer axis\n"
     "h bad [3]: indices[0] = 3 is outside [-3, 2] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "in x float32[5]; in a int64[1]; give a int64[1] = 1; in b int64[N]; dim N 3; g: _ = Gather(x, a); h: _ = Gather(b, a); "
     "k: _ = Gather(b, [3])",
     "g ok [5]\n"
     "h ok [3]\n"
     "k bad [3]: indices[0] = 3 is outside [-3, 2] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    /* verdicts: indices that stay in range, whatever they are */
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; y = Mod(i, 5); g: _ = Gather(d, y)",
     "g ok [5]" ALWAYS("y", "0, 4")},
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; y = Mod(i, 5) fmod=1; "
     "g: _ = Gather(d, y)",
     "g ok [5]" ALWAYS("y", "-4, 4")},
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; y = Mod(i, 5) fmod='x'; "
     "g: _ = Gather(d, y)",
     "g unknown [5]: the indices 'y' are computed by Mod '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; y = Mod(i, 0); "
     "g: _ = Gather(d, y)",
     "g unknown [5]: the indices 'y' are computed by Mod '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "y = Mod(i, i); g: _ = Gather(d, y)",
     "g unknown [5]: the indices 'y' are computed by Mod '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; a = Max(i, "
     "z); const four int64[] = 4; y = Min(a, four); g: _ = Gather(d, y); w = Sub(four, y); h: _ = Gather(d, w); v = Add(y, one); k: _ = "
     "Gather(d, v); u = Mul(y, z); l: _ = Gather(d, u); t = Div(y, one); n: _ = Gather(d, t); r = Neg(y); o: _ = Gather(d, r)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h ok [5]: the indices 'w' are computed when the model runs, and always in [0, 4]\n"
     "k unknown [5]: the indices 'v' are computed by Add '' when the model runs\n"
     "l ok [5]: the indices 'u' are computed when the model runs, and always in [0, 0]\n"
     "n ok [5]: the indices 't' are computed when the model runs, and always in [0, 4]\n"
     "o ok [5]: the indices 'r' are computed when the model runs, and always in [-4, 0]"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "const four int64[] = 4; y = Clip(i, z, four); g: _ = Gather(d, y); w = Clip(i, z); h: _ = Gather(d, w); v = Clip(i, _, four); "
     "k: _ = Gather(d, v); u = Clip/6(i); l: _ = Gather(d, u)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h unknown [5]: the indices 'w' are computed by Clip '' when the model runs\n"
     "k unknown [5]: the indices 'v' are computed by Clip '' when the model runs\n"
     "l unknown [5]: the indices 'u' are computed by Clip '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const m int64[] = -1; const z int64[] = 0; a = Mod(i, five); c = Sub(a, "
     "five); y = Div(c, five); g: _ = Gather(d, y); b = Mod(a, 1); h: _ = Gather(d, b); w = Mod(c, five) fmod=1; k: _ = Gather(d, w)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [-1, 0]\n"
     "h ok [5]: the indices 'b' are computed when the model runs, and always in [0, 0]\n"
     "k ok [5]: the indices 'w' are computed when the model runs, and always in [-4, 4]"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "y = ArgMax(d); g: _ = Gather(d, y); in e float32[7]; w = ArgMax(e); h: _ = Gather(d, w); in f float32[0..5]; v = ArgMin(f); "
     "k: _ = Gather(d, v); in u float32*; t = ArgMax(u); l: _ = Gather(d, t); s = ArgMax(d) axis='x'; m2: _ = Gather(d, s)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h unknown [5]: the indices 'w' are computed by ArgMax '' when the model runs\n"
     "k ok [5]: the indices 'v' are computed when the model runs, and always in [0, 4]\n"
     "l unknown [5]: the indices 't' are computed by ArgMax '' when the model runs\n"
     "m2 unknown [5]: the indices 's' are computed by ArgMax '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const five int64[] = 5; const one int64[] = 1; const m int64[] = -1; const z int64[] = 0; "
     "y = NonZero(d); g: _ = Gather(d, y); in e float32[N]; w = NonZero(e); h: _ = Gather(d, w); s = Size(e); k: _ = Gather(d, s)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h unknown [5]: the indices 'w' are computed by NonZero '' when the model runs\n"
     "k unknown [5]: the indices 's' are computed by Size '' when the model runs"},
    {ONNX,
     "in d float32[5]; in i int64[2]; const one int64[] = 1; const m int64[] = -1; in c boolean[2]; a = Mod(i, 5); y = Where(c, a, 0); "
     "g: _ = Gather(d, y); b = Cast(a) to=6; h: _ = Gather(d, b); e = Concat(a, i) axis=0; k: _ = Gather(d, e); "
     "f = Unsqueeze/11(a) axes=[0]; l: _ = Gather(d, f)",
     "g ok [5]: the indices 'y' are computed when the model runs, and always in [0, 4]\n"
     "h ok [5]: the indices 'b' are computed when the model runs, and always in [0, 4]\n"
     "k unknown [5]: the indices 'e' are computed by Concat '' when the model runs\n"
     "l ok [5]: the indices 'f' are computed when the model runs, and always in [0, 4]"},
    {ONNX,
     "in d float32[256]; in i uint8[2]; g: _ = Gather(d, i); in j uint8[1]; s = Add(i, j); h: _ = Gather(d, s); in e float32[255]; "
     "k: _ = Gather(e, i); in q int8[2]; l: _ = Gather(d, q); in o uint64[2]; m: _ = Gather(d, o); in p int8[1]; n: _ = Gather/1(d, p); "
     "r = Max(uint64[18446744073709551615,1], o); u: _ = Gather(d, r)",
     "g ok [256]: the indices 'i' are computed when the model runs, and always in [0, 255]\n"
     "h ok [256]: the indices 's' are computed when the model runs, and always in [0, 255]\n"
     "k unknown [255]: the indices come from the input 'i', which was not given\n"
     "l ok [256]: the indices 'q' are computed when the model runs, and always in [-128, 127]\n"
     "m unknown [256]: the indices come from the input 'o', which was not given\n"
     "n unknown [256]: the indices come from the input 'p', which was not given\n"
     "u unknown [256]: the indices 'r' are computed by Max '' when the model runs"},
    {ONNX,
     "in d float32[2]; in c boolean[2]; i = Cast(c) to=7; g: _ = Gather(d, i); in x int64[2]; e = Less(x, 0); j = Cast(e) to=6; "
     "h: _ = Gather(d, j)",
     "g ok [2]: the indices 'i' are computed when the model runs, and always in [0, 1]\n"
     "h ok [2]: the indices 'j' are computed when the model runs, and always in [0, 1]"},
    {ONNX,
     "in d float32[N]; in c boolean[]; in i int64[2]; const five int64[] = 5; const six int64[] = 6; y = If(c) then_branch={ out a; "
     "a = Mod(i, five) } else_branch={ out b; b = Mod(i, six) }; dim N 6; g: _ = Gather(d, y); w = If(c) then_branch={ out a; "
     "a = Mod(i, five) } else_branch={ out i }; h: _ = Gather(d, w)",
     "g ok [6]: the indices 'y' are computed when the model runs, and always in [0, 5]\n"
     "h unknown [6]: the indices 'w' are computed by If '' when the model runs"},
    {ONNX,
     "in d float32[9223372036854775807]; in i int64[2]; const b int64[] = 9223372036854775807; y = Mod(i, b); w = Mul(y, b); "
     "g: _ = Gather(d, w); v = Add(y, y); h: _ = Gather(d, v); u = Min(i, -9223372036854775808); t = Neg(u); k: _ = Gather(d, t)",
     "g unknown [9223372036854775807]: the indices 'w' are computed by Mul '' when the model runs\n"
     "h unknown [9223372036854775807]: the indices 'v' are computed by Add '' when the model runs\n"
     "k unknown [9223372036854775807]: the indices 't' are computed by Neg '' when the model runs"},
    {ONNX,
     "in d float32[5]; in n int64[]; a = Mod(n, 5); y = Range(0, a, n); g: _ = Gather(d, y); w = Range(4, a, -1); h: _ = Gather(d, w); "
     "v = Range(n, n, n); k: _ = Gather(d, v)",
     "g unknown [5]: the indices 'y' are computed by Range '' when the model runs\n"
     "h ok [5]: the indices 'w' are computed when the model runs, and always in [1, 4]\n"
     "k unknown [5]: the indices 'v' are computed by Range '' when the model runs"},
    {ONNX,
     "in x int8[?,3]; in i int64[?,1]; const t int64[] = 3; j = Mod(i, t); g: _ = GatherND(x, j) batch_dims=1; in d int8[4,3]; "
     "in k int64[4,1]; m = Mod(k, t); h: _ = GatherND(d, m) batch_dims=1",
     "g unknown [?,3]: the indices 'j' are computed by Mod '' when the model runs\n"
     "h ok [4,3]: the indices 'm' are computed when the model runs, and always in [0, 2]"},
    {ONNX,
     "in x int8[N,4]; s = Shape(x); n = Gather(s, [0]); const m int64[1] = -1; t = Concat(n, n, m) axis=0; y = Reshape(x, t); "
     "g: _ = Gather(y, 0) axis=2; u = Concat(n, m) axis=0; w = Reshape(x, u); h: _ = Gather(w, 0) axis=1",
     " ok [2]\ng unknown [N,N,?]: the length of the data 'y' along axis 2 is not known\nh ok [N,4]"},
    /* quantised data */
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; "
     "h: _ = Gather(y, i)",
     "g ok [2,32]\n"
     "h bad [1,32]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,32]; in s float32[2,4]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; "
     "h: _ = Gather(y, i)",
     "g ok [2,32]\n"
     "h bad [1,64]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, "
     "s) block_size=16 bits=8; h: _ = Gather(y, i) axis=1",
     "g ok [2,32]\nh ok [1,32]"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, "
     "s) block_size=16 bits=3; h: _ = Gather(y, i)",
     "g bad [2,32]: bits is 3, not 2, 4 or 8\nh unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,N]; in s float32[2,?]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; "
     "h: _ = Gather(y, i)",
     "g ok [2,N]\n"
     "h bad [1,?]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,9223372036854775807]; in s float32[2,?]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,9223372036854775807]\n"
     "h bad [1,?]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint8[2,1..9223372036854775806]; in s float32[2,?]; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; h: _ = Gather(y, i)",
     "g ok [2,1..9223372036854775806]\n"
     "h bad [1,2..]: indices[0] = 1 is outside [-1, 0] of axis 0*; the index equals the length of the axis: the indices may count from 1"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; in p uint4[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, s, p) "
     "block_size=16; in q uint4[2,N]; h: _ = com.microsoft.GatherBlockQuantized/1(a, i, s, q) block_size=16; k: _ = "
     "com.microsoft.GatherBlockQuantized/1(a, i, s, i) block_size=16",
     "g ok [2,32]\nh ok [2,32]\nk bad [2,32]: zero_points of type int64 for data of type uint4"},
    {ONNX, "in a uint4[2,32]; g: y = com.microsoft.GatherBlockQuantized/1(a, [1]) block_size=16", "g bad [2,32]: the node has no scales"},
    {ONNX, "in a uint4[2,32]; g: y = com.microsoft.GatherBlockQuantized/1(a, [1], _) block_size=16",
     "g bad [2,32]: the node has no scales"},
    {ONNX, "in a uint4[2,32]; g: y = com.microsoft.GatherBlockQuantized/1(a, [1], nobody) block_size=16", "g ok [2,32]"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size='16'; "
     "h: _ = Gather(y, i)",
     "g bad [2,32]: attribute 'block_size' must have type INT, not STRING\n"
     "h unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, "
     "s) block_size=16 gather_axis='x'; h: _ = Gather(y, i)",
     "g bad [2,32]: attribute 'gather_axis' must have type INT, not STRING\n"
     "h unknown none: the shape of the data 'y' is not known"},
    {ONNX,
     "const i int64[1] = 1; in a uint4*; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=16; "
     "in j int64*; in b uint4[2,32]; h: _ = com.microsoft.GatherBlockQuantized/1(b, j, s) block_size=16; in e any*; "
     "k: _ = com.microsoft.GatherBlockQuantized/1(e, i, s) block_size=16",
     "g unknown none: the shape of the data 'a' is not known\n"
     "h unknown [2,32]: the indices come from the input 'j', which was not given\n"
     "k unknown none: the shape of the data 'e' is not known"},
    {ONNX,
     "in a uint4[2,32]; in s float32[2,2]; g: y = com.microsoft.GatherBlockQuantized/1(a, 1, s) block_size=16; h: _ = Gather(y, [1]); "
     "k: _ = com.microsoft.GatherBlockQuantized/1(a, 1, s) block_size=16 gather_axis=7",
     "g ok [2,32]\nh ok [32]\nk bad [2,32]: axis 7 is outside [-2, 1] (GatherBlockQuantized of data of rank 2)"},
    {ONNX,
     "const i int64[1] = 1; in a uint4[2,32]; in s float32[2,2]; f: y = local.F(a, i, s) bs=16; fun local.F { in a; in i; in s; out r; "
     "h: r = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=@bs }; fun local.U { in a; in i; in s; out r; "
     "k: r = com.microsoft.GatherBlockQuantized/1(a, i, s) block_size=@bs }",
     "h ok [2,32]\nk unknown none: not executed: no call leads to this function"},
    {ONNX,
     "const i int64[1] = 1; const a int8[2,2] = 1,2,3,4; const s float32[] = 2; d = DequantizeLinear(a, s); g: _ = Gather(d, i); "
     "e = DequantizeLinear/23(a, s) output_dtype=10; h: _ = Gather(e, i); f = DequantizeLinear/23(a, s) output_dtype='x'; "
     "k: _ = Gather(f, i); const w int32[2,2] = 1,2,3,4; l = DequantizeLinear(w, s); m: _ = Gather(l, i); in n int8[2,2]; "
     "o = DequantizeLinear(n, s); p: _ = Gather(o, i); q = DequantizeLinear(); r: _ = Gather(q, i)",
     "g ok [2,2]\n"
     "h ok [2,2]\n"
     "k ok [2,2]\n"
     "m ok [2,2]\n"
     "p ok [2,2]\n"
     "r unknown none: the shape of the data 'q' is not known"},
    /* GatherTree */
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,0; g: _ = GatherTree/1(s, p, int32[2], int32 9)", "g ok [2,1,2]"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g bad [2,1,2]: parent_ids[1, 0, 1] = 2 is outside [0, 1] of axis 2 (GatherTree openvino-1); 1 of 4 parents is bad"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; in m int32[1]; g: _ = GatherTree/1(s, p, m, int32 9)",
     "g unknown [2,1,2]: the parents are known, but which of them count is not: max_seq_len 'm' is known when the model runs"},
    {IR, "in s int32[2,1,2]; in p int32[2,1,2]; in m int32[1]; g: _ = GatherTree/1(s, p, m, int32 9)",
     "g unknown [2,1,2]: the indices come from the input 'p', which was not given"},
    {IR, "in s int32[2,1,2]; const p int64[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g bad [2,1,2]: parent_ids is int64, the inputs before it are int32"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,3] = 0,0,1,2,0,0; g: _ = GatherTree/1(s, p, int32[2], int32 9)",
     "g bad [2,1,2]: dimension 2 of parent_ids cannot be equal to that of step_ids"},
    {IR, "in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, int32[7], int32 9)",
     "g bad [2,1,2]: parent_ids[1, 0, 1] = 2 is outside [0, 1] of axis 2 (GatherTree openvino-1); 1 of 4 parents is bad"},
    {IR,
     "const e int32[] = 9; in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; g: _ = GatherTree/1(s, p, _, e); in a any*; in b any*; "
     "h: _ = GatherTree/1(a, p, b, e)",
     "g bad [2,1,2]: the node has no max_seq_len\n"
     "h unknown none: the parents are known, but which of them count is not: max_seq_len 'b' is known when the model runs"},
    {IR,
     "const e int32[] = 9; in s int32[2,1,2]; const p int32[2,1,2] = 0,0,1,2; const m int32[1] = 2; const c boolean[] = 0; "
     "f: y = If(c) then_body={ in p int32[2,1,2] < p; in s int32[2,1,2] < s; in m int32[1] < m; in e int32[] < e; "
     "g: r = GatherTree/1(s, p, m, e); out r > 0 } else_body={ in s int32[2,1,2] < s; out s > 0 }; h: _ = Gather(y, 0, 0)",
     "g unknown [2,1,2]: not executed: the condition 'c' of If 'f' is false\nh ok [2,1,2]"},
    /* operators that write */
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 2,-3; g: _ = ScatterElements/18(x, i, u) axis=1", "g ok [2,3]"},
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 2,3; g: _ = ScatterElements/18(x, i, u) axis=1",
     "g bad [2,3]: indices[0, 1] = 3 is outside [-3, 2] of axis 1 (ScatterElements onnx-18); 1 of 2 indices is bad; the largest index "
     "equals the "
     "length of the axis: the indices may count from 1"},
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 0,-3; g: _ = ScatterElements/18(x, i, u) axis=1",
     "g ok [2,3]: indices[0, 1] = -3 selects the same place as indices[0, 0] (ScatterElements onnx-18)"},
    {ONNX, "in x float32[2,3]; in u float32[?,2]; const i int64[1,2] = 0,1; g: _ = ScatterElements/18(x, i, u) axis=1",
     "g unknown [2,3]: the indices are valid, but whether the updates 'u' have the shape that they need is not known"},
    {ONNX, "in x float32[N,3]; in u float32[1,3]; const i int64[1,1] = 0; g: _ = ScatterND/18(x, i, u)",
     "g unknown [N,3]: the data 'x' has the length 'N' along axis 0, a dimension that was not given"},
    {ONNX, "in x float32[2,N]; in u float32[1,N]; const i int64[1,1] = 0; g: _ = ScatterND/18(x, i, u)", "g ok [2,N]"},
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 0,0; g: _ = ScatterElements/18(x, i, u) axis=1 reduction='add'",
     "g ok [2,3]"},
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 0,0; g: _ = ScatterElements/18(x, i, u) axis=1 reduction='mean'",
     "g unknown [2,3]: ScatterElements onnx-18 has no reduction 'mean'; it has 'none', 'add', 'mul', 'min', 'max'"},
    {ONNX, "in x float32[2,4]; in u float32[2,2]; g: _ = TensorScatter/24(x, u) axis=1 mode='round'",
     "g unknown [2,4]: TensorScatter has no mode 'round'; it has 'linear', 'circular'"},
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 0,1; g: _ = ScatterElements/13(x, i, u) reduction='add'",
     "g bad [2,3]: the node has the attribute 'reduction', but ScatterElements onnx-13 has no such attribute"},
    {ONNX, "in x float32[2,3]; in u float32[1,3]; const i int64[1,2] = 0,1; g: _ = ScatterElements/18(x, i, u) axis=1",
     "g bad [2,3]: dimension 1 of the updates does not fit data and indices"},
    {ONNX, "in x float32[2,3]; in u float64[1,2]; const i int64[1,2] = 0,1; g: _ = ScatterElements/18(x, i, u) axis=1",
     "g bad [2,3]: the updates are float64, data is float32"},
    {ONNX, "in x float32[2,3]; const i int64[1,2] = 0,1; g: _ = ScatterElements/18(x, i) axis=1", "g bad [2,3]: the node has no updates"},
    {ONNX, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 0,-1; g: _ = Scatter/9(x, i, u) axis=1",
     "g bad [2,3]: indices[0, 1] = -1 is outside [0, 2] of axis 1 (Scatter onnx-9); 1 of 2 indices is bad; -1 may mean padding or counting "
     "from the "
     "end, which these rules do not allow"},
    {ONNX, "in x float32[2,3]; in u float32[2]; const i int64[2,2] = 0,1,1,3; g: _ = ScatterND/18(x, i, u)",
     "g bad [2,3]: indices[1, 1] = 3, component 1 of tuple [1], is outside [-3, 2] of axis 1 (ScatterND onnx-18); 1 of 4 indices is bad; "
     "the largest index equals the length of the axis: the indices may count from 1"},
    {ONNX, "in x float32[2,3]; in u float32[2]; const i int64[2,2] = 0,1,0,1; g: _ = ScatterND/18(x, i, u)",
     "g ok [2,3]: tuple [1] selects the same place as tuple [0] (ScatterND onnx-18)"},
    {ONNX, "in x float32[2,3]; in u float32[2]; in i int64[2,2]; g: _ = ScatterND/18(x, i, u)",
     "g unknown [2,3]: the indices come from the input 'i', which was not given"},
    {ONNX, "in x float32[2,8,3]; in u float32[2,2,3]; const i int64[2] = 0,6; g: _ = TensorScatter/24(x, u, i)", "g ok [2,8,3]"},
    {ONNX, "in x float32[2,8,3]; in u float32[2,2,3]; g: _ = TensorScatter/24(x, u)", "g ok [2,8,3]"},
    {ONNX, "in x float32[2,8,3]; in u float32[2,2,3]; const i int64[2] = 0,9; g: _ = TensorScatter/24(x, u, i) mode='circular'",
     "g ok [2,8,3]"},
    {ONNX, "in x float32[2,8,3]; in u float32[2,9,3]; const i int64[2] = 0,0; g: _ = TensorScatter/24(x, u, i)",
     "g bad [2,8,3]: the update does not fit past_cache in dimension 1"},
    {ONNX, "in x float32[2,8,3]; in u float32[2,2,3]; const i int64[2] = 0,0; g: _ = TensorScatter/24(x, u, i) axis=0",
     "g bad [2,8,3]: the axis 0 is the batch, or outside the rank 3"},
    {IR, "in x float32[4,2]; in u float32[2,2]; const i int32[2] = 3,3; g: _ = ScatterUpdate/3(x, i, u, int32 0)",
     "g ok [4,2]: indices[1] = 3 selects the same place as indices[0] (ScatterUpdate openvino-3)"},
    {IR, "in x float32[4,2]; in u float32[2,2]; const i int32[2] = 3,-1; g: _ = ScatterUpdate/3(x, i, u, int32 0)",
     "g bad [4,2]: indices[1] = -1 is outside [0, 3] of axis 0 (ScatterUpdate openvino-3); 1 of 2 indices is bad; -1 may mean padding or "
     "counting from "
     "the end, which these rules do not allow"},
    /* embedding bags */
    {IR, "in x float32[4,2]; const i int32[3] = 0,3,3; g: _ = EmbeddingBagOffsetsSum/3(x, i, [0,2])", "g ok [4,2]"},
    {IR, "in x float32[4,2]; const i int32[3] = 0,4,3; g: _ = EmbeddingBagOffsetsSum/3(x, i, [0,2])",
     "g bad [4,2]: indices[1] = 4 is outside [0, 3] of axis 0 (EmbeddingBagOffsetsSum openvino-3); 1 of 3 indices is bad; the largest "
     "index "
     "equals the length of the axis: the indices may count from 1"},
    {IR, "in x float32[4,2]; const i int32[3] = 0,3,3; in o int32[2]; g: _ = EmbeddingBagOffsetsSum/3(x, i, o)",
     "g unknown [4,2]: the indices are in range, but 'o' is known only when the model runs"},
    {IR, "in x float32[4,2]; const i int32[2,2] = 0,3,3,1; g: _ = EmbeddingBagPackedSum/3(x, i)", "g ok [4,2]"},
    {IR, "in x float32[4,2]; const i int32[3] = 0,3,3; const n int32[] = 5; g: _ = EmbeddingSegmentsSum/3(x, i, [0,0,2], n)", "g ok [4,2]"},
};

int main(void) { return check_cases_run(CASES, COUNT(CASES)); }
