/* SPDX-License-Identifier: MIT
 * stub until remclient is merged */
#include <string.h>
#include "base/error.h"
#include "remote/remote.h"
bool gather_remote_is_url(const char *n) { return strncmp(n, "http://", 7) == 0 || strncmp(n, "https://", 8) == 0; }
gather_status gather_remote_client_create(const gather_remote_options *o, gather_remote_client **c, gather_error *e) {
  (void)o;
  *c = NULL;
  return gather_fail(e, GATHER_UNSUPPORTED, "stub");
}
gather_remote_client *gather_remote_client_hold(gather_remote_client *c) { return c; }
void gather_remote_client_release(gather_remote_client *c) { (void)c; }
void gather_remote_client_enter(gather_remote_client *c) { (void)c; }
gather_status gather_remote_object_open(gather_remote_client *c, const char *u, gather_remote_object **o,
                                        gather_error *e) {
  (void)c, (void)u;
  *o = NULL;
  return gather_fail(e, GATHER_UNSUPPORTED, "stub");
}
void gather_remote_object_close(gather_remote_object *o) { (void)o; }
int64_t gather_remote_object_size(const gather_remote_object *o) {
  (void)o;
  return 0;
}
const char *gather_remote_object_name(const gather_remote_object *o) {
  (void)o;
  return "";
}
const char *gather_remote_object_head(const gather_remote_object *o, int64_t *b) {
  (void)o;
  *b = 0;
  return NULL;
}
gather_status gather_remote_object_read(gather_remote_object *o, int64_t a, int64_t b, void *d, gather_error *e) {
  (void)o, (void)a, (void)b, (void)d;
  return gather_fail(e, GATHER_UNSUPPORTED, "stub");
}
gather_status gather_remote_queue_create(gather_remote_client *c, gather_remote_queue **q, gather_error *e) {
  (void)c;
  *q = NULL;
  return gather_fail(e, GATHER_UNSUPPORTED, "stub");
}
void gather_remote_queue_destroy(gather_remote_queue *q) { (void)q; }
void gather_remote_begin(gather_remote_queue *q, gather_remote_request *r) { (void)q, (void)r; }
gather_remote_request *gather_remote_finish(gather_remote_queue *q) {
  (void)q;
  return NULL;
}
void gather_remote_cancel(gather_remote_queue *q) { (void)q; }
void gather_remote_client_costs(const gather_remote_client *c, gather_remote_costs *k) {
  (void)c;
  memset(k, 0, sizeof *k);
}

bool gather_remote_await(gather_remote_queue *queue, int64_t nanoseconds) {
  (void)queue, (void)nanoseconds;
  return true;
}
gather_status gather_remote_check(gather_error *e) { return gather_fail(e, GATHER_UNSUPPORTED, "stub"); }
const char *gather_remote_schemes(void) { return ""; }
void gather_remote_client_statistics(const gather_remote_client *c, gather_remote_statistics *s) { (void)c; memset(s, 0, sizeof *s); }
void gather_remote_client_statistics_reset(gather_remote_client *c) { (void)c; }
