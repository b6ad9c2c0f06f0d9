/* SPDX-License-Identifier: MIT
 *
 * duck_api.c: the host's functions, copied from the struct that it hands over.
 */
#define _POSIX_C_SOURCE 200809L
#include "duck_api.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

duck_api gather_duck;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* The pointer at a place of the host's struct. Function pointers are copied as bytes: C has no other way from one kind to the other. */
static void copy_slot(void *to, const void *slots, size_t number) {
  memcpy(to, (const char *)slots + number * sizeof(void (*)(void)), sizeof(void (*)(void)));
}

/* Whether the struct of this version has the calls of DUCK_LATER: v1.5.6, the first in which they are stable, or newer. */
static bool has_later(const char *version) {
  int major = 0, minor = 0, patch = 0;
  if (!version || sscanf(version, "v%d.%d.%d", &major, &minor, &patch) != 3) return false;
  if (major != 1) return major > 1;
  return minor > 5 || (minor == 5 && patch >= 6);
}

static bool copy_slots(duck_api *api, const void *slots) {
  bool complete = true;
  memset(api, 0, sizeof *api);
#define DUCK_SLOT(number, result, name, parameters) \
  copy_slot(&api->name, slots, number);             \
  complete = complete && api->name;
#define DUCK_LATER(number, result, name, parameters)
#include "duck_slots.def"
#undef DUCK_LATER
#undef DUCK_SLOT
  return complete;
}

static void copy_later(duck_api *api, const void *slots) {
#define DUCK_SLOT(number, result, name, parameters)
#define DUCK_LATER(number, result, name, parameters) copy_slot(&api->name, slots, number);
#include "duck_slots.def"
#undef DUCK_LATER
#undef DUCK_SLOT
}

const char *gather_duck_load(const void *slots) {
  duck_api api;
  if (!copy_slots(&api, slots)) return "gather: this DuckDB does not have all functions of the C extension API v1.2.0";
  if (has_later(api.library_version())) copy_later(&api, slots);
  const char *problem = NULL;
  pthread_mutex_lock(&loading);
  if (!gather_duck.library_version)
    gather_duck = api;
  else if (memcmp(&gather_duck, &api, sizeof api) != 0)
    problem = "gather: another copy of DuckDB in this process has loaded this extension; load a copy of the file";
  pthread_mutex_unlock(&loading);
  return problem;
}

const char *gather_duck_text(const duck_string *string) {
  const char *text;
  if (string->bytes <= sizeof string->body) return string->body;
  memcpy(&text, string->body + 4, sizeof text);
  return text;
}

void gather_duck_set_null(duck_vector vector, uint64_t row) {
  gather_duck.vector_ensure_validity_writable(vector);
  gather_duck.vector_get_validity(vector)[row / 64] &= ~((uint64_t)1 << (row % 64));
}
