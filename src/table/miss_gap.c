/* SPDX-License-Identifier: MIT
 *
 * miss_gap.c: how many bytes between the rows of a file on another machine are read, while the model of remote_gap.h stands on few answers.
 */
#include "io/remote/pace.h"
#include "table/miss.h"

/* PROBE: one part of so many of a take's bytes is spent on gaps to find out whether the network is faster than its answers have told.
 * LEAST_GAP: a request and the headers of its answer are longer: such gaps are read without proof that the network is fast.
 * SURE: so many bytes came over the network and not out of one buffer on the way. TRUST: for so many times the bytes behind them a
 * bandwidth is believed. */
enum { LEAST_GAP = 512, SURE = 262144, TRUST = 8, PROBE = 8 };

/* While little has arrived, the bandwidth may be what a buffer on the way has given at once, and no more: gaps are read for as
 * many bytes as the figures stand on, and later, of a server far away, for many times what came since. Of a near one,
 * figures come so soon that none need be trusted. */
static int64_t proven_bytes(const gather_misses *m) {
  const gather_misses_remote *remote = &m->remote;
  const int64_t bytes = remote->costs.bytes + remote->arrived;
  if (remote->costs.guessed) return m->count * m->taking->row_bytes / PROBE;
  return bytes <= SURE || remote->costs.latency < GATHER_REMOTE_NEAR ? bytes : bytes + TRUST * (bytes - SURE);
}

bool gather_misses_may_join(const gather_misses *m, int64_t entry, int64_t gap, int64_t joined) {
  const gather_misses_remote *remote = &m->remote;
  if (m->worker->spare[entry].position != GATHER_MISS_FREE) return false;
  if (!remote->ordered || remote->costs.bytes == 0 || m->table->gap_given >= 0 || gap <= LEAST_GAP) return true;
  return gap <= proven_bytes(m) - remote->gaps - joined;
}
