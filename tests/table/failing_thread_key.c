/* SPDX-License-Identifier: MIT
 *
 * failing_thread_key.c: the wrapper of pthread_setspecific, apart because ThreadSanitizer's own start calls that function.
 */
#include <pthread.h>

#include "support/wrapped.h"
#include "table/failing.h"

WRAPPED(int, pthread_setspecific, (pthread_key_t key, const void *value)) {
  int number = value ? failing_now("pthread_setspecific") : 0; /* what is there can be removed */
  return number != 0 ? number : REAL(pthread_setspecific)(key, value);
}
