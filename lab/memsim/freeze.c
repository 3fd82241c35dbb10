// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into QEMU. It grows and shrinks its table of address translations
 * by gettimeofday(), and when a page is new to that its accessed bit is set:
 * host time would show in the guest.
 */
#include <stddef.h>
#include <sys/time.h>

#define SOME_DAY	1767225600	/* 2026-01-01 */

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	(void)tz;
	tv->tv_sec = SOME_DAY;
	tv->tv_usec = 0;
	return 0;
}
