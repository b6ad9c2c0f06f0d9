# SPDX-License-Identifier: MIT
"""NumPy's own tests, from the installed package, with numpy.take, numpy.take_along_axis, numpy.put_along_axis, `x.take`, `ufunc.at`, and in its tests of
indexing `x[key]`, answered by libgather (method_plugin.py, numpy_adapter.py). A test counts as passed only if it called libgather.
"""

from __future__ import annotations

from own_tests import run_own_tests
from report import Report, main, require_cases, version_of

OWN = "its tests of take and take_along_axis"
READS = "its tests of indexing"
WRITES = "its tests of ufunc.at and put_along_axis"
INSIDE = "its tests of what is made of them"
# File of numpy's tests -> (the line of the table, which tests).
SELECTED = {
    "_core/tests/test_multiarray.py": (OWN, r"TestTake|test_take"),
    "_core/tests/test_item_selection.py": (OWN, r"TestTake::(?!test_empty_)"),
    "_core/tests/test_indexerrors.py": (READS, r"."),
    "_core/tests/test_indexing.py": (READS, r"."),
    "_core/tests/test_numeric.py": (OWN, r"test_take"),
    "_core/tests/test_dtype.py": (OWN, r"_take_"),
    "_core/tests/test_regression.py": (OWN, r"take|test_method_args|test_object_array_refcounting|test_attributes"),
    "_core/tests/test_stringdtype.py": (OWN, r"test_take"),
    "lib/tests/test_shape_base.py": (OWN, r"TestTakeAlongAxis|TestPutAlongAxis"),
    "_core/tests/test_ufunc.py": (WRITES, r"ufunc_at|test_at_|inplace_fancy"),
    "ma/tests/test_core.py": (OWN, r"[tT]ake|_sort|test_generic_methods|TestMaskedArray::test_indexing"),
    "ma/tests/test_old_ma.py": (OWN, r"Take|ArrayMethods|testCI|testMaPut"),
    "fft/tests/test_helper.py": (OWN, r"test_equal_to_original|test_not_last_axis_success"),
    "lib/tests/test_function_base.py": (INSIDE, r"TestPercentile(?!.*_Fraction)|TestQuantile(?!.*_hypo)|TestMedian|TestExtins"),
    "lib/tests/test_nanfunctions.py": (INSIDE, r"[pP]ercentile|[qQ]uantile|[mM]edian|NumberTypes::test_nanfunc(_q)?$"),
    "lib/tests/test_arraypad.py": (INSIDE, r"median|same_prepend|memory_layout|dtype_persistence"),
    "lib/tests/test_arraysetops.py": (INSIDE, r"unique_axis|inverse_with_axis|unique_masked"),
    "lib/tests/test_recfunctions.py": (INSIDE, r"JoinBy"),
    "ma/tests/test_extras.py": (INSIDE, r"TestMedian|TestArraySetOps|TestApplyAlongAxis"),
    "fft/tests/test_pocketfft.py": (INSIDE, r"fft2|test_axes|fftn_out|fft_with_order"),
    "linalg/tests/test_linalg.py": (INSIDE, r"Hermitian|TestNorm.*::test_axis"),
}
LEAST = 600  # of the tests that reach libgather; NumPy 2.4 has 800


def run() -> Report:
    report = Report("numpy", "numpy")
    version_of("pytest")
    version_of("hypothesis")
    run_own_tests(report, "numpy", "numpy_adapter", SELECTED, "numpy.ma.core,numpy.ma.extras,numpy.lib._utils_impl", "test_indexing,test_indexerrors")
    require_cases(report, LEAST)
    return report


if __name__ == "__main__":
    main("numpy", run)
