// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "blocks.h"
#include "clock.h"
#include "cpu.h"
#include "die.h"
#include "instruction.h"
#include "measured.h"
#include "model.h"
#include "sampling.h"
#include "translate.h"

static plugin_id own;
static listen_fn listen_again;
static bool modelled;

void translate_open(plugin_id id, listen_fn listen)
{
	own = id;
	listen_again = listen;
	listen(id);
}

void translate_again(bool with_model)
{
	if (modelled == with_model)
		return;
	modelled = with_model;
	qemu_plugin_reset(own, listen_again);
}

/* What of an instruction decides what is to be called for it. */
struct decoded {
	struct event event;
	bool owns;
};

static struct decoded decode(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[INSTRUCTION_ROOM] = {};

	qemu_plugin_insn_data(insn, bytes, INSTRUCTION_ROOM - 1);
	return (struct decoded) { event_of(bytes), instruction_owns(bytes) };
}

/* Have the right one called before an instruction that the model has to know of. */
static void watch(struct qemu_plugin_insn *insn, struct event e, bool with_model)
{
	static const struct {
		exec_fn with_model, without;
		int flags;
	} called[EVENT_KINDS] = {
		[EVENT_HYPERCALL] = { on_hypercall, on_hypercall, NO_REGS },
		[EVENT_PAUSE] = { on_pause, on_early_pause, NO_REGS },
		[EVENT_HALT] = { on_halt, NULL, NO_REGS },
		[EVENT_NEW_SPACE] = { on_new_space, on_new_space, READ_REGS },
		[EVENT_FLUSH_PAGE] = { on_flush_page, NULL, READ_REGS },
		[EVENT_FLUSH] = { on_flush, NULL, NO_REGS },
	};
	exec_fn f = with_model ? called[e.kind].with_model : called[e.kind].without;

	if (f)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, f, called[e.kind].flags,
						       (void *)(uintptr_t)e.value);
}

/* The model sees each block, of @n instructions. */
static void show_block(struct qemu_plugin_tb *tb, size_t n)
{
	struct block *block =
		blocks_add(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)), n);

	if (!block)
		die("no memory left", "");
	qemu_plugin_register_vcpu_tb_exec_cb(tb, model.config.ibs ? on_sampled_block :
								    on_block, NO_REGS,
					     (void *)(uintptr_t)block_word(block));
}

/* As below, where CPUs sample instructions: @word is the access_word() of @insn. */
static void show_sampled_accesses(struct qemu_plugin_insn *insn, bool owns, uint64_t word)
{
	qemu_plugin_register_vcpu_mem_cb(insn, owns ? on_sampled_store : on_sampled_load,
					 NO_REGS, MEM_READ, (void *)(uintptr_t)word);
	qemu_plugin_register_vcpu_mem_cb(insn, on_sampled_store, NO_REGS, MEM_WRITE,
					 (void *)(uintptr_t)word);
}

/* The model sees each access of @insn. */
static void show_accesses(struct qemu_plugin_insn *insn, bool owns)
{
	qemu_plugin_register_vcpu_mem_cb(insn, owns ? on_store : on_load, NO_REGS,
					 MEM_READ, NULL);
	qemu_plugin_register_vcpu_mem_cb(insn, on_store, NO_REGS, MEM_WRITE, NULL);
}

/* What follows "begin" in its block is measured. */
static bool has_mark(const struct qemu_plugin_tb *tb, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (decode(qemu_plugin_tb_get_insn(tb, i)).event.kind == EVENT_HYPERCALL)
			return true;
	return false;
}

void on_translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	uint64_t start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	bool with_model;

	(void)id;
	clock_alone();
	with_model = modelled || has_mark(tb, n);
	if (with_model)
		show_block(tb, n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct decoded d = decode(insn);

		if (with_model && model.config.ibs)
			show_sampled_accesses(insn, d.owns,
					      access_word(i + 1, d.owns,
							  qemu_plugin_insn_vaddr(insn) - start,
							  n));
		else if (with_model)
			show_accesses(insn, d.owns);
		watch(insn, d.event, with_model);
	}
}
