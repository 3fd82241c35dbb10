/* SPDX-License-Identifier: GPL-2.0 */
/* Tables that are looked up at random, in the host's huge pages where it has any. */
#ifndef MEMSIM_HUGE_H
#define MEMSIM_HUGE_H

#include <stddef.h>

/* @bytes of zeros, a whole number of lines; NULL if there is no memory. For free(). */
void *huge_alloc(size_t bytes);

#endif
