// SPDX-License-Identifier: GPL-2.0
/* What the assembler makes of each instruction is known for what it is. */
#include "test.h"

#include <string.h>

#include "hypercall.h"
#include "instruction.h"

#define TEXT(...)	#__VA_ARGS__
#define NOP_TEXT(...)	TEXT(__VA_ARGS__)

/* @name: the bytes of @code, and zeroes after them. */
#define BYTES(name, code)						\
	extern const uint8_t name[];					\
	__asm__(".pushsection .rodata\n" #name ": " code		\
		"\n.skip 16, 0\n.popsection")

BYTES(begin, ".byte " NOP_TEXT(MEMSIM_NOP) ", 1, 0x4d, 0x45, 0x4d");
BYTES(last_phase, ".byte " NOP_TEXT(MEMSIM_NOP) ", 23, 0x4d, 0x45, 0x4d");
BYTES(other_nop, "nopl 0x4d454e17(%rax,%rax,1)");
BYTES(pause_it, "pause");
BYTES(nop, "nop");
BYTES(halt, "hlt");
BYTES(repeated_halt, ".byte 0xf3\n hlt");
BYTES(invlpg, "invlpg (%rax)");
BYTES(invlpg_r9, "invlpg (%r9)");
BYTES(invlpg_rsp, "invlpg (%rsp)");
BYTES(invlpg_r12, "invlpg (%r12)");
BYTES(invlpg_rbp, "invlpg (%rbp)");
BYTES(invlpg_r13, "invlpg (%r13)");
BYTES(invlpg_indexed, "invlpg (%rax,%rcx)");
BYTES(invlpg_r12_indexed, "invlpg (,%r12)");
BYTES(invlpg_absolute, "invlpg 0x1000");
BYTES(invlpg_relative, "invlpg 0x1000(%rip)");
BYTES(invlpg_offset, "invlpg 8(%rax)");
BYTES(far_invlpg, "invlpg 0x1000(%r12,%r13,8)");
BYTES(invpcid, "invpcid (%rsi), %rdi");
BYTES(swapgs, "swapgs");
BYTES(rdtscp, "rdtscp");
BYTES(lgdt, "lgdt (%rax)");
BYTES(from_cr3, "mov %cr3, %rdi");
BYTES(to_cr2, "mov %rdi, %cr2");
BYTES(to_cr4, "mov %rdi, %cr4");
BYTES(to_cr8, "mov %rdi, %cr8");
BYTES(repeated_store, "rep stosb");
BYTES(immediate, "mov $0x00f4f4f4, %eax");
BYTES(locked_add, "lock addl $1, (%rax)");
BYTES(locked_far_or, "lock orb $1, 0x1000(%r12,%r13,8)");
BYTES(compare_exchange, "lock cmpxchg %rcx, (%rdx)");
BYTES(locked_own, "lock incl %gs:0x1000");
BYTES(exchange_own, "xchg %rax, %gs:(%rcx)");
BYTES(exchange, "xchg %r9, (%rax)");
BYTES(exchange_byte, "xchg %cl, (%rax)");
BYTES(exchange_registers, "xchg %r9, %r10");
BYTES(plain_add, "addl $1, (%rax)");
BYTES(plain_load, "mov (%rax), %rcx");
BYTES(prefixes_only, ".fill 15, 1, 0x66");
BYTES(cut_short, ".fill 14, 1, 0xf3\n.byte 0x0f");

/* mov to CR3 from each general register, 16 bytes each. */
extern const uint8_t registers[];
__asm__(".pushsection .rodata\n"
	"registers:\n"
	".irp r, rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15\n"
	"1: mov %\\r, %cr3\n"
	".skip 16 - (. - 1b), 0\n"
	".endr\n"
	".popsection");

static void is(const uint8_t *bytes, enum event_kind kind, unsigned int value)
{
	uint8_t room[INSTRUCTION_ROOM] = {};
	struct event e;

	/* A copy, so that reading past it is noticed. */
	memcpy(room, bytes, sizeof(room));
	e = event_of(room);
	assert_int_equal(e.kind, kind);
	assert_int_equal(e.value, value);
}

static void hypercalls_have_their_number(void **state)
{
	(void)state;
	is(begin, EVENT_HYPERCALL, MEMSIM_BEGIN);
	is(last_phase, EVENT_HYPERCALL, MEMSIM_PHASE + MEMSIM_PHASES - 1);
	is(other_nop, EVENT_NONE, 0);
}

static void a_cpu_that_waits(void **state)
{
	(void)state;
	is(pause_it, EVENT_PAUSE, 0);
	is(nop, EVENT_NONE, 0);
	is(halt, EVENT_HALT, 0);
	is(repeated_halt, EVENT_HALT, 0);
}

static void page_tables_that_change(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 0; n < 16; n++)
		is(registers + n * 16, EVENT_NEW_SPACE, n);
	is(invlpg, EVENT_FLUSH_PAGE, 0);
	is(invlpg_r9, EVENT_FLUSH_PAGE, 9);
	is(invlpg_rsp, EVENT_FLUSH_PAGE, 4);
	is(invlpg_r12, EVENT_FLUSH_PAGE, 12);
	is(invlpg_rbp, EVENT_FLUSH_PAGE, 5);
	is(invlpg_r13, EVENT_FLUSH_PAGE, 13);
	is(invlpg_indexed, EVENT_FLUSH, 0);
	is(invlpg_r12_indexed, EVENT_FLUSH, 0);
	is(invlpg_absolute, EVENT_FLUSH, 0);
	is(invlpg_relative, EVENT_FLUSH, 0);
	is(invlpg_offset, EVENT_FLUSH, 0);
	is(far_invlpg, EVENT_FLUSH, 0);
	is(invpcid, EVENT_FLUSH, 0);
	is(to_cr4, EVENT_FLUSH, 0);
}

static void what_is_alike_is_not_it(void **state)
{
	(void)state;
	is(swapgs, EVENT_NONE, 0);
	is(rdtscp, EVENT_NONE, 0);
	is(lgdt, EVENT_NONE, 0);
	is(from_cr3, EVENT_NONE, 0);
	is(to_cr2, EVENT_NONE, 0);
	is(to_cr8, EVENT_NONE, 0);
	is(repeated_store, EVENT_NONE, 0);
	is(immediate, EVENT_NONE, 0);
}

static void what_takes_a_line_before_it_reads(void **state)
{
	(void)state;
	assert_true(instruction_owns(locked_add));
	assert_true(instruction_owns(locked_far_or));
	assert_true(instruction_owns(compare_exchange));
	assert_true(instruction_owns(locked_own));
	assert_true(instruction_owns(exchange));
	assert_true(instruction_owns(exchange_own));
	assert_true(instruction_owns(exchange_byte));
	assert_false(instruction_owns(exchange_registers));
	assert_false(instruction_owns(plain_add));
	assert_false(instruction_owns(plain_load));
	assert_false(instruction_owns(repeated_store));
	assert_false(instruction_owns(prefixes_only));
	assert_false(instruction_owns(cut_short));
}

/* Nothing is read past what there is. */
static void the_longest_ones(void **state)
{
	(void)state;
	is(prefixes_only, EVENT_NONE, 0);
	is(cut_short, EVENT_NONE, 0);
}

int test_instruction(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hypercalls_have_their_number),
		cmocka_unit_test(a_cpu_that_waits),
		cmocka_unit_test(page_tables_that_change),
		cmocka_unit_test(what_is_alike_is_not_it),
		cmocka_unit_test(what_takes_a_line_before_it_reads),
		cmocka_unit_test(the_longest_ones),
	};

	return cmocka_run_group_tests_name("instruction", tests, NULL, NULL);
}
