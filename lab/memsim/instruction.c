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
	if ((b[1] == 0x01 && (b[2] & 0x38) == 0x38 && b[2] < 0xc0) ||
	    (b[1] == 0x38 && b[2] == 0x82))		/* invlpg, invpcid */
		return (struct event) { EVENT_FLUSH, 0 };
	return (struct event) { EVENT_NONE, 0 };
}
