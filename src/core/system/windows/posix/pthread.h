/* SPDX-License-Identifier: MIT
 *
 * pthread.h: threads, by the locks and condition variables of Windows: each is one word, made without a call, and never fails.
 */
#ifndef GATHER_POSIX_PTHREAD_H
#define GATHER_POSIX_PTHREAD_H

#include <posix_names.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

typedef void *pthread_t;
typedef struct pthread_mutex {
  void *lock;
} pthread_mutex_t;
typedef struct pthread_cond {
  void *waiting;
  clockid_t clock;
} pthread_cond_t;
typedef struct pthread_condattr {
  clockid_t clock;
} pthread_condattr_t;
typedef struct pthread_attr {
  size_t stack_bytes;
} pthread_attr_t;
typedef struct pthread_once {
  void *state;
} pthread_once_t;
typedef unsigned long pthread_key_t;
typedef struct pthread_mutexattr pthread_mutexattr_t;

#define PTHREAD_MUTEX_INITIALIZER \
  { NULL }
#define PTHREAD_COND_INITIALIZER \
  { NULL, CLOCK_REALTIME }
#define PTHREAD_ONCE_INIT \
  { NULL }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *argument), void *argument)
    GATHER_POSIX(pthread_create);
int pthread_join(pthread_t thread, void **result) GATHER_POSIX(pthread_join);
int pthread_attr_init(pthread_attr_t *attributes) GATHER_POSIX(pthread_attr_init);
int pthread_attr_destroy(pthread_attr_t *attributes) GATHER_POSIX(pthread_attr_destroy);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes) GATHER_POSIX(pthread_attr_setstacksize);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) GATHER_POSIX(pthread_mutex_init);
int pthread_mutex_destroy(pthread_mutex_t *mutex) GATHER_POSIX(pthread_mutex_destroy);
int pthread_mutex_lock(pthread_mutex_t *mutex) GATHER_POSIX(pthread_mutex_lock);
int pthread_mutex_unlock(pthread_mutex_t *mutex) GATHER_POSIX(pthread_mutex_unlock);
int pthread_condattr_init(pthread_condattr_t *attributes) GATHER_POSIX(pthread_condattr_init);
int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) GATHER_POSIX(pthread_condattr_setclock);
int pthread_condattr_destroy(pthread_condattr_t *attributes) GATHER_POSIX(pthread_condattr_destroy);
int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) GATHER_POSIX(pthread_cond_init);
int pthread_cond_destroy(pthread_cond_t *condition) GATHER_POSIX(pthread_cond_destroy);
int pthread_cond_signal(pthread_cond_t *condition) GATHER_POSIX(pthread_cond_signal);
int pthread_cond_broadcast(pthread_cond_t *condition) GATHER_POSIX(pthread_cond_broadcast);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) GATHER_POSIX(pthread_cond_wait);
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end)
    GATHER_POSIX(pthread_cond_timedwait);
int pthread_once(pthread_once_t *once, void (*run)(void)) GATHER_POSIX(pthread_once);
int pthread_key_create(pthread_key_t *key, void (*destroy)(void *value)) GATHER_POSIX(pthread_key_create);
int pthread_setspecific(pthread_key_t key, const void *value) GATHER_POSIX(pthread_setspecific);
void *pthread_getspecific(pthread_key_t key) GATHER_POSIX(pthread_getspecific);
int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) GATHER_POSIX(pthread_atfork);

#endif
