/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEMSIM_DIE_H
#define MEMSIM_DIE_H

#include <stdio.h>
#include <stdlib.h>

/* Say "memsim: @what@which", and end QEMU. */
__attribute__((noreturn))
static inline void die(const char *what, const char *which)
{
	fprintf(stderr, "memsim: %s%s\n", what, which);
	exit(1);
}

#endif
