/* SPDX-License-Identifier: GPL-2.0 */
/* What of the guest's code the model has QEMU call it for. */
#ifndef MEMSIM_TRANSLATE_H
#define MEMSIM_TRANSLATE_H

#include "api.h"

/* QEMU translates a block of the guest's code. */
void on_translate(plugin_id id, struct qemu_plugin_tb *tb);

#endif
