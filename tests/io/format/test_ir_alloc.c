/* SPDX-License-Identifier: MIT
 *
 * test_ir_alloc.c: opening an OpenVINO IR when memory cannot be had: each allocation fails once, and that is what is said.
 */
#include "io/format/failing_alloc.h"
#include "support/open_file.h"

/* A table that other names mean too, in a .bin that bytes in memory cannot have beside them; an empty one needs none. */
static const char MODEL[] =
    "<net name=\"n\" version=\"11\"><layers>"
    "<layer id=\"0\" name=\"table\" type=\"Const\" version=\"opset1\">"
    "<data element_type=\"f32\" shape=\"3,2\" offset=\"0\" size=\"24\"/>"
    "<output><port id=\"0\" precision=\"FP32\" "
    "names=\"own,other,with\\,comma\"><dim>3</dim><dim>2</dim></port></output></layer>"
    "<layer id=\"1\" name=\"empty\" type=\"Const\" version=\"opset1\">"
    "<data element_type=\"i64\" shape=\"0\" offset=\"0\" size=\"0\"/>"
    "<output><port id=\"0\" precision=\"I64\"><dim>0</dim></port></output></layer>"
    "</layers><edges/></net>";

static gather_status open_model(gather_file **file, gather_error *error) {
  return file_open(file_in(MODEL, sizeof MODEL - 1, "model.xml"), file, error);
}

static void look_at_model(const gather_file *file) {
  static const char *const names[] = {"own", "other", "with,comma", "table"};
  gather_error error;
  assert_int_equal(gather_file_len(file), 2);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const gather_file_tensor *tensor;
    assert_int_equal(gather_file_find(file, names[i], &tensor, &error), GATHER_OK);
    assert_ptr_equal(tensor, gather_file_at(file, 0));
    assert_int_equal(gather_file_tensor_check(tensor, &error), GATHER_UNSUPPORTED);
  }
  assert_int_equal(gather_file_tensor_check(gather_file_at(file, 1), &error), GATHER_OK);
}

static void test_each_allocation(void **state) { assert_true(failing_each_alloc(open_model, look_at_model) >= 20); }

TESTS(test_each_allocation)
