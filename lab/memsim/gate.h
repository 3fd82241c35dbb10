/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Only one of QEMU's threads at a time: its main thread does nothing while the
 * thread of the guest's CPUs runs. Part of freeze.so; the plugin finds this by name.
 */
#ifndef MEMSIM_GATE_H
#define MEMSIM_GATE_H

#define GATE_CLOSE	"gate_close"

/*
 * The calling thread is the CPUs'. From now on the main thread goes on only while
 * this one waits for it. Returns when the main thread does nothing.
 */
void gate_close(void);

#endif
