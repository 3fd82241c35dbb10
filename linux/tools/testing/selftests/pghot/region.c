// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "region.h"

#define HUGE		(2UL << 20)

struct region region;

static int pipe_fd[2];

static char *map_file(const char *path, size_t bytes, int node, bool executable)
{
	static char buffer[PAGE];
	unsigned long page;
	char *p;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	/* Only the file is to be on the node. */
	memset(buffer, 0, PAGE);
	set_policy(MPOL_BIND, 1UL << node);
	for (page = 0; page < bytes / PAGE; page++) {
		*(uint64_t *)(buffer + page % 8 * 64) = region_pattern(page);
		if (write(fd, buffer, PAGE) != (ssize_t)PAGE)
			die("%s: %s", path, strerror(errno));
		memset(buffer, 0, PAGE);
	}
	/* Clean pages, and read again: only those are promoted. */
	if (fsync(fd))
		die("%s: fsync: %s", path, strerror(errno));
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE |
		 (executable ? PROT_EXEC : 0), MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("%s: mmap: %s", path, strerror(errno));
	close(fd);
	unlink(path);
	return p;
}

static char *map_anon(size_t bytes, int flags, int advice)
{
	char *p = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE,
		       MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	p = (char *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));
	madvise(p, bytes, advice);
	return p;
}

void region_make(const char *kind, unsigned long mb, int node, bool executable)
{
	size_t bytes = mb << 20;
	unsigned long page;
	bool file = !strncmp(kind, "file:", 5);

	region.nr_pages = bytes / PAGE;
	region.status = calloc(region.nr_pages, sizeof(*region.status));
	if (!region.status)
		die("no memory");

	/* Page cache and anonymous memory alike follow the task's policy. */
	if (!file)
		set_policy(MPOL_BIND, 1UL << node);
	if (file)
		region.start = map_file(kind + 5, bytes, node, executable);
	else if (!strcmp(kind, "anon"))
		region.start = map_anon(bytes, MAP_PRIVATE, MADV_NOHUGEPAGE);
	else if (!strcmp(kind, "thp"))
		region.start = map_anon(bytes, MAP_PRIVATE, MADV_HUGEPAGE);
	else if (!strcmp(kind, "huge"))
		region.start = map_anon(bytes, MAP_PRIVATE | MAP_HUGETLB, MADV_NORMAL);
	else if (!strcmp(kind, "shmem"))
		region.start = map_anon(bytes, MAP_SHARED, MADV_NOHUGEPAGE);
	else
		die("unknown kind '%s'", kind);

	for (page = 0; page < region.nr_pages; page++) {
		if (!file)
			*region_word(page) = region_pattern(page);
		else if (region_is_wrong(page))
			die("page %lu of the file is wrong", page);
	}
	set_policy(MPOL_DEFAULT, 0);

	/*
	 * Pages wait in per-CPU lists before they get on the LRU lists, and
	 * cannot be isolated until then. Moving a page takes all of them along.
	 */
	move_pages_of(region.start, 1, &node, region.status);
}

void region_free(void)
{
	if (munmap(region.start, region.nr_pages * PAGE))
		die("munmap: %s", strerror(errno));
}

void region_look(void)
{
	move_pages_of(region.start, region.nr_pages, NULL, region.status);
}

unsigned long region_count_on(unsigned long nodes)
{
	unsigned long page, n = 0;

	for (page = 0; page < region.nr_pages; page++)
		n += region.status[page] >= 0 && nodes >> region.status[page] & 1;
	return n;
}

void region_where(const char *first)
{
	unsigned long n, other = region.nr_pages;
	int node;

	printf("%s", first);
	for (node = 0; node < NODES_MAX; node++) {
		n = region_count_on(1UL << node);
		other -= n;
		if (n || node < 3)
			printf(" node%d=%lu", node, n);
	}
	printf(" absent=%lu\n", other);
}

unsigned long region_huge_pages(void)
{
	unsigned long start, end, kb, sum = 0;
	FILE *f = fopen("/proc/self/smaps", "r");
	bool mine = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			mine = start < (uintptr_t)region.start + region.nr_pages * PAGE &&
			       end > (uintptr_t)region.start;
		else if (mine && sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)
			sum += kb;
	}
	if (f)
		fclose(f);
	return sum / 4;
}

unsigned long region_check(void)
{
	unsigned long page, wrong = 0;

	for (page = 0; page < region.nr_pages; page++)
		wrong += region_is_wrong(page);
	return wrong;
}

void region_write(void)
{
	unsigned long page;

	for (page = 0; page < region.nr_pages; page++)
		*region_word(page) = region_pattern(page);
}

void region_move_to(int node)
{
	int *to = malloc(region.nr_pages * sizeof(*to));
	unsigned long page;

	if (!to)
		die("no memory");
	for (page = 0; page < region.nr_pages; page++)
		to[page] = node;
	move_pages_of(region.start, region.nr_pages, to, region.status);
	free(to);
}

void region_bind(int mode, unsigned long nodes)
{
	set_policy_of(region.start, region.nr_pages * PAGE, mode, nodes);
}

void region_lock(void)
{
	if (mlock(region.start, region.nr_pages * PAGE))
		die("mlock: %s", strerror(errno));
}

void region_pin(void)
{
	struct iovec all = { region.start, region.nr_pages * PAGE };

	if (pipe2(pipe_fd, O_NONBLOCK) || vmsplice(pipe_fd[1], &all, 1, 0) <= 0)
		die("vmsplice: %s", strerror(errno));
}

void region_unpin(void)
{
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}
