/* SPDX-License-Identifier: MIT
 *
 * remote.h: rows of tables on other machines, over HTTP and S3. Since 0.2.
 *
 *     gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
 *     gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
 *     options.remote = &remote;
 *     gather_table_open("https://host/model.safetensors:emb", &options, &table, &error);
 *
 * A name is a URL only if the caller sets `remote`. Otherwise "https://..." is the name of a local file. So a service that passes its
 * users' paths to this library is not a proxy.
 *
 *   https://host/path   http://host/path
 *   s3://bucket/key     an object of S3 or of a server that speaks its protocol; see `endpoint`
 *   hf://owner/repo/file, hf://datasets/owner/repo/file, hf://owner/repo@revision/file    a file of the Hugging Face hub
 *
 * Only ranges of bytes are read, never a whole file unless most of it is needed. Every response is checked: status 206, a Content-Range
 * with the requested beginning, and the version of the file that was opened (If-Match). If a range is shorter than requested, the rest is
 * requested. A server that does not support ranges sends 200 and the whole file. It is downloaded once if it has at most whole_bytes.
 * Otherwise the transfer ends at once, and the message has the size.
 *
 * Errors       GATHER_UNSUPPORTED (a scheme that is not allowed; this build or machine cannot read URLs, and the message says what is
 *              missing), GATHER_FILE_NOT_FOUND (404, 410), GATHER_USAGE (not a URL), GATHER_IO_ERROR (every other failure of a server or a
 *              network). The message of GATHER_IO_ERROR has the URL without its query, the status and the byte. gather_error.row is the
 *              row.
 * Credentials  are passed in these options. The command and the Python package read them from the environment, this library never does.
 *              They are sent only to the host that they are for, and dropped on redirects to another. No message and no file contains them.
 * Threads      any number may use one table. A table of URLs has one additional thread for the network.
 */
#ifndef GATHER_REMOTE_H
#define GATHER_REMOTE_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How URLs are read. Initialise with GATHER_REMOTE_OPTIONS_INIT. Strings are copied when a file is opened; NULL or "" means the
 * default. */
typedef struct gather_remote_options {
  size_t size;         /* sizeof(gather_remote_options) */
  const char *schemes; /* those allowed, separated by commas: "https,http,s3,hf". Default: all of this build */
  /* At most, to all hosts together; 1 to 1024; 0 = 64. Opening a file opens a given number at once, if its server is far (5 ms). */
  int32_t connections;
  double try_seconds;  /* a request without progress for this time is retried; 0 = 20 */
  double take_seconds; /* a take without progress for this time fails; 0 = 60 */
  int32_t retries;     /* of one request; -1 = 8 */
  int64_t gap_bytes;   /* ranges with at most this gap between them are one request; -1 = from the measured latency and bandwidth */
  /* A cache of blocks on local disk: a folder, created if it is missing, with at most cache_bytes of blocks (0 = 1 GiB). The key is the URL
   * without its query, the ETag and the offset. Several processes may share it. Files without a strong ETag are not cached. */
  const char *cache_folder;
  int64_t cache_bytes;
  const char *bearer; /* a token for "Authorization: Bearer", for the host of https:// and hf:// URLs as they were given */
  /* S3 */
  const char *endpoint;                        /* "https://s3.example.org:9000"; default: Amazon's for the region */
  const char *region;                          /* default "us-east-1" */
  const char *key_id, *secret, *session_token; /* default: requests are not signed, as for public buckets */
  bool virtual_host;                           /* https://bucket.endpoint/key; default: https://endpoint/bucket/key */
  const char *hub;                             /* for hf://; default "https://huggingface.co" */
  const char *authorities;                     /* a file of certificates (PEM) to verify servers with; default: the system's */
  /* Since 0.3. The largest file that is downloaded once from a server that does not support ranges, in bytes. It is kept in memory while it
   * is open. 0 = 16 MiB, -1 = none */
  int64_t whole_bytes;
  /* Since 0.3. Allows link-local addresses and others at which clouds provide credentials, and redirects from servers elsewhere to
   * addresses of this machine or of a private network. Default: both are GATHER_IO_ERROR, in any notation and under any host name */
  bool any_address;
} gather_remote_options;

#define GATHER_REMOTE_OPTIONS_INIT \
  { sizeof(gather_remote_options), NULL, 0, 0, 0, -1, -1, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, 0, false }

/* Whether a name begins with a scheme of this page ("https://", "s3://" ...), also if this build does not support it. Threads: any. */
GATHER_API bool gather_remote_is_url(const char *name);
/* Whether URLs can be read here: GATHER_OK, or GATHER_UNSUPPORTED with what is missing. */
GATHER_API GATHER_CHECKED gather_status gather_remote_check(gather_error *error);

/* Counts since a table was opened, or since gather_table_statistics_reset. Times in seconds. */
typedef struct gather_remote_statistics {
  int64_t requests;       /* sent, retries and hedges included */
  int64_t retries;        /* sent again after an error */
  int64_t hedges;         /* sent a second time because the first was slow */
  int64_t bytes_useful;   /* of rows that were asked for */
  int64_t bytes_read;     /* bodies received */
  int64_t cache_hits;     /* blocks found on disk */
  int64_t cache_stored;   /* blocks written to disk */
  int64_t cache_failures; /* blocks that could not be written, or were found damaged */
  int64_t connections;    /* opened */
  int32_t in_flight_peak; /* the most requests in flight at once */
  int32_t depth;          /* requests allowed in flight now */
  int64_t gap_bytes;      /* joined now */
  double latency;         /* measured: to the first byte, the median */
  double bandwidth;       /* measured: bytes a second, all connections together */
  double p50, p99;        /* of whole requests */
  char cache_why[160];    /* why blocks are not stored on disk; "" if they are, or no folder was given */
} gather_remote_statistics;

/* ---- what a bucket or a repository contains ----------------------------------------------------------------------------- */

typedef struct gather_remote_entry {
  const char *name; /* below the URL that was listed; of a folder with its "/" */
  int64_t bytes;    /* of a file; 0 for a folder */
  bool folder;
} gather_remote_entry;

/* Initialise with zeros. The memory belongs to the listing until gather_remote_listing_clear. */
typedef struct gather_remote_listing {
  gather_remote_entry *entries;
  int64_t count;
  bool more;    /* there are more than `most` */
  int64_t room; /* internal */
} gather_remote_listing;

/* Whether a URL can be listed: "s3://bucket", "s3://bucket/folder/", "hf://owner/repo", "hf://owner/repo/folder/". Threads: any. */
GATHER_API bool gather_remote_is_folder(const char *url);
/* Lists at most `most` files and folders at a URL, in the server's order, one request for each 1000. Folders are not entered. Returns
 * the errors of opening a URL, GATHER_USAGE (not such a URL; most below 1), GATHER_FILE_MALFORMED (the server's answer). After an error
 * the listing is empty. Threads: any. */
GATHER_API GATHER_CHECKED gather_status gather_remote_listing_read(const char *url, const gather_remote_options *options, int64_t most,
                                                                   gather_remote_listing *listing, gather_error *error);
/* Frees the entries. NULL does nothing. */
GATHER_API void gather_remote_listing_clear(gather_remote_listing *listing);

#ifdef __cplusplus
}
#endif

#endif
