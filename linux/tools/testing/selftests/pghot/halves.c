// SPDX-License-Identifier: GPL-2.0
/*
 * Folios that two processes map, of which both give back the same half while they migrate.
 *
 *	halves KB NODE NODE TIMES
 *
 * Each is of so many KiB, for which THP has to be switched on, and goes from the first
 * node to the second. Prints one line: how many times both gave back in time, and how many
 * times the kernel knew after that of one more folio of which a part is mapped.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "numa.h"

/* In an entry of /proc/self/pagemap, that of a page that migrates. */
#define PM_SWAP		0x4000000000000000ULL
#define LIMIT_US	1000000

static char *folio;
static size_t bytes;
static int pagemap_fd, gauge_fd, target;
static bool moved;
/* What both processes see: the child is to give back, and did. */
static struct {
	bool go, done;
} *both;

static bool migrates(void)
{
	uint64_t entry;

	if (pread(pagemap_fd, &entry, sizeof(entry), (uintptr_t)folio / PAGE * sizeof(entry)) !=
	    sizeof(entry))
		die("pagemap: %s", strerror(errno));
	return entry & PM_SWAP;
}

static long gauge(void)
{
	char text[32] = { };

	if (pread(gauge_fd, text, sizeof(text) - 1, 0) <= 0)
		die("nr_anon_partially_mapped: %s", strerror(errno));
	return atol(text);
}

static void give_back(void)
{
	if (madvise(folio + bytes / 2, bytes / 2, MADV_DONTNEED))
		die("madvise: %s", strerror(errno));
}

static void *move(void *arg)
{
	int status, nr = 1;
	void *page = folio;

	/* The whole of it goes with its first page. */
	if (syscall(SYS_move_pages, 0, nr, &page, &target, &status, MPOL_MF_MOVE_ALL) < 0)
		die("move_pages: %s", strerror(errno));
	WRITE_ONCE(moved, true);
	return arg;
}

static pid_t fork_child(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork: %s", strerror(errno));
	if (child)
		return child;
	while (!__atomic_load_n(&both->go, __ATOMIC_ACQUIRE))
		;
	give_back();
	__atomic_store_n(&both->done, true, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* Have both give back; true if that was while it migrated. */
static bool in_time(void)
{
	uint64_t end = now_us() + LIMIT_US;

	while (!migrates())
		if (READ_ONCE(moved) || now_us() > end)
			return false;
	__atomic_store_n(&both->go, true, __ATOMIC_RELEASE);
	give_back();
	while (!__atomic_load_n(&both->done, __ATOMIC_ACQUIRE))
		if (now_us() > end)
			return false;
	return migrates();
}

/* One folio; sets whether the kernel knew, and returns whether it was in time. */
static bool attempt(bool *knew)
{
	long before = gauge();
	char *room = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t mover;
	bool caught;
	pid_t child;

	if (room == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	folio = (char *)(((uintptr_t)room + bytes - 1) & ~(bytes - 1));
	memset(folio, 1, bytes);
	memset(both, 0, sizeof(*both));
	moved = false;
	child = fork_child();
	if (pthread_create(&mover, NULL, move, NULL))
		die("cannot start a thread");
	caught = in_time();
	pthread_join(mover, NULL);
	*knew = gauge() > before;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(room, 2 * bytes);
	return caught;
}

int main(int argc, char **argv)
{
	unsigned long kb, times, caught = 0, known = 0;
	char path[128];
	bool knew;

	if (argc != 5)
		die("usage: halves KB NODE NODE TIMES");
	kb = strtoul(argv[1], NULL, 0);
	bytes = kb << 10;
	set_policy(MPOL_BIND, 1UL << atoi(argv[2]));
	target = atoi(argv[3]);
	times = strtoul(argv[4], NULL, 0);
	snprintf(path, sizeof(path),
		 "/sys/kernel/mm/transparent_hugepage/hugepages-%lukB/stats/nr_anon_partially_mapped",
		 kb);
	pagemap_fd = open("/proc/self/pagemap", O_RDONLY);
	gauge_fd = open(path, O_RDONLY);
	if (pagemap_fd < 0 || gauge_fd < 0)
		die("%s: %s", path, strerror(errno));
	both = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (both == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	while (times--)
		if (attempt(&knew)) {
			caught++;
			known += knew;
		}
	printf("caught=%lu known=%lu\n", caught, known);
	return 0;
}
