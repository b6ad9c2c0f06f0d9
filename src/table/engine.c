/* SPDX-License-Identifier: MIT
 *
 * engine.c: the names of the engines, and which one a table uses.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "table/engine.h"

static const char *const NAMES[] = {
#define GATHER_ENGINE(ENUM, name, functions) name,
#include "table/engine.def"
#undef GATHER_ENGINE
};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

const char *gather_engine_name(gather_engine engine) {
  return (int)engine >= 0 && (int)engine < NAME_COUNT ? NAMES[engine] : NULL;
}

gather_status gather_engine_parse(const char *name, gather_engine *engine, gather_error *error) {
  for (int i = 0; name && i < NAME_COUNT; i++)
    if (strcmp(name, NAMES[i]) == 0) {
      *engine = (gather_engine)i;
      return GATHER_OK;
    }
  return gather_fail(error, GATHER_USAGE,
                     "no such engine '%.40s'; engines are auto, mmap, pread, uring, http and overlapped",
                     name ? name : "");
}

gather_status gather_engine_check(gather_engine engine, gather_error *error) {
  if (!gather_engine_name(engine)) return gather_fail(error, GATHER_USAGE, "no such engine: number %d", (int)engine);
  return engine == GATHER_ENGINE_AUTO ? GATHER_OK : gather_reader_probe(engine, error);
}

gather_status gather_engine_fits(gather_engine engine, bool remote, gather_error *error) {
  if (engine == GATHER_ENGINE_AUTO || (engine == GATHER_ENGINE_HTTP) == remote) return GATHER_OK;
  if (remote)
    return gather_fail(error, GATHER_USAGE, "the engine %s reads local files; URLs are read by http",
                       gather_engine_name(engine));
  return gather_fail(error, GATHER_USAGE, "the engine http reads URLs, and this is a local file");
}

/* The system's own way to have many reads in flight. */
#if defined(_WIN32)
enum { OF_SYSTEM = GATHER_ENGINE_OVERLAPPED };
static const char OF_SYSTEM_NAME[] = "overlapped reads";
#else
enum { OF_SYSTEM = GATHER_ENGINE_URING };
static const char OF_SYSTEM_NAME[] = "io_uring";
#endif

/* The engine to use, and why: the system's own, or threads if that is refused. */
gather_engine gather_engine_choose(const gather_table_options *options, bool remote, char *why, size_t why_bytes) {
  gather_error error;
  if (remote) {
    (void)snprintf(why, why_bytes, "the files are on other machines");
    return GATHER_ENGINE_HTTP;
  }
  if (options->engine == GATHER_ENGINE_MMAP || options->engine == GATHER_ENGINE_PREAD) {
    (void)snprintf(why, why_bytes, "it was asked for");
    return options->engine;
  }
  if (gather_reader_probe((gather_engine)OF_SYSTEM, &error) == GATHER_OK) {
    (void)snprintf(
        why, why_bytes, "%s",
        options->engine == (gather_engine)OF_SYSTEM ? "it was asked for" : "many reads at a time, from one thread");
    return (gather_engine)OF_SYSTEM;
  }
  (void)snprintf(why, why_bytes, "threads read, because %s cannot be used: %.*s", OF_SYSTEM_NAME, (int)(why_bytes - 60),
                 error.message);
  return GATHER_ENGINE_PREAD;
}
