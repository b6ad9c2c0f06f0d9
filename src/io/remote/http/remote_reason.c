/* SPDX-License-Identifier: MIT
 *
 * remote_reason.c: why S3 and the hub refuse a request, from the headers and the body of their answers.
 */
#include "core/base/error.h"

#include <stdio.h>
#include <time.h>
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

bool gather_remote_asks_place(const gather_remote_transfer *transfer) {
  const gather_remote_place *place = &transfer->request->object->place;
  return place->origin && transfer->at_place;
}

int gather_remote_reason(gather_remote_transfer *transfer, char why[GATHER_ANSWER_WHY]) {
  const gather_remote_place *place = &transfer->request->object->place;
  gather_growing words = {0};
  int status = transfer->answer.status;
  if (status < 300 || !gather_remote_asks_place(transfer)) return -1;
  if (transfer->verdict == GATHER_ANSWER_CHANGED || transfer->answer.broken) return -1;
  const int again = gather_remote_origin_refusal(place->origin, &transfer->client->settings.given, status,
                                                 &transfer->notes, transfer->refusal.text ? transfer->refusal.text : "",
                                                 transfer->refusal.bytes, (int64_t)time(NULL), &words);
  if (words.bytes > 0 && !words.failed) (void)snprintf(why, GATHER_ANSWER_WHY, "status %d: %s", status, words.text);
  gather_growing_clear(&words);
  return again;
}

#endif
