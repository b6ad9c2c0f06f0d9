/* SPDX-License-Identifier: MIT
 *
 * host.c: which API version this host and the plug-in both know.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ort_api.h"

/* The minor version of "1.X.Y" is the API version; -1 for any other text. */
static long api_version(const char *text) {
  char *end;
  if (!text || text[0] != '1' || text[1] != '.' || text[2] < '0' || text[2] > '9') return -1;
  const long minor = strtol(text + 2, &end, 10);
  return *end == '.' && minor > 0 ? minor : -1;
}

bool gather_ort_host_open(const OrtApiBase *base, uint32_t least, ort_host *host) {
  *host = (ort_host){.api = NULL};
  if (!base || !base->GetApi || !base->GetVersionString) return false;
  const char *name = base->GetVersionString();
  snprintf(host->name, sizeof host->name, "%s", name ? name : "?");
  /* A later major version numbers its interfaces as it likes: what it gives for the number that we know is what counts. */
  host->minor = api_version(name);
  const uint32_t version = host->minor < 0 || host->minor > ORT_NEWEST ? ORT_NEWEST : (uint32_t)host->minor;
  host->api = base->GetApi(version);
  host->version = host->api ? version : 0;
  if (!host->api) host->api = base->GetApi(1);
  if (host->api && !host->version) host->version = 1;
  if (ORT_HAS(host, GetEpApi)) host->ep = ORT(host, GetEpApi)();
  return host->api && host->version >= least;
}
