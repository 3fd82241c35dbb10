// SPDX-License-Identifier: GPL-2.0
/*
 * A process with memory on a given node, and workers that access it.
 *
 *	hotmem [-c CPU,...] [-s all|halves|turns] [-b NODES] [-p] [-x] KIND MB NODE
 *
 *	KIND	anon, thp, shmem, file:PATH
 *	-c	one worker for each CPU of the list, bound to it; default: one
 *		worker, bound to nothing
 *	-s	pages of each worker: all of them; one contiguous part; every n-th
 *	-b	policy while accessing: MPOL_BIND with balancing on these nodes;
 *		default: MPOL_DEFAULT
 *	-p	workers are processes; with shmem and file they share the pages
 *	-x	the file is mapped executable
 *
 * It is told what to do by lines on its standard input and answers each with one
 * line. Every page holds a pattern of its own, which each access compares.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "numa.h"

#define WORKERS_MAX	16
#define HUGE		(2UL << 20)

enum share { ALL, HALVES, TURNS };
enum what { IDLE, TOUCH, SPIN, QUIT };

static char *region;
static unsigned long nr_pages;
static int *status;
static int cpus[WORKERS_MAX], nr_workers = 1;
static bool pinned, processes, executable;
static int pipe_fd[2];
static enum share share = ALL;
static unsigned long bind_nodes;

/* Shared with workers that are processes. */
static struct control {
	int what;
	struct {
		int doing;
		unsigned long passes;
		unsigned long bad;
	} worker[WORKERS_MAX];
} *control;

static uint64_t pattern(unsigned long page)
{
	return (page + 1) * 0x9e3779b97f4a7c15ULL;
}

static uint64_t *word(unsigned long page)
{
	/* Not the same cache set for each page. */
	return (uint64_t *)(region + page * PAGE + page % 8 * 64);
}

static bool is_own(int me, unsigned long page)
{
	switch (share) {
	case HALVES:
		return page * nr_workers / nr_pages == (unsigned long)me;
	case TURNS:
		return page % nr_workers == (unsigned long)me;
	default:
		return true;
	}
}

static void pass(int me)
{
	unsigned long page, bad = 0;

	for (page = 0; page < nr_pages; page++)
		if (is_own(me, page) && READ_ONCE(*word(page)) != pattern(page))
			bad++;
	WRITE_ONCE(control->worker[me].bad, control->worker[me].bad + bad);
	WRITE_ONCE(control->worker[me].passes, control->worker[me].passes + 1);
}

static void *worker(void *arg)
{
	int me = (long)arg;

	if (pinned) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpus[me], &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			die("CPU %d: %s", cpus[me], strerror(errno));
	}
	if (bind_nodes)
		set_policy(MPOL_BIND | MPOL_F_NUMA_BALANCING, bind_nodes);
	else
		set_policy(MPOL_DEFAULT, 0);

	for (;;) {
		int what = READ_ONCE(control->what);

		WRITE_ONCE(control->worker[me].doing, what);
		switch (what) {
		case IDLE:
			nap_ms(1);
			break;
		case TOUCH:
			pass(me);
			break;
		case SPIN:
			break;
		case QUIT:
			return NULL;
		}
	}
}

static void start_workers(void)
{
	pthread_t thread;
	long i;

	for (i = 0; i < nr_workers; i++) {
		if (!processes) {
			if (pthread_create(&thread, NULL, worker, (void *)i))
				die("cannot start a thread");
			continue;
		}
		switch (fork()) {
		case -1:
			die("fork: %s", strerror(errno));
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			worker((void *)i);
			_exit(0);
		}
	}
}

static void tell_workers(enum what what)
{
	int i;

	WRITE_ONCE(control->what, what);
	for (i = 0; i < nr_workers; i++)
		while (READ_ONCE(control->worker[i].doing) != (int)what)
			nap_ms(1);
}

/* --- memory ----------------------------------------------------------- */

static char *map_file(const char *path, size_t bytes, int node)
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
	for (page = 0; page < nr_pages; page++) {
		*(uint64_t *)(buffer + page % 8 * 64) = pattern(page);
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

static void make_region(const char *kind, unsigned long mb, int node)
{
	size_t bytes = mb << 20;
	unsigned long page;
	bool file = !strncmp(kind, "file:", 5);

	nr_pages = bytes / PAGE;
	status = calloc(nr_pages, sizeof(*status));
	if (!status)
		die("no memory");

	/* Page cache and anonymous memory alike follow the task's policy. */
	if (!file)
		set_policy(MPOL_BIND, 1UL << node);
	if (file)
		region = map_file(kind + 5, bytes, node);
	else if (!strcmp(kind, "anon"))
		region = map_anon(bytes, MAP_PRIVATE, MADV_NOHUGEPAGE);
	else if (!strcmp(kind, "thp"))
		region = map_anon(bytes, MAP_PRIVATE, MADV_HUGEPAGE);
	else if (!strcmp(kind, "shmem"))
		region = map_anon(bytes, MAP_SHARED, MADV_NOHUGEPAGE);
	else
		die("unknown kind '%s'", kind);

	for (page = 0; page < nr_pages; page++) {
		if (!file)
			*word(page) = pattern(page);
		else if (*word(page) != pattern(page))
			die("page %lu of the file is wrong", page);
	}
	set_policy(MPOL_DEFAULT, 0);

	/*
	 * Pages wait in per-CPU lists before they get on the LRU lists, and
	 * cannot be isolated until then. Moving a page takes all of them along.
	 */
	move_pages_of(region, 1, &node, status);
}

static void look(void)
{
	move_pages_of(region, nr_pages, NULL, status);
}

static unsigned long count_on(unsigned long nodes)
{
	unsigned long page, n = 0;

	for (page = 0; page < nr_pages; page++)
		n += status[page] >= 0 && nodes >> status[page] & 1;
	return n;
}

static void where(const char *first)
{
	unsigned long n, other = nr_pages;
	int node;

	printf("%s", first);
	for (node = 0; node < NODES_MAX; node++) {
		n = count_on(1UL << node);
		other -= n;
		if (n || node < 3)
			printf(" node%d=%lu", node, n);
	}
	printf(" absent=%lu\n", other);
}

static int node_of_cpu(int cpu)
{
	char path[80];
	int node;

	for (node = 0; node < NODES_MAX; node++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/node/node%d/cpu%d", node, cpu);
		if (!access(path, F_OK))
			return node;
	}
	die("CPU %d has no node", cpu);
}

/* Pages that are on the node of the CPU that accesses them. */
static unsigned long count_own(void)
{
	unsigned long page, n = 0;
	int i;

	look();
	for (i = 0; i < nr_workers; i++) {
		int node = node_of_cpu(cpus[i]);

		for (page = 0; page < nr_pages; page++)
			n += is_own(i, page) && status[page] == node;
	}
	return n;
}

static void wait_for(const char *args)
{
	unsigned long count, seconds;
	char nodes[80];
	uint64_t end;

	if (sscanf(args, "%79s %lu %lu", nodes, &count, &seconds) != 3)
		die("wait NODES|own COUNT SECONDS");
	end = now_us() + seconds * 1000000ULL;
	for (;;) {
		bool done;

		if (!strcmp(nodes, "own")) {
			done = count_own() >= count;
		} else {
			look();
			done = count_on(parse_nodes(nodes)) >= count;
		}
		if (done || now_us() >= end) {
			where(done ? "ok" : "late");
			return;
		}
		nap_ms(20);
	}
}

/* Bytes in huge pages, as the kernel sees this mapping. */
static unsigned long huge_pages(void)
{
	unsigned long start, end, kb, sum = 0;
	FILE *f = fopen("/proc/self/smaps", "r");
	bool mine = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			mine = start < (uintptr_t)region + nr_pages * PAGE &&
			       end > (uintptr_t)region;
		else if (mine && sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)
			sum += kb;
	}
	if (f)
		fclose(f);
	return sum / 4;
}

static unsigned long check(void)
{
	unsigned long page, bad = 0;
	int i;

	for (page = 0; page < nr_pages; page++)
		bad += *word(page) != pattern(page);
	for (i = 0; i < nr_workers; i++)
		bad += READ_ONCE(control->worker[i].bad);
	return bad;
}

/* Hold references to the first pages, as input and output under way does. */
static void pin(void)
{
	struct iovec all = { region, nr_pages * PAGE };

	if (pipe2(pipe_fd, O_NONBLOCK) || vmsplice(pipe_fd[1], &all, 1, 0) <= 0)
		die("vmsplice: %s", strerror(errno));
}

static void unpin(void)
{
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static void move_to(int node)
{
	int *to = malloc(nr_pages * sizeof(*to));
	unsigned long page;

	if (!to)
		die("no memory");
	for (page = 0; page < nr_pages; page++)
		to[page] = node;
	move_pages_of(region, nr_pages, to, status);
	free(to);
}

/*
 *	run		workers access their pages over and over
 *	spin		workers only use their CPUs
 *	stop		workers sleep
 *	passes		the least that any worker has done
 *	where		pages on each node
 *	wait N,.. C S	until C pages are on one of the nodes, at most S seconds
 *	wait own C S	until C pages are where they are accessed from
 *	check		pages with wrong contents
 *	huge		pages in huge pages
 *	move NODE	by move_pages(2)
 *	write		write to each page
 *	pin, unpin	hold references to some pages
 *	free		give the memory back
 */
static bool obey(char *line)
{
	unsigned long page, passes = -1UL;
	int i;

	line[strcspn(line, "\n")] = 0;
	if (!strcmp(line, "run") || !strcmp(line, "spin") ||
	    !strcmp(line, "stop")) {
		tell_workers(*line == 'r' ? TOUCH : line[1] == 'p' ? SPIN : IDLE);
		puts("ok");
	} else if (!strcmp(line, "passes")) {
		for (i = 0; i < nr_workers; i++)
			if (READ_ONCE(control->worker[i].passes) < passes)
				passes = READ_ONCE(control->worker[i].passes);
		printf("%lu\n", passes);
	} else if (!strcmp(line, "where")) {
		look();
		where("ok");
	} else if (!strncmp(line, "wait ", 5)) {
		wait_for(line + 5);
	} else if (!strcmp(line, "check")) {
		printf("%lu\n", check());
	} else if (!strcmp(line, "huge")) {
		printf("%lu\n", huge_pages());
	} else if (!strncmp(line, "move ", 5)) {
		move_to(atoi(line + 5));
		look();
		where("ok");
	} else if (!strcmp(line, "write")) {
		for (page = 0; page < nr_pages; page++)
			*word(page) = pattern(page);
		puts("ok");
	} else if (!strcmp(line, "pin") || !strcmp(line, "unpin")) {
		if (*line == 'p')
			pin();
		else
			unpin();
		puts("ok");
	} else if (!strcmp(line, "free")) {
		if (munmap(region, nr_pages * PAGE))
			die("munmap: %s", strerror(errno));
		puts("ok");
	} else {
		return false;
	}
	return true;
}

static void parse_cpus(char *list)
{
	char *cpu;

	pinned = true;
	nr_workers = 0;
	for (cpu = strtok(list, ","); cpu; cpu = strtok(NULL, ",")) {
		if (nr_workers == WORKERS_MAX)
			die("more than %d workers", WORKERS_MAX);
		cpus[nr_workers++] = atoi(cpu);
	}
}

int main(int argc, char **argv)
{
	char line[256];
	int option;

	while ((option = getopt(argc, argv, "c:s:b:px")) != -1) {
		switch (option) {
		case 'c':
			parse_cpus(optarg);
			break;
		case 's':
			share = *optarg == 'h' ? HALVES :
				*optarg == 't' ? TURNS : ALL;
			break;
		case 'b':
			bind_nodes = parse_nodes(optarg);
			break;
		case 'p':
			processes = true;
			break;
		case 'x':
			executable = true;
			break;
		default:
			return 1;
		}
	}
	if (argc - optind != 3)
		die("usage: hotmem [-c CPU,...] [-s SHARE] [-b NODES] [-p] [-x] KIND MB NODE");

	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (control == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_region(argv[optind], strtoul(argv[optind + 1], NULL, 10),
		    atoi(argv[optind + 2]));
	start_workers();
	look();
	where("ready");
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n"))
		if (!obey(line))
			die("unknown command: %s", line);
	tell_workers(QUIT);
	return 0;
}
