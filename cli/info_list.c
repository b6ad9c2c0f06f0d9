/* SPDX-License-Identifier: MIT
 *
 * info_list.c: what a bucket or a repository contains, as text and JSON.
 */
#include "info_list.h"

#include <inttypes.h>
#include <stdio.h>

#include "fail.h"
#include "json.h"
#include "remote_arg.h"
#include "size.h"
#include "wrap.h"

/* MOST: ten requests. */
enum { MOST = 10000 };

static void put_json(const char *url, const gather_remote_listing *listing) {
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "info");
  gather_cli_json_string(&json, "folder", url);
  gather_cli_json_array(&json, "entries");
  for (int64_t i = 0; i < listing->count; i++) {
    const gather_remote_entry *entry = &listing->entries[i];
    gather_cli_json_object(&json, NULL);
    gather_cli_json_string(&json, "name", entry->name);
    gather_cli_json_bool(&json, "folder", entry->folder);
    if (!entry->folder) gather_cli_json_int(&json, "bytes", entry->bytes);
    gather_cli_json_object_end(&json);
  }
  gather_cli_json_array_end(&json);
  gather_cli_json_bool(&json, "more", listing->more);
  gather_cli_json_finish(&json);
}

/* Names come from a server: control characters would move the cursor of a terminal. */
static void put_name(const char *name) {
  for (; *name; name++) gather_cli_say(stdout, "%c", (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
  gather_cli_say(stdout, "\n");
}

static void put_text(const char *url, const gather_remote_listing *listing) {
  char size[32];
  gather_cli_say(stdout, "%s: %" PRId64 " %s\n", url, listing->count, listing->count == 1 ? "entry" : "entries");
  for (int64_t i = 0; i < listing->count; i++) {
    const gather_remote_entry *entry = &listing->entries[i];
    gather_cli_say(stdout, "  %12s  ", entry->folder ? "folder" : gather_cli_size_text(size, sizeof size, entry->bytes));
    put_name(entry->name);
  }
  if (listing->more) gather_cli_say(stdout, "... and more, which are not listed\n");
}

gather_status gather_cli_info_list(const gather_cli_args *args, gather_error *error) {
  const char *url = args->argument[0];
  const gather_remote_options *remote;
  gather_remote_listing listing;
  GATHER_CLI_TRY(gather_cli_remote(url, &remote, error));
  GATHER_CLI_TRY(gather_remote_listing_read(url, remote, MOST, &listing, error));
  (args->value[GATHER_CLI_JSON] ? put_json : put_text)(url, &listing);
  gather_remote_listing_clear(&listing);
  return GATHER_OK;
}
