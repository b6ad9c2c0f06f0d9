/* SPDX-License-Identifier: MIT
 *
 * curl_library.h: libcurl, loaded when the first URL is opened: programs that open none neither need it nor start it.
 */
#ifndef GATHER_REMOTE_CURL_LIBRARY_H
#define GATHER_REMOTE_CURL_LIBRARY_H

/* CURLOPT_PROTOCOLS has a successor since 7.85; older libraries have only the old one, newer ones both. */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "gather/gather.h"

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
  CURLMcode (*multi_perform)(CURLM *multi, int *running);
  CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
  CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *more, unsigned int count, int milliseconds, int *ready);
  CURLMcode (*multi_wakeup)(CURLM *multi);
} gather_curl;

/* Loads libcurl, once in a process. Returns GATHER_UNSUPPORTED: it is not installed, too old (7.68 is the oldest), or has no TLS; the
 * message says which. A later call tries again. The table stays valid for the life of the process. Threads: any. */
GATHER_CHECKED gather_status gather_curl_load(const gather_curl **curl, gather_error *error);

#endif
