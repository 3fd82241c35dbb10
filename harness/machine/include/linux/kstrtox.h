/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_KSTRTOX_H
#define _MACHINE_LINUX_KSTRTOX_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <linux/types.h>

static inline int kstrtou32(const char *s, unsigned int base, u32 *res)
{
	char *end;

	*res = strtoul(s, &end, base);
	return *s && !*end ? 0 : -EINVAL;
}

/* Of all that the kernel takes, what is tested. */
static inline int kstrtobool(const char *s, bool *res)
{
	*res = *s == '1' || *s == 'y';
	return *res || *s == '0' || *s == 'n' ? 0 : -EINVAL;
}

#endif
