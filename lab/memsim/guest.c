// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "guest.h"
#include "qemu.h"

/* Memory is looked up by so much at a time: no boundary of the guest's is within. */
#define CHUNK_SHIFT	21
#define CHUNKS		65536ULL

static void (*rw)(uint64_t pa, void *buffer, uint64_t bytes, bool write);
static void *(*map)(uint64_t pa, uint64_t *bytes, bool write);
static char *chunks[CHUNKS];

bool guest_open(char *error, size_t size)
{
	return qemu_find("cpu_physical_memory_rw", &rw, error, size) &&
	       qemu_find("cpu_physical_memory_map", &map, error, size);
}

void guest_access_memory(uint64_t pa, void *buffer, size_t bytes, bool write)
{
	rw(pa, buffer, bytes, write);
}

static char *look_up(uint64_t number)
{
	uint64_t bytes = 1ULL << CHUNK_SHIFT;
	char *p = map(number << CHUNK_SHIFT, &bytes, true);

	return p && bytes == 1ULL << CHUNK_SHIFT ? p : NULL;
}

/* Where the emulator has @pa; NULL: that is to be asked each time. */
static char *host_address(uint64_t pa)
{
	uint64_t number = pa >> CHUNK_SHIFT;

	if (number >= CHUNKS)
		return NULL;
	if (!chunks[number])
		chunks[number] = look_up(number);
	return chunks[number] ? chunks[number] + (pa & ((1ULL << CHUNK_SHIFT) - 1)) : NULL;
}

uint64_t guest_read(uint64_t pa)
{
	const char *at = host_address(pa);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	else
		rw(pa, &value, sizeof(value), false);
	return value;
}

void guest_write_entry(uint64_t pa, uint64_t value)
{
	char *at = host_address(pa);

	if (at)
		memcpy(at, &value, sizeof(value));
	else
		rw(pa, &value, sizeof(value), true);
}
