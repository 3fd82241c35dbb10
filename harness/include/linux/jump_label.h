/* SPDX-License-Identifier: GPL-2.0 */
/* <linux/pghot.h> asks for it; without CONFIG_PGHOT it uses nothing of it. */
