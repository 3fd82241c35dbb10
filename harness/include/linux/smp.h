/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _HARNESS_LINUX_SMP_H
#define _HARNESS_LINUX_SMP_H

/* Each thread has a CPU of its own. */
unsigned int raw_smp_processor_id(void);

#endif
