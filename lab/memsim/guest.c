// SPDX-License-Identifier: GPL-2.0
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"

static void (*rw)(uint64_t pa, void *buffer, uint64_t bytes, bool write);

bool guest_open(char *error, size_t size)
{
	void *f = dlsym(RTLD_DEFAULT, "cpu_physical_memory_rw");

	if (!f) {
		snprintf(error, size,
			 "QEMU 10.0 is needed: this one has no cpu_physical_memory_rw");
		return false;
	}
	memcpy(&rw, &f, sizeof(f));
	return true;
}

void guest_access_memory(uint64_t pa, void *buffer, size_t bytes, bool write)
{
	rw(pa, buffer, bytes, write);
}

uint64_t guest_read(uint64_t pa)
{
	uint64_t value = 0;

	rw(pa, &value, sizeof(value), false);
	return value;
}
