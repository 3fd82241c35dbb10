/* SPDX-License-Identifier: GPL-2.0 */
/* What of the guest's code the model has QEMU call it for. */
#ifndef MEMSIM_TRANSLATE_H
#define MEMSIM_TRANSLATE_H

#include "api.h"

/* Call @listen, by which @id has QEMU call it, now and whenever that is forgotten. */
void translate_open(plugin_id id, listen_fn listen);

/*
 * From the end of the block that runs now all code is translated anew: with the
 * model, which sees each block and access, or without.
 */
void translate_again(bool with_model);

/* QEMU translates a block of the guest's code. */
void on_translate(plugin_id id, struct qemu_plugin_tb *tb);

#endif
