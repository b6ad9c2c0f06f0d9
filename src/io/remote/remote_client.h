/* SPDX-License-Identifier: MIT
 *
 * remote_client.h: reads byte ranges of files on other machines. This layer knows URLs and bytes; neither formats nor rows.
 *
 *   client   connections, their thread, limits, statistics, the block cache; shared by all objects that are opened with it
 *   object   one remote file: where it is, its size, its version
 *   request  one range of an object, into memory of the caller
 *   queue    where the finished requests of one reader arrive
 */
#ifndef GATHER_REMOTE_CLIENT_H
#define GATHER_REMOTE_CLIENT_H

#include "gather/remote.h"

typedef struct gather_remote_client gather_remote_client;
typedef struct gather_remote_object gather_remote_object;
typedef struct gather_remote_queue gather_remote_queue;

/* ---- clients */

/* Creates a client. options: copied. It begins its thread with its first request. Returns GATHER_USAGE (options), GATHER_UNSUPPORTED,
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_client_create(const gather_remote_options *options, gather_remote_client **client,
                                                         gather_error *error);
/* One more owner; one less: the last one ends its thread and closes its connections. NULL does nothing. */
gather_remote_client *gather_remote_client_hold(gather_remote_client *client);
void gather_remote_client_release(gather_remote_client *client);
/* In a child of fork(): abandons the parent's thread and connections; the next request begins its own. Requests that were unfinished
 * stay the parent's: in the child their queues may only be destroyed, or used again for other requests. Every function below calls it. */
void gather_remote_client_enter(gather_remote_client *client);
/* Before the first request: all connections will be used. They are opened while the first answer of a far server is awaited. */
void gather_remote_client_expect_all(gather_remote_client *client);
void gather_remote_client_statistics(gather_remote_client *client, gather_remote_statistics *statistics);
void gather_remote_client_statistics_reset(gather_remote_client *client);

/* ---- objects */

/* Opens a URL with one request, for its first bytes: follows redirects, and learns size and version. Returns GATHER_FILE_NOT_FOUND,
 * GATHER_IO_ERROR, GATHER_UNSUPPORTED (a scheme that is not allowed), GATHER_USAGE (no URL), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_object_open(gather_remote_client *client, const char *url, gather_remote_object **object,
                                                       gather_error *error);
/* What an open asks for, besides size and version. */
typedef struct gather_remote_opening {
  int64_t bytes; /* at least 1; a file may have fewer */
  bool tail;     /* the last ones, if the server serves them; else the first ones */
  bool once;     /* they are for the first request or read, and not kept longer */
} gather_remote_opening;
/* The same for other bytes than the first 64 KiB. */
GATHER_CHECKED gather_status gather_remote_object_open_for(gather_remote_client *client, const char *url,
                                                           const gather_remote_opening *opening, gather_remote_object **object,
                                                           gather_error *error);
void gather_remote_object_close(gather_remote_object *object);
/* Frees what the open brought, unless it is all that a server without ranges has. Of an object that was opened for more than the first use
 * this is for who opened it, before others know it. */
void gather_remote_object_forget(gather_remote_object *object);

/* What the open told, constant until the object is closed. */
typedef struct gather_remote_about {
  int64_t size;
  const char *name;    /* the URL without user, query and fragment: for messages, and to resolve names beside it */
  const char *version; /* a strong ETag in quotes; "": none (then Last-Modified holds it, if there is one) */
  const char *head;    /* the bytes that the open read, from byte 0; none if they are others, or not kept */
  int64_t head_bytes;
} gather_remote_about;
gather_remote_about gather_remote_object_about(const gather_remote_object *object);

static inline int64_t gather_remote_object_size(const gather_remote_object *object) { return gather_remote_object_about(object).size; }
static inline const char *gather_remote_object_name(const gather_remote_object *object) { return gather_remote_object_about(object).name; }
static inline const char *gather_remote_object_version(const gather_remote_object *object) {
  return gather_remote_object_about(object).version;
}
static inline const char *gather_remote_object_head(const gather_remote_object *object, int64_t *bytes) {
  const gather_remote_about about = gather_remote_object_about(object);
  *bytes = about.head_bytes;
  return about.head;
}

/* Reads a range, and waits. Long ones are read in parallel parts; what the open read is copied. */
GATHER_CHECKED gather_status gather_remote_object_read(gather_remote_object *object, int64_t offset, int64_t bytes, void *data,
                                                       gather_error *error);
/* Reads a whole document of at most `limit` bytes, such as a listing, and waits. address: what is asked for in place of the URL's own
 * address, with its credentials if the host is the same; NULL = that one. text: gather_free frees it; a zero byte follows it.
 * Returns what gather_remote_object_open does. */
GATHER_CHECKED gather_status gather_remote_document(gather_remote_client *client, const char *url, const char *address, int64_t limit,
                                                    char **text, int64_t *bytes, gather_error *error);

/* ---- requests */

typedef struct gather_remote_request {
  gather_remote_object *object;
  int64_t offset, bytes; /* within the object */
  char *data;            /* room for them */
  void *owner;           /* the caller's own */
  gather_status status;  /* set when it is finished */
  /* Set unless status is GATHER_OK: the URL as file, the byte as file_offset; message has the status of HTTP and how often it was tried. */
  gather_error error;
  /* The client's own, set when the request begins. */
  struct gather_remote_request *next;
  gather_remote_queue *queue;
  struct gather_remote_state {
    struct gather_remote_transfer *transfers[2]; /* the second is the hedge */
    int64_t arrived;                             /* bytes, from the first on, that need not be asked for again */
    int64_t begun, progress, not_before;         /* clocks; 0 = never */
    int64_t news;                                /* bytes of short answers since `progress` */
    int32_t tries, doubts;                       /* that failed */
    bool renews, renewed, hedged, document;
    bool unranged;                         /* the open asks without a range, since the answer to one was of no use */
    bool tail;                             /* the open asks for the last bytes */
    bool refused;                          /* the latest answer is 401 or 403 */
    struct gather_remote_request *covered; /* those for which this one fetches whole blocks */
    int64_t from_disk;                     /* bytes, from the first on, that were cached */
    bool cover, stores;                    /* it does; its whole blocks are stored on disk */
  } state;
} gather_remote_request;

GATHER_CHECKED gather_status gather_remote_queue_create(gather_remote_client *client, gather_remote_queue **queue, gather_error *error);
/* No request of it may be unfinished. */
void gather_remote_queue_destroy(gather_remote_queue *queue);
/* Begins a request, whose memory stays the caller's and unmoved until it is finished. More may begun than connections are allowed: the
 * client sends them in order. */
void gather_remote_begin(gather_remote_queue *queue, gather_remote_request *request);
/* Waits for a finished request of the queue, in any order. One must have begun. */
gather_remote_request *gather_remote_finish(gather_remote_queue *queue);
/* Waits at most so long: whether gather_remote_finish would not wait. */
bool gather_remote_await(gather_remote_queue *queue, int64_t nanoseconds);
/* Ends all requests of the queue early: each still arrives in gather_remote_finish, most with GATHER_CANCELLED. */
void gather_remote_cancel(gather_remote_queue *queue);

/* ---- what a reader may know about the network, to choose how ranges are joined */

typedef struct gather_remote_costs {
  double latency;      /* seconds to the first byte */
  double bandwidth;    /* bytes a second, all connections together */
  int32_t connections; /* requests in flight that are allowed soon: all, unless the server has refused some */
  double rate;         /* requests a second at most; 0 = no limit is known */
  int64_t bytes;       /* that arrived, and on which the figures stand; 0 = they are certain */
  bool guessed;        /* no answer long enough has told the bandwidth yet: it may be many times as large */
} gather_remote_costs;

/* Measured so far; before that, careful guesses. */
void gather_remote_client_costs(gather_remote_client *client, gather_remote_costs *costs);

#endif
