// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "blocks.h"
#include "clock.h"
#include "cpu.h"
#include "die.h"
#include "instruction.h"
#include "measured.h"
#include "translate.h"

/* Have the right one called before an instruction that the model has to know of. */
static void watch(struct qemu_plugin_insn *insn)
{
	static const struct {
		exec_fn f;
		int flags;
	} called[EVENT_KINDS] = {
		[EVENT_HYPERCALL] = { on_hypercall, NO_REGS },
		[EVENT_PAUSE] = { on_pause, NO_REGS },
		[EVENT_HALT] = { on_halt, NO_REGS },
		[EVENT_NEW_SPACE] = { on_new_space, READ_REGS },
		[EVENT_FLUSH] = { on_flush, NO_REGS },
	};
	uint8_t bytes[INSTRUCTION_ROOM] = {};
	struct event e;

	qemu_plugin_insn_data(insn, bytes, INSTRUCTION_ROOM - 1);
	e = event_of(bytes);
	if (called[e.kind].f)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, called[e.kind].f,
						       called[e.kind].flags,
						       (void *)(uintptr_t)e.value);
}

void on_translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	struct block *block =
		blocks_add(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)), n);

	(void)id;
	clock_alone();
	if (!block)
		die("no memory left", "");
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGS, block);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGS,
						 MEM_BOTH, NULL);
		watch(insn);
	}
}
