/* SPDX-License-Identifier: MIT
 *
 * fake_remote.h: stands in for the client of src/io/remote in a test program: files in memory, whose requests are answered in a scripted
 * order by whoever waits for them. No network, no thread.
 */
#ifndef GATHER_TESTS_IO_REMOTE_FAKE_REMOTE_H
#define GATHER_TESTS_IO_REMOTE_FAKE_REMOTE_H

#include "io/remote/remote_client.h"

enum { FAKE_MOST_REQUESTS = 4096 };

#define FAKE_URL "https://fake.example/table.npy"

typedef struct fake_file {
  const char *url, *bytes;
  int64_t size;
} fake_file;

/* What the network is like, and what it saw. Not changed while requests are in flight. */
typedef struct fake_network {
  const fake_file *files;
  int file_count;
  int64_t head; /* bytes that opening a file gives */
  gather_remote_costs costs;
  gather_remote_costs later; /* from so many requests on; 0: never */
  int later_from;
  bool last_first; /* requests are answered in reverse */
  int64_t stalled; /* requests that contain this byte are not answered until they are cancelled; -1 = none */
  int64_t broken;  /* those that contain this byte fail */
  int fails_at;    /* the number of an opening or of a request that fails, -1 = none */
  /* Seen. */
  int clients, clients_open, objects_open, queues_open; /* made, and now */
  int opened;                                           /* objects */
  int asked;                                            /* openings and requests, in any order */
  int count;                                            /* requests, in the order in which they began: */
  int64_t offset[FAKE_MOST_REQUESTS], length[FAKE_MOST_REQUESTS];
  int in_flight, peak; /* now, and at most */
  int cancelled, waits;
} fake_network;

extern fake_network fake;

/* A network with this file as FAKE_URL, and nothing seen. */
void fake_begin(const char *bytes, int64_t size);
/* The same with these files, which stay the caller's. */
void fake_begin_files(const fake_file *files, int count);

#endif
