// SPDX-License-Identifier: GPL-2.0
/*
 * A process with memory on a given node, and workers that access it.
 *
 *	hotmem [-c CPU,...] [-s all|halves|turns] [-b NODES] [-p] [-x] KIND MB NODE
 *
 *	KIND	anon, thp, huge, shmem, file:PATH
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
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "region.h"

#define WORKERS_MAX	16
#define MAPPINGS	50000
/* Pages of half a folio of 64 KiB. */
#define HALF		8UL

enum share { ALL, HALVES, TURNS, APART };
enum what { IDLE, TOUCH, UNSCANNED, SPIN, QUIT };

static int cpus[WORKERS_MAX], nr_workers = 1;
static bool pinned, processes, executable;
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

static bool is_own(int me, unsigned long page)
{
	switch (share) {
	case HALVES:
		return page * nr_workers / region.nr_pages == (unsigned long)me;
	case TURNS:
		return page % nr_workers == (unsigned long)me;
	case APART:
		return page / HALF % 4 == 2;
	default:
		return true;
	}
}

static void pass(int me)
{
	unsigned long page, bad = 0;

	for (page = 0; page < region.nr_pages; page++)
		if (is_own(me, page) && region_is_wrong(page))
			bad++;
	WRITE_ONCE(control->worker[me].bad, control->worker[me].bad + bad);
	WRITE_ONCE(control->worker[me].passes, control->worker[me].passes + 1);
}

static void *worker(void *arg)
{
	int me = (long)arg;

	if (pinned)
		bind_to(cpus[me]);
	if (bind_nodes)
		set_policy(MPOL_BIND | MPOL_F_NUMA_BALANCING, bind_nodes);
	else
		set_policy(MPOL_DEFAULT, 0);

	for (;;) {
		int what = READ_ONCE(control->what);

		if (what == UNSCANNED)
			set_policy(MPOL_LOCAL, 0);
		WRITE_ONCE(control->worker[me].doing, what);
		switch (what) {
		case IDLE:
			nap_ms(1);
			break;
		case TOUCH:
		case UNSCANNED:
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

	region_look();
	for (i = 0; i < nr_workers; i++) {
		int node = node_of_cpu(cpus[i]);

		for (page = 0; page < region.nr_pages; page++)
			n += is_own(i, page) && region.status[page] == node;
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
			region_look();
			done = region_count_on(parse_nodes(nodes)) >= count;
		}
		if (done || now_us() >= end) {
			region_where(done ? "ok" : "late");
			return;
		}
		nap_ms(20);
	}
}

static unsigned long check(void)
{
	unsigned long bad = region_check();
	int i;

	for (i = 0; i < nr_workers; i++)
		bad += READ_ONCE(control->worker[i].bad);
	return bad;
}

/* By another process: the memory gets the policy, and no mapping of ours. */
static void bind_by_other(int mode, unsigned long nodes)
{
	pid_t other = fork();
	int status;

	if (!other) {
		region_bind(mode, nodes);
		_exit(0);
	}
	if (other < 0 || waitpid(other, &status, 0) != other || status)
		die("no mbind by another process");
}

static void give_policy(const char *args, void (*give)(int, unsigned long))
{
	static const struct {
		const char *name;
		int mode;
	} modes[] = {
		{ "bind", MPOL_BIND },
		{ "interleave", MPOL_INTERLEAVE },
		{ "balance", MPOL_BIND | MPOL_F_NUMA_BALANCING },
		{ }
	};
	char name[16], nodes[80];
	unsigned int i;

	if (sscanf(args, "%15s %79s", name, nodes) != 2)
		die("MODE NODE,...");
	for (i = 0; modes[i].name; i++)
		if (!strcmp(name, modes[i].name)) {
			give(modes[i].mode, parse_nodes(nodes));
			puts("ok");
			return;
		}
	die("unknown policy %s", name);
}

/* Who changes mappings holds mmap_lock. */
static void *remap_loop(void *length)
{
	while (true) {
		void *some = mmap(NULL, (size_t)length, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (some == MAP_FAILED || munmap(some, (size_t)length))
			die("remap: %s", strerror(errno));
	}
	return NULL;
}

/* At lower addresses than the memory: as many mappings as a process may have, or so. */
static void remap(void)
{
	pthread_t thread;
	int i, err;

	for (i = 0; i < MAPPINGS; i++)
		if (mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			die("mmap: %s", strerror(errno));
	err = pthread_create(&thread, NULL, remap_loop, (void *)PAGE);
	if (err)
		die("pthread_create: %s", strerror(err));
}

/* Every other folio of 64 KiB is given back, and the others have their second half there. */
static void apart(void)
{
	unsigned long page;

	for (page = 0; page < region.nr_pages; page += 4 * HALF) {
		char *half = region.start + (page + HALF) * PAGE, *to = half + HALF * PAGE;

		if (munmap(to, 2 * HALF * PAGE) ||
		    mremap(half, HALF * PAGE, HALF * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   to) != to)
			die("mremap: %s", strerror(errno));
	}
	share = APART;
	for (page = 0; page < region.nr_pages; page++)
		if (is_own(0, page))
			*region_word(page) = region_pattern(page);
}

static bool obey(char *line);

/* Until somebody says that it is over, or goes away. */
static void *obey_all(void *unused)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n"))
		if (!obey(line))
			die("unknown command: %s", line);
	tell_workers(QUIT);
	exit(0);
	return unused;
}

/* The first thread ends, and the process goes on with others. */
static void leave(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, obey_all, NULL))
		die("cannot start a thread");
	puts("ok");
	pthread_exit(NULL);
}

/*
 *	run		workers access their pages over and over
 *	run unscanned	the same without hint faults: with a policy, kept from then
 *			on, by which NUMA balancing leaves a thread alone
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
 *	lock		by mlock(2)
 *	mbind MODE N,..	policy of the memory: bind, balance, interleave
 *	mbind-other MODE N,..  the same of shared memory, by another process
 *	policy MODE N,..  policy of this process; workers keep theirs
 *	free		give the memory back
 *	remap		map and unmap other memory from now on, all the time
 *	apart		of every other folio of 64 KiB map the second half elsewhere; workers
 *			access those halves alone from now on, and the rest cannot be checked
 *	leave		another thread takes further commands, and this one ends
 */
static bool obey(char *line)
{
	unsigned long passes = -1UL;
	int i;

	line[strcspn(line, "\n")] = 0;
	if (!strcmp(line, "run") || !strcmp(line, "spin") ||
	    !strcmp(line, "stop")) {
		tell_workers(*line == 'r' ? TOUCH : line[1] == 'p' ? SPIN : IDLE);
		puts("ok");
	} else if (!strcmp(line, "run unscanned")) {
		tell_workers(UNSCANNED);
		puts("ok");
	} else if (!strcmp(line, "passes")) {
		for (i = 0; i < nr_workers; i++)
			if (READ_ONCE(control->worker[i].passes) < passes)
				passes = READ_ONCE(control->worker[i].passes);
		printf("%lu\n", passes);
	} else if (!strcmp(line, "where")) {
		region_look();
		region_where("ok");
	} else if (!strncmp(line, "wait ", 5)) {
		wait_for(line + 5);
	} else if (!strcmp(line, "check")) {
		printf("%lu\n", check());
	} else if (!strcmp(line, "huge")) {
		printf("%lu\n", region_huge_pages());
	} else if (!strncmp(line, "move ", 5)) {
		region_move_to(atoi(line + 5));
		region_look();
		region_where("ok");
	} else if (!strcmp(line, "write")) {
		region_write();
		puts("ok");
	} else if (!strcmp(line, "pin") || !strcmp(line, "unpin")) {
		if (*line == 'p')
			region_pin();
		else
			region_unpin();
		puts("ok");
	} else if (!strcmp(line, "lock")) {
		region_lock();
		puts("ok");
	} else if (!strncmp(line, "mbind ", 6)) {
		give_policy(line + 6, region_bind);
	} else if (!strncmp(line, "mbind-other ", 12)) {
		give_policy(line + 12, bind_by_other);
	} else if (!strncmp(line, "policy ", 7)) {
		give_policy(line + 7, set_policy);
	} else if (!strcmp(line, "free")) {
		region_free();
		puts("ok");
	} else if (!strcmp(line, "remap")) {
		remap();
		puts("ok");
	} else if (!strcmp(line, "apart")) {
		apart();
		puts("ok");
	} else if (!strcmp(line, "leave")) {
		leave();
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
	region_make(argv[optind], strtoul(argv[optind + 1], NULL, 10),
		    atoi(argv[optind + 2]), executable);
	start_workers();
	region_look();
	region_where("ready");
	obey_all(NULL);
	return 0;
}
