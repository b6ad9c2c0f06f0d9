#include "model.h"
int gather_py_model_init(PyObject *module) {
  (void)module;
  return 0;
}
