/* SPDX-License-Identifier: MIT
 *
 * depth.c: rounds of as many answers as requests are allowed. It begins wide: most takes are of some hundred rows, and
 * are over before it could have grown. After a round the depth grows: doubled at first, by a sixteenth once the
 * server has refused. Where two rounds with a new depth brought no gain, it stays for some rounds before it tries again: noise must not
 * hold it down for ever.
 */
#include "io/remote/depth.h"

enum { FIRST = 64, WORK_OF_A_REQUEST = 1024, STAY = 8 };
static const double GAIN = 1.05;

static void begin_round(gather_depth *depth, int64_t now) {
  depth->left = depth->now;
  depth->began = now;
  depth->work = 0;
  depth->starved = false;
}

void gather_depth_init(gather_depth *depth, int32_t limit, int64_t now) {
  *depth = (gather_depth){.now = limit < FIRST ? limit : FIRST, .limit = limit, .doubling = true, .halved = now};
  begin_round(depth, now);
}

static void grow(gather_depth *depth, double rate) {
  int32_t more = depth->doubling ? depth->now : depth->now / 16 + 1;
  depth->rate = rate;
  depth->now = depth->now + more < depth->limit ? depth->now + more : depth->limit;
  depth->grew = true;
}

static void end_round(gather_depth *depth, double rate) {
  if (depth->grew && rate < depth->rate * GAIN)
    depth->flat++;
  else if (depth->grew)
    depth->flat = 0;
  depth->grew = false;
  if (depth->now == depth->limit) return;
  if (depth->flat >= 2 && depth->flat < 2 + STAY) {
    depth->flat++;
    return;
  }
  if (depth->flat >= 2) depth->flat = 1;
  grow(depth, rate);
}

void gather_depth_answered(gather_depth *depth, int64_t bytes, bool waiting, int64_t now) {
  depth->work += (double)bytes + (double)WORK_OF_A_REQUEST;
  depth->starved |= !waiting;
  if (--depth->left > 0) return;
  double seconds = (double)(now - depth->began) * 1e-9;
  if (!depth->starved) end_round(depth, depth->work / (seconds > 1e-9 ? seconds : 1e-9));
  begin_round(depth, now);
}

void gather_depth_refused(gather_depth *depth, int64_t sent, int64_t now) {
  if (sent < depth->halved) return;
  depth->now = depth->now > 1 ? depth->now / 2 : 1;
  depth->doubling = depth->grew = false;
  depth->halved = now;
  depth->rate = 0;
  begin_round(depth, now);
}
