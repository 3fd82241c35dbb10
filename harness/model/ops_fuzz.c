// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "ops.h"

void ops_fuzz(const struct ops *ops, const u8 *data, size_t size)
{
	static bool registered;
	struct ops_failure why;
	char text[120];

	if (!registered)
		harness_thread_enter();
	registered = true;
	if (!size || ops->run(data[0], data + 1, (size - 1) / OP_BYTES, &why))
		return;
	ops->describe(data + 1 + why.step * OP_BYTES, text, sizeof(text));
	fprintf(stderr, "step %zu (%s): %s\n", why.step, text, why.what);
	abort();
}
