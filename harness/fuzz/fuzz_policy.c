// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <stdint.h>

#include "ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ops_fuzz(&policy_ops, data, size);
	return 0;
}
