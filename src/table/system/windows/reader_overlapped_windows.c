/* SPDX-License-Identifier: MIT
 *
 * reader_overlapped_windows.c: overlapped reads: begun at once, many in flight, from one thread. All reads of a reader share one event,
 * which each of them sets when it completes; who waits then looks which one it was. (A completion port would tell, but a file has one
 * port for ever, and several readers share a file.)
 */
#include <stdbool.h>
#include <windows.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/system/windows/windows_internal.h"
#include "table/reader.h"

typedef struct overlapped_reader {
  OVERLAPPED *places; /* of each slot */
  int32_t *flying;    /* slots whose reads the system has, the oldest first */
  int32_t flying_count;
  int32_t *by_hand; /* a stack of those that it refused, to be read by pread */
  int32_t by_hand_count;
  HANDLE event;
} overlapped_reader;

static void destroy(gather_reader *reader) {
  overlapped_reader *own = reader->own;
  if (own->event) (void)CloseHandle(own->event);
  gather_free(own->places);
  gather_free(own->flying);
  gather_free(own->by_hand);
  gather_free(own);
}

static gather_status create(gather_reader *reader, gather_error *error) {
  const int64_t count = reader->slot_count;
  overlapped_reader *own = gather_alloc((int64_t)sizeof *own);
  reader->own = own;
  if (own) {
    own->places = gather_alloc(count * (int64_t)sizeof *own->places);
    own->flying = gather_alloc(count * (int64_t)sizeof *own->flying);
    own->by_hand = gather_alloc(count * (int64_t)sizeof *own->by_hand);
    own->event = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (own->places && own->flying && own->by_hand && own->event) return GATHER_OK;
    destroy(reader);
  }
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the state of %d reads", (int)count);
}

/* Whether the system has the read now. */
static bool submit(overlapped_reader *own, const gather_slot *slot, OVERLAPPED *place) {
  enum { MOST_BYTES = 1 << 30 };
  const uint64_t offset = (uint64_t)slot->read.offset;
  const DWORD bytes = (DWORD)(slot->read.bytes < MOST_BYTES ? slot->read.bytes : MOST_BYTES);
  *place = (OVERLAPPED){.hEvent = own->event};
  place->Offset = (DWORD)(offset & 0xffffffff), place->OffsetHigh = (DWORD)(offset >> 32);
  return ReadFile(gather_handle_of(slot->fd), slot->data, bytes, NULL, place) || GetLastError() == ERROR_IO_PENDING;
}

static gather_status begin(gather_reader *reader, int32_t i, gather_error *error) {
  overlapped_reader *own = reader->own;
  (void)error;
  if (submit(own, &reader->slots[i], &own->places[i]))
    own->flying[own->flying_count++] = i;
  else
    own->by_hand[own->by_hand_count++] = i;
  return GATHER_OK;
}

/* A read that has completed, which is then no longer among those in flight; -1 = none. */
static int32_t take_completed(overlapped_reader *own) {
  for (int32_t n = 0; n < own->flying_count; n++) {
    const int32_t i = own->flying[n];
    if (!HasOverlappedIoCompleted(&own->places[i])) continue;
    for (own->flying_count--; n < own->flying_count; n++) own->flying[n] = own->flying[n + 1];
    return i;
  }
  return -1;
}

/* Waits at most so many milliseconds. A read that completes between the look and the wait has set the event by then. */
static int32_t wait_for_one(overlapped_reader *own, DWORD milliseconds) {
  int32_t i;
  (void)ResetEvent(own->event);
  while ((i = take_completed(own)) < 0) {
    if (WaitForSingleObject(own->event, milliseconds) != WAIT_OBJECT_0) return -1;
    (void)ResetEvent(own->event);
  }
  return i;
}

/* Bytes, or a negative errno. */
static int64_t answer_of(const gather_slot *slot, OVERLAPPED *place) {
  DWORD got = 0;
  if (GetOverlappedResult(gather_handle_of(slot->fd), place, &got, FALSE)) return got;
  const DWORD error = GetLastError();
  return error == ERROR_HANDLE_EOF ? 0 : -(int64_t)gather_windows_errno(error);
}

static int32_t finish(gather_reader *reader) {
  overlapped_reader *own = reader->own;
  const bool hand = own->by_hand_count > 0;
  const int32_t i = hand ? own->by_hand[--own->by_hand_count] : wait_for_one(own, INFINITE);
  gather_slot *slot = &reader->slots[i];
  if (hand || !gather_slot_advance(slot, answer_of(slot, &own->places[i]))) gather_slot_read(slot);
  return i;
}

/* The system has all but the refused ones. */
static int32_t cancel(gather_reader *reader) {
  overlapped_reader *own = reader->own;
  const int32_t count = own->by_hand_count;
  own->by_hand_count = 0;
  for (int32_t n = 0; n < own->flying_count; n++) {
    const int32_t i = own->flying[n];
    (void)CancelIoEx(gather_handle_of(reader->slots[i].fd), &own->places[i]);
  }
  return count;
}

const gather_reader_engine gather_reader_overlapped = {
    .buffers = true, .create = create, .destroy = destroy, .abandon = destroy, .begin = begin, .finish = finish, .cancel = cancel};
