/* SPDX-License-Identifier: MIT
 *
 * remote_internal.h: a client from the inside. Only in builds with libcurl.
 *
 * One thread per client, the network thread, calls libcurl and decides everything; callers only put requests into a list and wait for
 * them. So all that is marked "network" below needs no lock, and all that is marked "lock" is read and written under client->lock.
 * The exception is an object while it is opened: only the network thread knows it then.
 */
#ifndef GATHER_REMOTE_INTERNAL_H
#define GATHER_REMOTE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* CURLOPT_PROTOCOLS has a successor since 7.85; older libraries have only the old one, newer ones both. */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "io/remote/answer.h"
#include "io/remote/block_cache.h"
#include "io/remote/origin.h"
#include "io/remote/pace.h"
#include "io/remote/remote_client.h"

#define GATHER_REMOTE_TEXT_OF(number) #number
#define GATHER_REMOTE_TEXT(number) GATHER_REMOTE_TEXT_OF(number)
#define GATHER_REMOTE_AGENT "libgather/" GATHER_REMOTE_TEXT(GATHER_VERSION_MAJOR) "." GATHER_REMOTE_TEXT(GATHER_VERSION_MINOR)

enum {
  GATHER_REMOTE_HEAD_BYTES = 65536,    /* that an open asks for */
  GATHER_REMOTE_MOST_HOPS = 8,         /* redirects in a row */
  GATHER_REMOTE_MOST_DOUBTS = 2,       /* tries after an answer that no good server gives */
  GATHER_REMOTE_LEAST_PROGRESS = 1024, /* bytes of a body in try_seconds: fewer are no progress */
  GATHER_REMOTE_MOST_POLLED = 2304,    /* two for each of 1024 connections while it opens (IPv4, IPv6), and a few */
  GATHER_REMOTE_MOST_AHEAD = 63,
  GATHER_REMOTE_FAR = 5000000,        /* nanoseconds without the first answer, after which connections are opened ahead */
  GATHER_REMOTE_LEAST_LEFT = 50000000 /* nanoseconds before the end of take_seconds: no try begins later */
};

/* ---- curl_library.c: libcurl, loaded when the first URL is opened: programs that open none neither need it nor start it */

/* libcurl's functions; names and meanings are its own, without their beginning. */
typedef struct gather_curl {
  CURLcode (*global_init)(long flags);
  curl_version_info_data *(*version_info)(CURLversion age);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *easy);
  CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
  CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
  const char *(*easy_strerror)(CURLcode code);
  struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
  void (*slist_free_all)(struct curl_slist *list);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_cleanup)(CURLM *multi);
  CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
  CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
  CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
  CURLMcode (*multi_socket_action)(CURLM *multi, curl_socket_t socket, int events, int *running);
  CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
  CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *more, unsigned int count, int milliseconds, int *ready);
  CURLMcode (*multi_wakeup)(CURLM *multi);
} gather_curl;

/* Loads libcurl, once in a process. Returns GATHER_UNSUPPORTED: it is not installed, too old (7.68 is the oldest), or has no TLS; the
 * message says which. A later call tries again. The table stays valid for the life of the process. Threads: any. */
GATHER_CHECKED gather_status gather_curl_load(const gather_curl **curl, gather_error *error);

/* ---- a client from the inside */

/* A list of requests, linked by next. */
typedef struct gather_remote_list {
  gather_remote_request *first, **end;
} gather_remote_list;

struct gather_remote_object {
  gather_remote_client *client;
  gather_arena arena;
  gather_remote_place place;
  /* network, until opened; then constant: */
  int64_t size; /* -1 until then */
  char etag[GATHER_ANSWER_TAG], last_modified[GATHER_ANSWER_DATE];
  char *head;      /* what the open read: the first bytes, the last ones, or all of them */
  int64_t head_at; /* their place in the file */
  int64_t head_bytes, head_room;
  bool once;   /* head is freed by its first use, under the client's lock */
  bool whole;  /* the server has no ranges: head is the file */
  bool cached; /* blocks are looked for on disk, and stored there */
  gather_block_file blocks;
  char linked_etag[200]; /* of the hub's first answer */
  /* network */
  gather_remote_url target; /* what is asked: the place, or where its redirects led */
  gather_arena target_arena;
  gather_remote_reach target_limit; /* of the addresses at which it is asked */
  bool redirected;
  gather_remote_request *renewing; /* this request finds a new target; the others wait */
  int32_t generation;              /* of the target */
};

/* Connections that are opened while the first answer of a far server is awaited: rows need them next. Network, but for `wanted`. */
typedef struct gather_remote_ahead {
  bool wanted;                     /* set before the first request */
  bool tried;                      /* once for each client */
  struct sockaddr_storage address; /* of the server that is opened; bytes 0: not known yet */
  socklen_t bytes;
  int64_t opened; /* when */
  int32_t count;
  int sockets[GATHER_REMOTE_MOST_AHEAD]; /* connected, or nearly; libcurl does not know them yet */
} gather_remote_ahead;

/* A request on its way. */
typedef struct gather_remote_transfer {
  gather_remote_client *client;
  gather_remote_request *request; /* NULL: idle */
  struct gather_remote_transfer *next;
  CURL *easy;
  struct curl_slist *headers;
  gather_arena arena;    /* of hop */
  gather_remote_url hop; /* what is asked now */
  /* hop is of the place's origin. hop itself may be a target that was renewed meanwhile: only a transfer from the place, whose hops are its
   * own, may look at it once it was sent. */
  bool at_place;
  bool from_place; /* it began at the place, not at the target: redirects are followed */
  int32_t hops, generation;
  bool is_hedge, lost; /* lost: the other transfer of the request was faster */
  /* What it may connect to: nothing nearer than limit. farthest: of the servers that redirected so far. */
  gather_remote_reach limit, farthest, refused;
  bool refused_address; /* since it was `refused` */
  bool connected;       /* its socket was opened ahead */
  bool no_descriptor;   /* the process may open no more files */
  bool no_memory;       /* for a whole file */
  bool is_added;        /* to the multi handle */
  bool is_done;
  gather_remote_answer answer;
  gather_remote_verdict verdict; /* once answer.complete */
  char why[GATHER_ANSWER_WHY];
  char problem[CURL_ERROR_SIZE];
  gather_remote_notes notes;                        /* of the answers of the place; only of s3:// and hf:// */
  gather_growing refusal;                           /* the first bytes of a body that says why; likewise */
  bool overflow;                                    /* more bytes than asked for */
  int64_t first, wanted, got;                       /* the range, and how much of it came; wanted -1: all of a body */
  int64_t skip;                                     /* bytes of the body that are before it, still to come */
  int64_t discarded;                                /* those, and bytes of bodies that say why */
  gather_remote_age age;                            /* of the connection, once it is answered */
  int64_t asked;                                    /* when the request was on its way, once it is answered */
  int64_t sent, answered, window_began, window_got; /* clocks */
} gather_remote_transfer;

struct gather_remote_client {
  _Atomic int64_t process;
  const gather_curl *curl;
  gather_remote_settings settings;
  gather_block_cache *cache; /* NULL: none */
  /* lock */
  pthread_mutex_t lock;
  int64_t owners;
  bool running, ending, cancelling;
  pthread_t thread;
  gather_remote_list intake;
  gather_remote_statistics counts;
  gather_block_cache_state cache_before; /* when the counts began */
  gather_remote_measure measure;
  bool depth_grows; /* the server has refused nothing yet: depth_now doubles until the limit */
  int32_t depth_now;
  bool sleeps_full; /* nothing can be sent before an answer: new requests need not wake the thread */
  /* network */
  CURLM *multi;
  struct curl_waitfd polled[GATHER_REMOTE_MOST_POLLED]; /* libcurl's sockets, and what it waits for */
  int32_t polled_count;
  gather_remote_ahead ahead;
  gather_remote_list ready, waiting; /* to be sent in order; to be sent later */
  gather_remote_transfer *active, *idle;
  int32_t active_count, transfer_count;
  gather_depth depth;
  gather_backoff backoff;
  int64_t hedge_after; /* nanoseconds without an answer; 0: not known yet */
  int64_t sent_count, hedge_count;
  int64_t window_bytes, window_began; /* bodies since then */
  int64_t checked;                    /* when transfers were last checked for time limits */
  int sockets[1200];                  /* open ones, -1 elsewhere: a child of fork() closes its copies */
};

struct gather_remote_queue {
  gather_remote_client *client;
  int64_t process;
  pthread_cond_t changed;
  /* lock */
  gather_remote_list finished;
  gather_remote_request *cover; /* the latest that fetches whole blocks for others, if it is unfinished */
  int64_t unfinished;
  bool cancelled;
};

/* ---- lists */

static inline void gather_remote_list_init(gather_remote_list *list) {
  list->first = NULL;
  list->end = &list->first;
}

static inline void gather_remote_list_add(gather_remote_list *list, gather_remote_request *request) {
  request->next = NULL;
  *list->end = request;
  list->end = &request->next;
}

static inline gather_remote_request *gather_remote_list_take(gather_remote_list *list) {
  gather_remote_request *first = list->first;
  if (first) list->first = first->next;
  if (!list->first) list->end = &list->first;
  return first;
}

/* ---- transfers */

/* Whether a transfer asks the place itself, which knows more than HTTP, and not where it redirected to. */
static inline bool gather_remote_asks_place(const gather_remote_transfer *transfer) {
  return transfer->request->object->place.origin && transfer->at_place;
}

/* Whether the answer's body is what was asked for. */
static inline bool gather_remote_takes_body(const gather_remote_transfer *transfer) {
  return transfer->verdict == GATHER_ANSWER_ACCEPTED || transfer->verdict == GATHER_ANSWER_WHOLE;
}

/* ---- remote_network.c: the thread. Starts it unless it runs; with the lock held. */
GATHER_CHECKED gather_status gather_remote_network_start(gather_remote_client *client, gather_error *error);
/* Ends and joins it; without the lock. */
void gather_remote_network_end(gather_remote_client *client);

/* ---- remote_transfer.c: network. Sends a request, or says why not. GATHER_OUT_OF_MEMORY: there may be room later. */
GATHER_CHECKED gather_status gather_remote_send(gather_remote_client *client, gather_remote_request *request, bool is_hedge,
                                                gather_error *error);
/* Sends the same transfer to transfer->hop. */
GATHER_CHECKED gather_status gather_remote_send_hop(gather_remote_transfer *transfer, gather_error *error);
/* Ends a transfer, whatever its state: it is idle then. */
void gather_remote_drop(gather_remote_transfer *transfer);
/* Opens the connections of `ahead` if the first answer takes long enough. */
void gather_remote_connect_ahead(gather_remote_client *client, int64_t now);
/* Closes those that are not used. */
void gather_remote_close_ahead(gather_remote_client *client);
/* Ends and frees all transfers. */
void gather_remote_free_transfers(gather_remote_client *client);

/* ---- remote_outcome.c: network. What follows from a transfer that ended, or that took too long. */
void gather_remote_ended(gather_remote_transfer *transfer, CURLcode code);
void gather_remote_expired(gather_remote_transfer *transfer, int64_t now);
/* Ends a request early: drops its transfers and delivers it. */
GATHER_PRINTF(3, 4)
void gather_remote_fail(gather_remote_request *request, gather_status status, const char *format, ...);

#endif
