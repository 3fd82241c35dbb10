// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "hypercall.h"
#include "instruction.h"

/* Skip prefixes that change nothing about which instruction it is. */
static const uint8_t *opcode(const uint8_t *b, unsigned int *rex)
{
	*rex = 0;
	while (*b == 0x66 || *b == 0xf2 || *b == 0xf3)
		b++;
	if ((*b & 0xf0) == 0x40)
		*rex = *b++;
	return b;
}

/* An operand that is no more than what a register says, as Linux has it: which one. */
static struct event invlpg(const uint8_t *modrm, unsigned int rex)
{
	unsigned int mod = *modrm >> 6, base = *modrm & 7;

	if (base == 4) {
		/* No index, and no base that means another thing. */
		if ((modrm[1] & 0x38) != 0x20 || rex & 2)
			return (struct event) { EVENT_FLUSH, 0 };
		modrm++;
		base = *modrm & 7;
	}
	if ((mod == 0 && base != 5) || (mod == 1 && !modrm[1]))
		return (struct event) { EVENT_FLUSH_PAGE, base | (rex & 1) << 3 };
	return (struct event) { EVENT_FLUSH, 0 };
}

struct event event_of(const uint8_t *bytes)
{
	const uint8_t *b;
	unsigned int rex;

	if (!memcmp(bytes, (uint8_t[]){ MEMSIM_NOP }, 4) &&
	    !memcmp(bytes + 5, "MEM", 3))
		return (struct event) { EVENT_HYPERCALL, bytes[4] };
	if (bytes[0] == 0xf3 && bytes[1] == 0x90)
		return (struct event) { EVENT_PAUSE, 0 };
	b = opcode(bytes, &rex);
	if (b[0] == 0xf4)
		return (struct event) { EVENT_HALT, 0 };
	if (b[0] != 0x0f)
		return (struct event) { EVENT_NONE, 0 };
	if (b[1] == 0x22 && (b[2] & 0x38) == 0x18)	/* mov to cr3 */
		return (struct event) { EVENT_NEW_SPACE,
					(b[2] & 7) | (rex & 1) << 3 };
	if (b[1] == 0x01 && (b[2] & 0x38) == 0x38 && b[2] < 0xc0)
		return invlpg(b + 2, rex);
	if ((b[1] == 0x38 && b[2] == 0x82) ||		/* invpcid */
	    (b[1] == 0x22 && (b[2] & 0x38) == 0x20))	/* mov to cr4 */
		return (struct event) { EVENT_FLUSH, 0 };
	return (struct event) { EVENT_NONE, 0 };
}

bool instruction_owns(const uint8_t *bytes)
{
	const uint8_t *b = bytes;
	unsigned int rex;

	/* Prefixes come in any order; those of segments are for data of a CPU's own. */
	while (*b == 0x66 || *b == 0xf2 || *b == 0xf3 || *b == 0x64 || *b == 0x65)
		b++;
	if (*b == 0xf0)
		return true;
	b = opcode(b, &rex);
	/* xchg with memory locks without being told. */
	return (b[0] == 0x86 || b[0] == 0x87) && b[1] < 0xc0;
}
