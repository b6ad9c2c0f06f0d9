/* SPDX-License-Identifier: MIT
 *
 * remote_s3.c: where objects of S3 are.
 */
#include "base/error.h"
#include "remote/remote_locate.h"

gather_status gather_remote_locate_s3(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                      gather_remote_place *place, gather_error *error) {
  (void)settings, (void)arena, (void)text, (void)place;
  return gather_fail(error, GATHER_UNSUPPORTED, "s3:// is not supported yet");
}
