/* SPDX-License-Identifier: MIT
 *
 * info_plugins.c: `gather info --plugins`. The plug-ins are searched beside the program: in the Python package, where an
 * installed tree has them, and where the build has them.
 */
#include "info_plugins.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "program_folder.h"
#include "show.h"
#include "wrap.h"

typedef struct plugin {
  const char *name, *host, *first, *library;
} plugin;

#define GATHER_CLI_PLUGIN(name, host, first, library) {name, host, first, library},
static const plugin PLUGINS[] = {
#include "plugins.def"
};
#undef GATHER_CLI_PLUGIN
enum { PLUGIN_COUNT = sizeof PLUGINS / sizeof *PLUGINS };

/* Relative to the folder of the program. */
static const char *const FOLDERS[] = {"../plugins", GATHER_CLI_PLUGIN_FOLDER, "../python/libgather/plugins"};

static bool find_plugin(const plugin *wanted, char path[PATH_MAX]) {
  char folder[PATH_MAX], name[2 * PATH_MAX];
  gather_cli_program_folder(folder, sizeof folder);
  for (size_t i = 0; *folder && i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    int length = snprintf(name, sizeof name, "%s%s/%s", folder, FOLDERS[i], wanted->library);
    if (length > 0 && (size_t)length < sizeof name && realpath(name, path)) return true;
  }
  return false;
}

static void json_plugin(gather_cli_json *json, const plugin *row) {
  char path[PATH_MAX];
  gather_cli_json_object(json, NULL);
  gather_cli_json_string(json, "name", row->name);
  gather_cli_json_string(json, "host", row->host);
  gather_cli_json_string(json, "oldest_host", row->first);
  bool found = find_plugin(row, path);
  gather_cli_json_bool(json, "found", found);
  if (found) gather_cli_json_string(json, "path", path);
  gather_cli_json_object_end(json);
}

static void text_plugin(const plugin *row) {
  char path[PATH_MAX];
  gather_cli_say(stdout, "%-12s for %s from %s on: ", row->name, row->host, row->first);
  if (find_plugin(row, path))
    gather_cli_say_visible(stdout, path);
  else
    gather_cli_say(stdout, "not in this build");
  gather_cli_say(stdout, "\n");
}

void gather_cli_info_plugins(bool as_json) {
  if (!as_json) {
    for (size_t i = 0; i < PLUGIN_COUNT; i++) text_plugin(&PLUGINS[i]);
    return;
  }
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "info");
  gather_cli_json_array(&json, "plugins");
  for (size_t i = 0; i < PLUGIN_COUNT; i++) json_plugin(&json, &PLUGINS[i]);
  gather_cli_json_array_end(&json);
  gather_cli_json_finish(&json);
}
