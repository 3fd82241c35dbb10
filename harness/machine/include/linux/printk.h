/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_PRINTK_H
#define _MACHINE_LINUX_PRINTK_H

/* Nobody reads it; the compiler looks at the format. */
__attribute__((__format__(__printf__, 1, 2)))
static inline void pr_warn(const char *format, ...)
{
}

#define pr_warn_ratelimited	pr_warn
#define pr_notice		pr_warn
#define pr_err			pr_warn

#endif
