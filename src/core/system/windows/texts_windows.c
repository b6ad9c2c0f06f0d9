/* SPDX-License-Identifier: MIT
 *
 * texts_windows.c: errors of Windows as numbers of errno, and words for those: the C library of Windows has none for the newer ones; texts,
 * streams and addresses.
 */
#include <winsock2.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <windows.h>

#include <in6addr.h>

#include "core/system/windows/windows_internal.h"

/* ---- errors of Windows as numbers of errno */

typedef struct pair {
  DWORD error;
  int number;
} pair;

static const pair PAIRS[] = {
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_INVALID_NAME, ENOENT},
    {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_SHARING_VIOLATION, EACCES},
    {ERROR_LOCK_VIOLATION, EACCES},
    {ERROR_DELETE_PENDING, EACCES},
    {ERROR_USER_MAPPED_FILE, EACCES},
    {ERROR_CANT_ACCESS_FILE, EACCES},
    {ERROR_PRIVILEGE_NOT_HELD, EPERM},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_NOT_SAME_DEVICE, EXDEV},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_FILE_TOO_LARGE, EFBIG},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_PIPE_NOT_CONNECTED, EPIPE},
    {ERROR_INVALID_PARAMETER, EINVAL},
    {ERROR_NEGATIVE_SEEK, EINVAL},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_NO_UNICODE_TRANSLATION, EILSEQ},
    {ERROR_INVALID_FUNCTION, ENOTSUP},
    {ERROR_NOT_SUPPORTED, ENOTSUP},
    {ERROR_CALL_NOT_IMPLEMENTED, ENOTSUP},
    {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
    {ERROR_TOO_MANY_LINKS, EMLINK},
    {ERROR_TIMEOUT, ETIMEDOUT},
};

int gather_windows_errno(unsigned long error) {
  for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
    if (PAIRS[i].error == error) return PAIRS[i].number;
  return EIO;
}

int gather_windows_fail_as(int number) {
  errno = number;
  return -1;
}

int gather_windows_fail(void) { return gather_windows_fail_as(gather_windows_errno(GetLastError())); }

/* ---- words. Those that other systems use, so that messages are the same. */

typedef struct words {
  int number;
  const char *text;
} words;

static const words WORDS[] = {
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {EIO, "Input/output error"},
    {EBADF, "Bad file descriptor"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EEXIST, "File exists"},
    {EXDEV, "Invalid cross-device link"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {EMFILE, "Too many open files"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {EROFS, "Read-only file system"},
    {EMLINK, "Too many links"},
    {EPIPE, "Broken pipe"},
    {ENAMETOOLONG, "File name too long"},
    {ENOTEMPTY, "Directory not empty"},
    {EILSEQ, "Invalid or incomplete multibyte or wide character"},
    {ELOOP, "Too many levels of symbolic links"},
    {ENOTSUP, "Operation not supported"},
    {EOPNOTSUPP, "Operation not supported"},
    {ETIMEDOUT, "Connection timed out"},
    {ESTALE, "Stale file handle"},
    {EWOULDBLOCK, "Resource temporarily unavailable"},
    {ENOSYS, "Function not implemented"},
};

#undef strerror

char *gather_posix_strerror(int number) {
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (WORDS[i].number == number) return (char *)(uintptr_t)WORDS[i].text;
  return strerror(number);
}

int strerror_r(int number, char *text, size_t bytes) {
  if (bytes == 0) return ERANGE;
  const int written = snprintf(text, bytes, "%s", gather_posix_strerror(number));
  return written >= 0 && (size_t)written < bytes ? 0 : ERANGE;
}

/* ---- texts, and streams by names in UTF-8 */

static int folded(char byte) { return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : (unsigned char)byte; }

int strncasecmp(const char *a, const char *b, size_t most) {
  for (; most > 0; a++, b++, most--) {
    if (folded(*a) != folded(*b)) return folded(*a) - folded(*b);
    if (!*a) return 0;
  }
  return 0;
}

int strcasecmp(const char *a, const char *b) { return strncasecmp(a, b, SIZE_MAX); }

char *strndup(const char *text, size_t most) {
  const size_t bytes = strnlen(text, most);
  char *copy = malloc(bytes + 1);
  if (copy) memcpy(copy, text, bytes), copy[bytes] = '\0';
  return copy;
}

char *strdup(const char *text) { return strndup(text, strlen(text)); }

FILE *gather_posix_fopen(const char *path, const char *mode) {
  wchar_t wide_mode[8];
  wchar_t *wide = gather_wide_path(path);
  size_t n = 0;
  if (!wide) return NULL;
  for (; mode[n] && n + 2 < sizeof wide_mode / sizeof *wide_mode; n++) wide_mode[n] = (wchar_t)mode[n];
  if (!strchr(mode, 'b')) wide_mode[n++] = L'b'; /* the ends of lines stay */
  wide_mode[n] = L'\0';
  FILE *file = _wfopen(wide, wide_mode);
  free(wide);
  return file;
}

/* ---- addresses written as numbers, without the sockets of Windows, which a program would have to start first */

/* Functions of ntdll, which not all headers have; an error is not 0. */
LONG NTAPI RtlIpv4StringToAddressA(PCSTR text, BOOLEAN strict, PCSTR *end, struct in_addr *address);
LONG NTAPI RtlIpv6StringToAddressA(PCSTR text, PCSTR *end, IN6_ADDR *address);

int gather_posix_inet_pton(int family, const char *text, void *address);

int gather_posix_inet_pton(int family, const char *text, void *address) {
  const char *end = text;
  IN6_ADDR six;
  struct in_addr four;
  if (family == AF_INET6) {
    if (RtlIpv6StringToAddressA(text, &end, &six) != 0 || *end) return 0;
    memcpy(address, &six, sizeof six);
    return 1;
  }
  if (RtlIpv4StringToAddressA(text, TRUE, &end, &four) != 0 || *end) return 0;
  memcpy(address, &four, sizeof four);
  return 1;
}
