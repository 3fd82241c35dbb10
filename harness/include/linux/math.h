/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_MATH_H
#define _HARNESS_LINUX_MATH_H

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d)	(((n) + (d) / 2) / (d))

static inline unsigned long int_sqrt(unsigned long x)
{
	unsigned long root = 0, bit;

	for (bit = 1UL << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

#endif
