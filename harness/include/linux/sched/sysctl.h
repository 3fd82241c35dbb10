/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: what needs it is built with the machine's. */
