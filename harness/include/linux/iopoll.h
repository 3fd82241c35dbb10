/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_IOPOLL_H
#define _HARNESS_LINUX_IOPOLL_H

#include <linux/io.h>

/* Let the test's device get on. */
void harness_sleep_us(unsigned long us);

#define readq_poll_timeout(at, value, done, sleep_us, limit_us) ({	\
	long __left = (limit_us);					\
	while ((value) = readq(at), !(done) && __left > 0) {		\
		harness_sleep_us(sleep_us);				\
		__left -= (sleep_us);					\
	}								\
	(done) ? 0 : -ETIMEDOUT; })

#endif
