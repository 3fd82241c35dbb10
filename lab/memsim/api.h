/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's plugin interface that is used here, version 4, as its
 * documentation describes it (docs/devel/tcg-plugins.rst): no package ships
 * the header.
 */
#ifndef MEMSIM_API_H
#define MEMSIM_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_API	4	/* QEMU 9.2 to 10.0 */

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef uint32_t mem_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_register;

struct plugin_info {
	const char *target;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

/* GLib's, which QEMU is linked with. */
typedef struct {
	uint8_t *data;
	unsigned int len;
} byte_array;

struct register_descriptor {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
};

typedef struct {
	char *data;
	unsigned int len;
} value_array;

enum { NO_REGS, READ_REGS };
enum { MEM_READ = 1, MEM_WRITE, MEM_BOTH };

typedef void (*cpu_fn)(plugin_id id, unsigned int cpu);
typedef void (*tb_fn)(plugin_id id, struct qemu_plugin_tb *tb);
typedef void (*exec_fn)(unsigned int cpu, void *data);
typedef void (*mem_fn)(unsigned int cpu, mem_info info, uint64_t vaddr,
		       void *data);
typedef void (*listen_fn)(plugin_id id);
typedef void (*exit_fn)(plugin_id id, void *data);

void qemu_plugin_register_vcpu_init_cb(plugin_id id, cpu_fn f);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, tb_fn f);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_fn f,
					  int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    exec_fn f, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_fn f,
				      int flags, int which, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, exit_fn f, void *data);
void qemu_plugin_reset(plugin_id id, listen_fn f);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to,
			     size_t size);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(mem_info info);
unsigned int qemu_plugin_mem_size_shift(mem_info info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(mem_info info,
						  uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *addr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *addr);
value_array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle,
			      byte_array *to);

#endif
