/* SPDX-License-Identifier: MIT
 *
 * count_plugin.c: a plugin of qemu (TCG plugins, version 1, https://www.qemu.org/docs/master/devel/tcg-plugins.html) that counts the
 * guest's instructions. Where the guest makes the system call MARK, it prints how many there were since the last mark.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What Debian's qemu-user exports; it has no header. */
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
typedef void (*translated_fn)(plugin_id id, struct qemu_plugin_tb *block);
typedef void (*called_fn)(plugin_id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
                          uint64_t a6, uint64_t a7, uint64_t a8);
enum operation { ADD_U64 = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translated_fn translated);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, enum operation operation, void *number, uint64_t added);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, called_fn called);

enum { MARK = 4000 }; /* no system call; also in count_instructions.c */

static uint64_t count;

static void translated(plugin_id id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                   uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number != MARK) return;
  fprintf(stderr, "%" PRIu64 "\n", count);
  count = 0;
}

#define EXPORT __attribute__((visibility("default")))
EXPORT extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
