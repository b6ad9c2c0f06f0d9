/* SPDX-License-Identifier: MIT
 *
 * permissions.c: copies the permissions of the replaced file to the new one, before it has any content.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sys/xattr.h */
#endif
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/xattr.h>
#endif

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/map.h"
#include "io/format/output.h"

#if defined(__linux__)
static const char ACL[] = "system.posix_acl_access";

/* Copies the access ACL. False on failure: the group bits of the mode would then mean something else for the new
 * file. */
static bool copy_acl(const char *path, int fd) {
  ssize_t bytes = getxattr(path, ACL, NULL, 0);
  if (bytes < 0 && (errno == ENODATA || errno == ENOTSUP)) /* the new file may have inherited its directory's default */
    return fremovexattr(fd, ACL) == 0 || errno == ENODATA || errno == ENOTSUP;
  void *list = bytes >= 0 ? gather_alloc(bytes + 1) : NULL;
  bool copied =
      list && getxattr(path, ACL, list, (size_t)bytes) == bytes && fsetxattr(fd, ACL, list, (size_t)bytes, 0) == 0;
  gather_free(list);
  return copied;
}
#else
static bool copy_acl(const char *path, int fd) {
  (void)path, (void)fd;
  return true;
}
#endif

gather_status gather_permissions_copy(const char *path, int fd, gather_error *error) {
  struct stat old, new;
  if (stat(path, &old) != 0 || fstat(fd, &new) != 0)
    return gather_fail_system(error, path, errno, "read its permissions");
  mode_t mode = old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  bool group = new.st_gid == old.st_gid || fchown(fd, (uid_t)-1, old.st_gid) == 0;
  bool acl = copy_acl(path, fd);
  /* If the group differs, it gets at most the permissions of others. */
  if (!group || !acl) mode &= (mode_t)~S_IRWXG | (mode & S_IRWXO) << 3;
  if (fchmod(fd, mode) != 0) return gather_fail_system(error, path, errno, "keep its permissions");
  /* Last, because only the owner may change the mode. Without the privilege, the file keeps its owner. */
  const bool owner = new.st_uid == old.st_uid || fchown(fd, old.st_uid, (gid_t)-1) == 0;
  (void)owner;
  return GATHER_OK;
}
