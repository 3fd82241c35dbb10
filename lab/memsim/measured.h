/* SPDX-License-Identifier: GPL-2.0 */
/* The measured part: the guest says where it begins and ends, and its phases. */
#ifndef MEMSIM_MEASURED_H
#define MEMSIM_MEASURED_H

#include "api.h"

/* From here on the host's seconds count. */
void measured_open(void);

/* The running CPU executes hypercall number @data: hypercall.h has them. */
void on_hypercall(unsigned int translator, void *data);

/* QEMU ends. A guest that was stopped in its measured part has something to tell. */
void on_end(plugin_id id, void *data);

#endif
