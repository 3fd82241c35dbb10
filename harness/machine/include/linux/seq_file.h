/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_SEQ_FILE_H
#define _MACHINE_LINUX_SEQ_FILE_H

#include <stdio.h>

/* What was printed, as far as there is room. */
struct seq_file {
	char text[256];
	int len;
};

#define seq_printf(m, ...)						\
	((m)->len += snprintf((m)->text + (m)->len,			\
			      sizeof((m)->text) - (m)->len, __VA_ARGS__))

#endif
