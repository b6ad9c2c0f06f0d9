/* SPDX-License-Identifier: MIT
 *
 * remote_hub.c: where files of the hub are.
 */
#include "base/error.h"
#include "remote/remote_locate.h"

gather_status gather_remote_locate_hub(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                       gather_remote_place *place, gather_error *error) {
  (void)settings, (void)arena, (void)text, (void)place;
  return gather_fail(error, GATHER_UNSUPPORTED, "hf:// is not supported yet");
}
