/* SPDX-License-Identifier: MIT
 *
 * curl_library.c: loads libcurl by dlopen. It stays loaded: its threads and those of its TLS library may outlive a client.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#if defined(GATHER_HAVE_CURL)
#include "core/base/error.h"
#include "gather/remote.h"
#include "io/remote/remote_internal.h"

enum { OLDEST = 0x074400 }; /* 7.68: curl_multi_wakeup */

/* The names by which systems know it; Debian's other two use GnuTLS and NSS. */
static const char *const FILES[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};

static const struct {
  const char *name;
  size_t place;
} FUNCTIONS[] = {
#define FUNCTION(name) \
  { "curl_" #name, offsetof(gather_curl, name) }
    FUNCTION(global_init),      FUNCTION(version_info),        FUNCTION(easy_init),           FUNCTION(easy_cleanup),
    FUNCTION(easy_setopt),      FUNCTION(easy_getinfo),        FUNCTION(easy_strerror),       FUNCTION(slist_append),
    FUNCTION(slist_free_all),   FUNCTION(multi_init),          FUNCTION(multi_cleanup),       FUNCTION(multi_setopt),
    FUNCTION(multi_add_handle), FUNCTION(multi_remove_handle), FUNCTION(multi_socket_action), FUNCTION(multi_info_read),
    FUNCTION(multi_poll),       FUNCTION(multi_wakeup)
#undef FUNCTION
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gather_curl loaded;
static bool is_loaded;

static gather_status find_functions(void *library, gather_error *error) {
  gather_curl found;
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
    void *function = dlsym(library, FUNCTIONS[i].name);
    if (!function)
      return gather_fail(error, GATHER_UNSUPPORTED, "libcurl has no function %s: it is too old; URLs need 7.68 or newer",
                         FUNCTIONS[i].name);
    memcpy((char *)&found + FUNCTIONS[i].place, &function, sizeof function);
  }
  if (found.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return gather_fail(error, GATHER_UNSUPPORTED, "libcurl cannot be started");
  const curl_version_info_data *version = found.version_info(CURLVERSION_NOW);
  if (version->version_num < OLDEST)
    return gather_fail(error, GATHER_UNSUPPORTED, "libcurl %s is too old; URLs need 7.68 or newer", version->version);
  if (!(version->features & CURL_VERSION_SSL))
    return gather_fail(error, GATHER_UNSUPPORTED, "this libcurl %s has no TLS", version->version);
  loaded = found;
  return GATHER_OK;
}

/* The system says why the first name does not do: it is not there, or is for another machine, or lacks a library of its own. */
static gather_status load(gather_error *error) {
  char why[200] = "";
  for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
    void *library = dlopen(FILES[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *reason = dlerror();
      if (i == 0) (void)snprintf(why, sizeof why, "%s", reason ? reason : FILES[i]);
      continue;
    }
    gather_status status = find_functions(library, error);
    if (status != GATHER_OK) (void)dlclose(library);
    return status;
  }
  return gather_fail(error, GATHER_UNSUPPORTED,
                     "URLs need libcurl, which cannot be loaded here: install it (Debian's package libcurl4): %s", why);
}

gather_status gather_curl_load(const gather_curl **curl, gather_error *error) {
  (void)pthread_mutex_lock(&lock);
  gather_status status = is_loaded ? GATHER_OK : load(error);
  is_loaded = status == GATHER_OK;
  (void)pthread_mutex_unlock(&lock);
  *curl = &loaded;
  return status;
}

gather_status gather_remote_check(gather_error *error) {
  const gather_curl *curl;
  return gather_curl_load(&curl, error);
}

#endif
