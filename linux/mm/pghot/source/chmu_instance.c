// SPDX-License-Identifier: GPL-2.0
/*
 * One instance of a hotness monitoring unit. What a device says of itself is not
 * trusted: offsets and indices are held against what is mapped.
 */
#include <linux/align.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/hotness_unit.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "chmu_instance.h"

/* An operation takes tens of microseconds; who needs longer is broken. */
#define OPERATION_POLL_US	20
#define OPERATION_LIMIT_US	100000
/* Of memory, that a word of the bitmap stands for. */
#define WORD_BYTES		(64ULL << CHMU_RANGE_SHIFT)

static bool chmu_instance_is_mapped(const struct hotness_unit_info *info, u64 offset,
				    u64 bytes)
{
	u64 end;

	return IS_ALIGNED(offset, sizeof(u64)) &&
	       !check_add_overflow(offset, bytes, &end) && end <= info->bytes;
}

/**
 * chmu_instances - how many instances a unit has
 * @info: the unit
 *
 * Return: their number, or -ENODEV if there is no unit.
 */
int chmu_instances(const struct hotness_unit_info *info)
{
	u64 cap0;

	if (!chmu_instance_is_mapped(info, 0, CHMU_COMMON_BYTES))
		return -ENODEV;
	cap0 = readq(info->regs + CHMU_COMMON_CAP0);
	if (chmu_is_gone(cap0) || !FIELD_GET(CHMU_COMMON_INSTANCES, cap0))
		return -ENODEV;
	return FIELD_GET(CHMU_COMMON_INSTANCES, cap0);
}

/**
 * chmu_instance_init - find an instance's registers, and what it can do
 * @i: the instance
 * @info: its unit
 * @n: which one it is
 * @of: how many there are
 *
 * Return: 0, or a negative error if it cannot be used.
 */
int chmu_instance_init(struct chmu_instance *i,
		       const struct hotness_unit_info *info, unsigned int n,
		       unsigned int of)
{
	u64 at, bitmap, hotlist;
	int err;

	at = FIELD_GET(CHMU_COMMON_INSTANCE_BYTES,
		       readq(info->regs + CHMU_COMMON_CAP1));
	if (at < CHMU_INSTANCE_BYTES)
		return -ENODEV;
	at = CHMU_COMMON_BYTES + n * at;
	if (!chmu_instance_is_mapped(info, at, CHMU_INSTANCE_BYTES))
		return -ENODEV;
	*i = (struct chmu_instance) { .regs = info->regs + at };
	err = chmu_parse_caps(readq(i->regs + CHMU_CAP0),
			      readq(i->regs + CHMU_CAP1), &i->caps);
	if (err)
		return err;
	/* What it cannot do is found out here, before anybody asks for it. */
	err = chmu_plan(&i->caps, 0, &i->setup);
	if (err)
		return err;

	chmu_share(info->memory, of, n, &i->first, &i->end);
	i->words = DIV_ROUND_UP(info->memory, WORD_BYTES);
	bitmap = readq(i->regs + CHMU_BITMAP_OFFSET);
	hotlist = readq(i->regs + CHMU_HOTLIST_OFFSET);
	if (check_add_overflow(bitmap, at, &bitmap) || check_add_overflow(hotlist, at, &hotlist) ||
	    !chmu_instance_is_mapped(info, bitmap, i->words * sizeof(u64)) ||
	    !chmu_instance_is_mapped(info, hotlist, (u64)i->caps.entries * CHMU_ENTRY_BYTES))
		return -ENODEV;
	i->bitmap = info->regs + bitmap;
	i->hotlist = info->regs + hotlist;
	return 0;
}

/* Have it enable or disable itself, and wait until it has. */
static int chmu_instance_control_wait(struct chmu_instance *i, u64 value, u64 enabled)
{
	u64 status;
	int err;

	writeq(value, i->regs + CHMU_CFG0);
	err = readq_poll_timeout(i->regs + CHMU_STATUS, status,
				 chmu_is_gone(status) ||
				 !(status & CHMU_STATUS_OPERATION),
				 OPERATION_POLL_US, OPERATION_LIMIT_US);
	if (err)
		return err;
	if (chmu_is_gone(status))
		return -ENODEV;
	return (status & CHMU_STATUS_ENABLED) == enabled ? 0 : -EIO;
}

/* Settings stay as they are: they may not change before it is disabled. */
static int chmu_instance_disable(struct chmu_instance *i)
{
	u64 cfg0 = readq(i->regs + CHMU_CFG0);

	if (chmu_is_gone(cfg0))
		return -ENODEV;
	return chmu_instance_control_wait(i, cfg0 & ~CHMU_CFG0_ENABLE, 0);
}

static u64 chmu_instance_bitmap_word(const struct chmu_instance *i, u64 word)
{
	u64 base = word * BITS_PER_TYPE(u64);
	u64 from = max(i->first, base), to = min(i->end, base + BITS_PER_TYPE(u64));

	return from < to ? GENMASK_ULL(to - base - 1, from - base) : 0;
}

/**
 * chmu_instance_acknowledge - read its status, and have it interrupt again
 * @i: the instance
 *
 * To be called before the hotlist is read: what comes later makes it interrupt.
 *
 * Return: CHMU_STATUS as it was, all ones if the device is gone.
 */
u64 chmu_instance_acknowledge(struct chmu_instance *i)
{
	u64 status = readq(i->regs + CHMU_STATUS);

	if (!chmu_is_gone(status) &&
	    status & (CHMU_STATUS_OVERFLOW | CHMU_STATUS_FILLED))
		writeq(CHMU_STATUS_OVERFLOW | CHMU_STATUS_FILLED,
		       i->regs + CHMU_STATUS);
	return status;
}

/**
 * chmu_instance_drop - forget the entries that wait to be read
 * @i: the instance
 *
 * Return: how many there were.
 */
u32 chmu_instance_drop(struct chmu_instance *i)
{
	u16 tail = readw(i->regs + CHMU_TAIL);
	u32 used = chmu_used(readw(i->regs + CHMU_HEAD), tail, i->caps.entries);

	if (used)
		writew(tail, i->regs + CHMU_HEAD);
	return used;
}

/**
 * chmu_instance_start - have an instance count
 * @i: the instance
 * @epoch_us: length of an epoch
 * @threshold: requests in an epoch that make a unit of memory hot
 *
 * One that counts begins anew, with an empty hotlist, whoever had it before. Where it
 * fails it is one that does not run, even if it did.
 *
 * Context: process context; sleeps.
 *
 * Return: 0 or a negative error.
 */
int chmu_instance_start(struct chmu_instance *i, u32 epoch_us, u32 threshold)
{
	u64 word;
	int err;

	i->running = false;
	if (i->first == i->end)
		return 0;
	err = chmu_plan(&i->caps, epoch_us, &i->setup);
	if (!err)
		err = chmu_instance_disable(i);
	if (!err)
		err = chmu_instance_control_wait(i, CHMU_CFG0_RESET, 0);
	if (err)
		return err;
	/* If it keeps what it had listed and said. */
	chmu_instance_drop(i);
	chmu_instance_acknowledge(i);
	for (word = 0; word < i->words; word++)
		writeq(chmu_instance_bitmap_word(i, word), i->bitmap + word * sizeof(u64));
	writeq(i->setup.cfg[1], i->regs + CHMU_CFG1);
	writeq(i->setup.cfg[2], i->regs + CHMU_CFG2);
	i->count_bits = FIELD_GET(CHMU_STATUS_COUNT_BITS, readq(i->regs + CHMU_STATUS));
	err = chmu_plan_threshold(&i->setup, threshold, i->count_bits);
	if (err)
		return err;
	err = chmu_instance_control_wait(i, i->setup.cfg[0] | CHMU_CFG0_ENABLE,
					 CHMU_STATUS_ENABLED);
	i->running = !err;
	/* It may do so yet, and nobody would stop it. */
	if (err)
		chmu_instance_disable(i);
	return err;
}

/**
 * chmu_instance_stop - have an instance count no more
 * @i: the instance
 *
 * Context: process context; sleeps.
 */
void chmu_instance_stop(struct chmu_instance *i)
{
	if (i->running)
		chmu_instance_disable(i);
	i->running = false;
}

/**
 * chmu_instance_waiting - entries that wait to be read
 * @i: the instance
 *
 * Return: their number.
 */
u32 chmu_instance_waiting(struct chmu_instance *i)
{
	return chmu_used(readw(i->regs + CHMU_HEAD),
			 readw(i->regs + CHMU_TAIL), i->caps.entries);
}

/**
 * chmu_instance_read - take entries from the hotlist
 * @i: the instance
 * @entries: where to
 * @nr: how many; so many wait, by chmu_instance_waiting()
 *
 * Return: how many were taken; fewer if the device is gone.
 */
u32 chmu_instance_read(struct chmu_instance *i, u64 *entries, u32 nr)
{
	u32 head = readw(i->regs + CHMU_HEAD), n;

	if (head >= i->caps.entries)
		return 0;
	for (n = 0; n < nr; n++) {
		entries[n] = readq(i->hotlist + (u64)head * CHMU_ENTRY_BYTES);
		if (chmu_is_gone(entries[n]))
			return 0;
		head = head + 1 < i->caps.entries ? head + 1 : 0;
	}
	writew(head, i->regs + CHMU_HEAD);
	return nr;
}
