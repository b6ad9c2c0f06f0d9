/* SPDX-License-Identifier: MIT
 *
 * guard_windows.c: the handler of exceptions in place of a signal handler. Windows raises an exception in the thread whose access to a
 * mapping fails; the handler has that thread go on in `escape`, which jumps out of the guarded copy. Every other exception goes on to the
 * handlers of the program.
 */
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <windows.h>

#include "core/base/error.h"
#include "table/system/table_system.h"

/* Without a frame longjmp only restores the registers. It would else call the handlers of all frames in between, which begin in the
 * middle of an instruction here. */
#if defined(__x86_64__)
#define GUARD_SETJMP(jump) _setjmp(jump, NULL)
#else
#define GUARD_SETJMP(jump) setjmp(jump)
#endif

typedef struct guarded_copy {
  jmp_buf jump;
  const gather_table_source *sources;
  int32_t count;
  int32_t source;
  int64_t offset;
} guarded_copy;

/* The guard that each thread is in. */
static pthread_key_t active;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool installed;

static void escape(guarded_copy *g) { longjmp(g->jump, 1); }

/* The thread goes on as if it had called escape(g). */
#if defined(__x86_64__)
static void redirect(CONTEXT *context, guarded_copy *g) {
  enum { SHADOW = 32, RETURN_ADDRESS = 8 };
  context->Rsp = (context->Rsp & ~(DWORD64)15) - SHADOW - RETURN_ADDRESS;
  context->Rip = (DWORD64)(uintptr_t)escape;
  context->Rcx = (DWORD64)(uintptr_t)g;
}
#elif defined(__aarch64__)
static void redirect(CONTEXT *context, guarded_copy *g) {
  context->Sp &= ~(DWORD64)15;
  context->Pc = (DWORD64)(uintptr_t)escape;
  context->X0 = (DWORD64)(uintptr_t)g;
}
#endif

/* A page that cannot be read, or one that is gone. The second parameter of both is the address. */
static bool is_access(const EXCEPTION_RECORD *record) {
  return (record->ExceptionCode == EXCEPTION_IN_PAGE_ERROR || record->ExceptionCode == EXCEPTION_ACCESS_VIOLATION) &&
         record->NumberParameters >= 2;
}

static LONG CALLBACK on_exception(EXCEPTION_POINTERS *exception) {
  const EXCEPTION_RECORD *record = exception->ExceptionRecord;
  if (!is_access(record)) return EXCEPTION_CONTINUE_SEARCH;
  const DWORD error = GetLastError();
  guarded_copy *g = pthread_getspecific(active);
  SetLastError(error);
  const char *address = (const char *)record->ExceptionInformation[1];
  if (!g || !gather_guard_find(g->sources, g->count, address, &g->source, &g->offset)) return EXCEPTION_CONTINUE_SEARCH;
  redirect(exception->ContextRecord, g);
  return EXCEPTION_CONTINUE_EXECUTION;
}

/* The handler stays for as long as the process runs, and so must this library. */
static bool stay(void) {
  HMODULE self;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, (LPCWSTR)(void *)&installed, &self) !=
         0;
}

static void install(void) {
  installed = pthread_key_create(&active, NULL) == 0 && stay() && AddVectoredExceptionHandler(1, on_exception) != NULL;
}

gather_status gather_guard_install(gather_error *error) {
  if (pthread_once(&once, install) == 0 && installed) return GATHER_OK;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "cannot install a handler for exceptions");
}

static bool run(guarded_copy *g, void (*body)(void *argument), void *argument) {
  if (GUARD_SETJMP(g->jump) != 0) return false;
  body(argument);
  return true;
}

bool gather_guard_run(const gather_table_source *sources, int32_t count, void (*body)(void *argument), void *argument, int32_t *source,
                      int64_t *offset) {
  guarded_copy g = {.sources = sources, .count = count};
  gather_error error;
  guarded_copy *outer = gather_guard_install(&error) == GATHER_OK ? pthread_getspecific(active) : NULL;
  if (!installed || pthread_setspecific(active, &g) != 0) {
    *source = -1;
    return false;
  }
  const bool good = run(&g, body, argument);
  (void)pthread_setspecific(active, outer);
  if (!good) *source = g.source, *offset = g.offset;
  return good;
}
