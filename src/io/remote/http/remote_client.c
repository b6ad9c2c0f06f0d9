/* SPDX-License-Identifier: MIT
 *
 * remote_client.c: makes clients, counts their owners, and abandons what a child of fork() must not touch.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/system/clock.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

/* Guesses of a network in the middle, until it is measured. */
static const double GUESSED_LATENCY = 0.05, GUESSED_BANDWIDTH = 12.5e6;
/* Requests a second that one thread can send and receive, however near the server is. */
static const double MOST_RATE = 20000;

static void init_network(gather_remote_client *client) {
  int64_t now = gather_clock();
  gather_remote_list_init(&client->intake);
  gather_remote_list_init(&client->ready);
  gather_remote_list_init(&client->waiting);
  client->active = client->idle = NULL;
  client->active_count = client->transfer_count = 0;
  client->multi = NULL;
  client->running = client->ending = client->cancelling = false;
  gather_depth_init(&client->depth, client->settings.given.connections, now);
  client->depth_now = client->depth.now;
  client->depth_grows = true;
  client->backoff.state = (uint64_t)now ^ (uint64_t)(uintptr_t)client ^ ((uint64_t)getpid() << 32);
  for (size_t i = 0; i < sizeof client->sockets / sizeof *client->sockets; i++) client->sockets[i] = -1;
}

gather_status gather_remote_client_create(const gather_remote_options *options, gather_remote_client **client,
                                          gather_error *error) {
  *client = NULL;
  gather_remote_client *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a client of URLs");
  gather_status status = gather_curl_load(&made->curl, error);
  if (status == GATHER_OK) status = gather_remote_settings_take(options, &made->settings, error);
  const gather_remote_options *given = &made->settings.given;
  if (status == GATHER_OK && given->cache_folder[0])
    status = gather_block_cache_open(given->cache_folder, given->cache_bytes, &made->cache, error);
  if (status == GATHER_OK && pthread_mutex_init(&made->lock, NULL) != 0) {
    status = gather_fail(error, GATHER_OUT_OF_MEMORY, "the system refuses a lock");
  }
  if (status != GATHER_OK) {
    gather_block_cache_close(made->cache);
    gather_remote_settings_clear(&made->settings);
    gather_free(made);
    return status;
  }
  made->owners = 1;
  atomic_init(&made->process, (int64_t)getpid());
  init_network(made);
  *client = made;
  return GATHER_OK;
}

/* The parent's thread, its handles and what it was doing stay as they are: only the descriptors are closed, which are the child's own
 * copies. Nothing of libcurl may be called with the parent's handles: it would speak on the parent's connections. */
static void abandon(gather_remote_client *client) {
  gather_remote_close_sockets(client);
  (void)pthread_mutex_init(&client->lock, NULL);
  init_network(client);
}

void gather_remote_client_enter(gather_remote_client *client) {
  int64_t here = (int64_t)getpid(), seen = atomic_load_explicit(&client->process, memory_order_acquire);
  while (seen != here) {
    /* The negative number marks that a thread of the child is doing this. */
    if (seen != -here && atomic_compare_exchange_strong(&client->process, &seen, -here)) {
      abandon(client);
      atomic_store_explicit(&client->process, here, memory_order_release);
    }
    seen = atomic_load_explicit(&client->process, memory_order_acquire);
  }
}

gather_remote_client *gather_remote_client_hold(gather_remote_client *client) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  client->owners++;
  (void)pthread_mutex_unlock(&client->lock);
  return client;
}

void gather_remote_client_release(gather_remote_client *client) {
  if (!client) return;
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  bool last = --client->owners == 0;
  (void)pthread_mutex_unlock(&client->lock);
  if (!last) return;
  gather_remote_network_end(client);
  gather_block_cache_close(client->cache);
  (void)pthread_mutex_destroy(&client->lock);
  gather_remote_settings_clear(&client->settings);
  gather_free(client);
}

/* What was measured; with the lock held. */
static void take_measured(const gather_remote_client *client, gather_remote_costs *costs) {
  gather_remote_measured(&client->measure, client->depth_grows ? client->settings.given.connections : client->depth_now,
                         costs);
}

void gather_remote_client_costs(gather_remote_client *client, gather_remote_costs *costs) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  take_measured(client, costs);
  (void)pthread_mutex_unlock(&client->lock);
  if (costs->latency <= 0) costs->latency = GUESSED_LATENCY;
  if (costs->bandwidth <= 0) costs->bandwidth = GUESSED_BANDWIDTH;
  costs->rate = MOST_RATE;
}

/* With the lock held. */
static void cache_counts(const gather_remote_client *client, gather_remote_statistics *statistics) {
  gather_block_cache_state state;
  const gather_block_cache_state *before = &client->cache_before;
  gather_block_cache_state_get(client->cache, &state);
  statistics->cache_hits = state.hits - before->hits;
  statistics->cache_stored = state.stored - before->stored;
  statistics->cache_failures = state.failures + state.damaged - before->failures - before->damaged;
  memcpy(statistics->cache_why, state.why, sizeof statistics->cache_why);
}

void gather_remote_client_statistics(gather_remote_client *client, gather_remote_statistics *statistics) {
  gather_remote_costs costs;
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  *statistics = client->counts;
  statistics->depth = client->depth_now;
  cache_counts(client, statistics);
  take_measured(client, &costs);
  statistics->latency = costs.latency;
  statistics->bandwidth = costs.bandwidth;
  statistics->p50 = (double)gather_histogram_share(&client->durations, 0.50) * 1e-9;
  statistics->p99 = (double)gather_histogram_share(&client->durations, 0.99) * 1e-9;
  (void)pthread_mutex_unlock(&client->lock);
}

void gather_remote_client_statistics_reset(gather_remote_client *client) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  client->counts = (gather_remote_statistics){0};
  client->durations = (gather_histogram){0};
  gather_block_cache_state_get(client->cache, &client->cache_before);
  (void)pthread_mutex_unlock(&client->lock);
}

void gather_remote_client_useful(gather_remote_client *client, int64_t bytes) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  client->counts.bytes_useful += bytes;
  (void)pthread_mutex_unlock(&client->lock);
}

#endif
