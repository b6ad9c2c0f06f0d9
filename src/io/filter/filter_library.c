/* SPDX-License-Identifier: MIT
 *
 * filter_library.c: loads the libraries that decompress, by dlopen or what the system has in its place (GATHER_FILTER_LIBRARIES=load).
 */
#include "io/filter/filter_library.h"

#ifndef GATHER_FILTERS_LINKED

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

typedef struct library_function {
  const char *name;
  size_t place;
} library_function;

/* Whether it was tried to load it, and with what result: it is tried once. */
enum { UNKNOWN = 0, LOADED, MISSING };

/* A library, and what is known of it. */
typedef struct library_loading {
  const char *name, *package;
  const char *files[3];
  const library_function *functions;
  size_t count;
  void *loaded; /* the struct of its functions */
  _Atomic int state;
} library_loading;

#if defined(_WIN32)
#include <windows.h>
static void *open_library(const char *name) { return (void *)LoadLibraryA(name); }
static void close_library(void *library) { (void)FreeLibrary((HMODULE)library); }
static bool find_function(void *library, const char *name, void *place) {
  const FARPROC function = GetProcAddress((HMODULE)library, name);
  memcpy(place, &function, sizeof function);
  return function != NULL;
}
#else
#include <dlfcn.h>
static void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static void close_library(void *library) { (void)dlclose(library); }
static bool find_function(void *library, const char *name, void *place) {
  void *function = dlsym(library, name);
  memcpy(place, &function, sizeof function);
  return function != NULL;
}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool find_functions(const library_loading *loading, void *library) {
  for (size_t i = 0; i < loading->count; i++)
    if (!find_function(library, loading->functions[i].name, (char *)loading->loaded + loading->functions[i].place)) return false;
  return true;
}

static bool load(const library_loading *loading) {
  for (size_t i = 0; i < sizeof loading->files / sizeof *loading->files && loading->files[i]; i++) {
    void *library = open_library(loading->files[i]);
    if (!library) continue;
    if (find_functions(loading, library)) return true;
    close_library(library);
  }
  return false;
}

static gather_status load_once(library_loading *loading, gather_error *error) {
  if (atomic_load_explicit(&loading->state, memory_order_acquire) == LOADED) return GATHER_OK;
  (void)pthread_mutex_lock(&lock);
  int state = atomic_load(&loading->state);
  if (state == UNKNOWN) {
    state = load(loading) ? LOADED : MISSING;
    atomic_store_explicit(&loading->state, state, memory_order_release);
  }
  (void)pthread_mutex_unlock(&lock);
  if (state == LOADED) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "its chunks need %s, which cannot be loaded here: install it (Debian's package %s)",
                     loading->name, loading->package);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static gather_libdeflate libdeflate;
#define FUNCTION(name) \
  { "libdeflate_" #name, offsetof(gather_libdeflate, name) }
static const library_function OF_LIBDEFLATE[] = {FUNCTION(alloc_decompressor), FUNCTION(free_decompressor), FUNCTION(zlib_decompress),
                                                 FUNCTION(gzip_decompress)};
#undef FUNCTION

gather_status gather_libdeflate_load(const gather_libdeflate **library, gather_error *error) {
  static library_loading loading = {"libdeflate",  "libdeflate0",        {"libdeflate.so.0", "libdeflate.0.dylib", "libdeflate.dll"},
                                    OF_LIBDEFLATE, COUNT(OF_LIBDEFLATE), &libdeflate,
                                    false};
  *library = &libdeflate;
  return load_once(&loading, error);
}

static gather_zlib zlib;
#define FUNCTION(name) \
  { #name, offsetof(gather_zlib, name) }
static const library_function OF_ZLIB[] = {FUNCTION(inflateInit2_), FUNCTION(inflate), FUNCTION(inflateEnd)};
#undef FUNCTION

gather_status gather_zlib_load(const gather_zlib **library, gather_error *error) {
  static library_loading loading = {"zlib", "zlib1g", {"libz.so.1", "libz.1.dylib", "zlib1.dll"}, OF_ZLIB, COUNT(OF_ZLIB), &zlib, UNKNOWN};
  *library = &zlib;
  return load_once(&loading, error);
}

static gather_libzstd libzstd;
#define FUNCTION(name) \
  { "ZSTD_" #name, offsetof(gather_libzstd, name) }
static const library_function OF_LIBZSTD[] = {FUNCTION(createDCtx), FUNCTION(freeDCtx), FUNCTION(decompressDCtx), FUNCTION(isError),
                                              FUNCTION(getErrorName)};
#undef FUNCTION

gather_status gather_libzstd_load(const gather_libzstd **library, gather_error *error) {
  static library_loading loading = {
      "libzstd", "libzstd1", {"libzstd.so.1", "libzstd.1.dylib", "libzstd.dll"}, OF_LIBZSTD, COUNT(OF_LIBZSTD), &libzstd, UNKNOWN};
  *library = &libzstd;
  return load_once(&loading, error);
}

static gather_liblz4 liblz4;
#define FUNCTION(name) \
  { "LZ4F_" #name, offsetof(gather_liblz4, name) }
static const library_function OF_LIBLZ4[] = {{"LZ4_decompress_safe", offsetof(gather_liblz4, decompress_safe)},
                                             FUNCTION(createDecompressionContext),
                                             FUNCTION(freeDecompressionContext),
                                             FUNCTION(decompress),
                                             FUNCTION(resetDecompressionContext),
                                             FUNCTION(isError),
                                             FUNCTION(getErrorName)};
#undef FUNCTION

gather_status gather_liblz4_load(const gather_liblz4 **library, gather_error *error) {
  static library_loading loading = {"liblz4", "liblz4-1", {"liblz4.so.1", "liblz4.1.dylib", "liblz4.dll"}, OF_LIBLZ4, COUNT(OF_LIBLZ4),
                                    &liblz4,  false};
  *library = &liblz4;
  return load_once(&loading, error);
}

#endif
