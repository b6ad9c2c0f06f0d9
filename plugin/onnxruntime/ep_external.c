/* SPDX-License-Identifier: MIT
 *
 * ep_external.c: external initializers. A name and an offset are what the model says. What counts is what the host uses: the
 * application may have replaced an initializer, or the file may have changed since. So the address of the data must be in a mapping of
 * that file, at that offset (ep_mapping.c), before rows are read from the file instead.
 */
#include "ep_external.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep_text.h"

/* file, relative to the folder of the model. */
static char *resolve(const char *model, const char *file) {
  const char *end = strrchr(model, '/');
  const size_t folder_bytes = file[0] == '/' || !end ? 0 : (size_t)(end - model) + 1;
  char *path = malloc(folder_bytes + strlen(file) + 1);
  if (!path) return NULL;
  memcpy(path, model, folder_bytes);
  memcpy(path + folder_bytes, file, strlen(file) + 1);
  return path;
}

void gather_ort_external_free(ort_external *external) {
  if (!external) return;
  free(external->name);
  free(external->path);
  free(external);
}

static ort_external *make(const ort_host *host, const OrtExternalInitializerInfo *info, const char *name, const char *model) {
  const char *file = ORT(host, ExternalInitializerInfo_GetFilePath)(info);
  ort_external *external = calloc(1, sizeof *external);
  if (!external) return NULL;
  external->name = gather_ort_text_copy(name);
  external->path = resolve(model ? model : "", file ? file : "");
  external->offset = ORT(host, ExternalInitializerInfo_GetFileOffset)(info);
  external->bytes = ORT(host, ExternalInitializerInfo_GetByteSize)(info);
  if (external->name && external->path) return external;
  gather_ort_external_free(external);
  return NULL;
}

OrtStatus *gather_ort_external_read(const ort_host *host, const OrtGraph *graph, const OrtValueInfo *value, ort_external **external) {
  const char *name = "", *model = "";
  bool constant = false;
  OrtExternalInitializerInfo *info = NULL;
  *external = NULL;
  OrtStatus *status = ORT(host, ValueInfo_IsConstantInitializer)(value, &constant);
  if (status || !constant) return status;
  status = ORT(host, ValueInfo_GetExternalInitializerInfo)(value, &info);
  if (status || !info) return status;
  status = ORT(host, GetValueInfoName)(value, &name);
  if (!status) status = ORT(host, Graph_GetModelPath)(graph, &model);
  if (!status) {
    *external = make(host, info, name, model);
    if (!*external) status = ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  }
  ORT(host, ReleaseExternalInitializerInfo)(info);
  return status;
}
