// SPDX-License-Identifier: GPL-2.0
/*
 * Two programs on one machine, each in a memory cgroup of its own and with a figure of
 * its own: a server with a small hot set and a latency to keep, and a scan that reads a
 * large file from beginning to end, over and over, until the server is done.
 *
 * The file has no blocks on its disk: what is read of it is page cache and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/lines.h"

#define BUFFER		65536UL
#define STEPS		32	/* classes of latency for each doubling */
#define CLASSES		(STEPS * 32)

enum { SERVER, SCAN, TENANTS };

static const char *const names[] = { "server", "scan" };

/* What memory.stat says of a cgroup, if it says it. */
static const char *const counters[] = {
	"pgpromote_success ", "pgdemote_kswapd ", "pgdemote_direct ",
};

#define COUNTERS (sizeof(counters) / sizeof(*counters))

/**
 * struct tenant - what both processes see of one
 * @amount: requests answered, or bytes read
 * @compared: values that were as they should be
 * @class: how many requests took how long
 * @counted: growth of each of the counters
 */
struct tenant {
	double seconds;
	uint64_t amount, compared;
	uint64_t class[CLASSES];
	uint64_t counted[COUNTERS];
};

static struct {
	pthread_barrier_t barrier;
	bool stop;
	struct tenant tenant[TENANTS];
} *shared;

static pid_t process[TENANTS];

static uint64_t server_mib = 64, hot_mib = 16, requests = 200000, work = 16, file_mib = 192;
static uint64_t pause_us;
static bool alone;
static struct list file_place;
static const char *path = "/mnt/tenants", *cgroups = "/sys/fs/cgroup";

static const struct workload_option options[] = {
	{ "server-mib", 'm', "memory of the server", .number = &server_mib, .low = 1, .high = 1 << 20 },
	{ "hot-mib", 'H', "its hot set: 15 of 16 accesses go there", .number = &hot_mib, .low = 1, .high = 1 << 20 },
	{ "requests", 'n', "to the server", .number = &requests, .low = 1, .high = UINT32_MAX },
	{ "work", 'w', "accesses of a request", .number = &work, .low = 1, .high = 1 << 16 },
	{ "file", 'f', "that is scanned", .text = &path },
	{ "file-mib", 'F', "size of it", .number = &file_mib, .low = 1, .high = 1 << 20 },
	{ "file-place", 'P', "nodes it lies on at first", .nodes = &file_place },
	{ "pause-us", 'z', "between two reads of 64 KiB by the scan", .number = &pause_us, .low = 0, .high = 1000000 },
	{ "cgroups", 'g', "where cgroup2 is mounted; none: do without", .text = &cgroups },
	{ "alone", 'A', "no scan", .flag = &alone },
	{}
};

/* Classes are wider the longer the time: each doubling has STEPS of them. */
static unsigned int class_of(double ns)
{
	double class = ns > 1 ? log2(ns) * STEPS : 0;

	return class < CLASSES - 1 ? class : CLASSES - 1;
}

/* The time that this share of the requests did not exceed: the end of a class. */
static double quantile(const struct tenant *t, double share)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < CLASSES; i++) {
		n += t->class[i];
		if (n >= share * t->amount)
			break;
	}
	return exp2((i + 1.0) / STEPS);
}

static void in_cgroup(char *name, size_t room, int who, const char *file)
{
	if (snprintf(name, room, "%s/%s%s%s", cgroups, names[who], *file ? "/" : "", file) >=
	    (int)room)
		workload_fail("--cgroups: too long");
}

static bool with_cgroups(void)
{
	return strcmp(cgroups, "none");
}

static void enter_cgroup(int who)
{
	char name[256];
	FILE *f;

	if (!with_cgroups())
		return;
	in_cgroup(name, sizeof(name), who, "");
	if (mkdir(name, 0755) && errno != EEXIST)
		workload_fail("cannot create %s: %s", name, strerror(errno));
	in_cgroup(name, sizeof(name), who, "cgroup.procs");
	f = fopen(name, "we");
	if (!f || fprintf(f, "%d\n", getpid()) < 0 || fclose(f))
		workload_fail("cannot write %s: %s", name, strerror(errno));
}

/* Add what the cgroup's counters say to @counted; with @back take it away. */
static void count(int who, bool back)
{
	char name[256], line[256];
	uint64_t value, *counted = shared->tenant[who].counted;
	size_t i, length;
	FILE *f;

	if (!with_cgroups())
		return;
	in_cgroup(name, sizeof(name), who, "memory.stat");
	f = fopen(name, "re");
	if (!f)
		workload_fail("cannot read %s: %s", name, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		for (i = 0; i < COUNTERS; i++) {
			length = strlen(counters[i]);
			if (!strncmp(line, counters[i], length) &&
			    sscanf(line + length, "%lu", &value) == 1)
				counted[i] += back ? -value : value;
		}
	}
	fclose(f);
}

static void wait_for_all(void)
{
	pthread_barrier_wait(&shared->barrier);
}

static void serve(void)
{
	struct tenant *t = &shared->tenant[SERVER];
	struct lines area = lines_map(server_mib, &workload.place, 1);
	uint64_t pages = (server_mib << 20) / PAGE, hot = (hot_mib << 20) / PAGE;
	uint64_t x = random_start(SERVER), n, i, differ = 0;
	double began, before, now;

	wait_for_all();
	wait_for_all();
	began = before = workload_now();
	for (n = 0; n < requests; n++) {
		for (i = 0; i < work; i++) {
			uint64_t r = random_next(&x);

			differ |= lines_access(&area, lines_pick(r, 0, (r & 15) ? hot : pages),
					       (r & 0x30) == 0);
		}
		now = workload_now();
		t->class[class_of((now - before) * 1e9)]++;
		before = now;
	}
	t->seconds = before - began;
	t->amount = requests;
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	wait_for_all();
	wait_for_all();
	lines_differ(differ);
	lines_verify(&area);
	t->compared = requests * work;
}

static int make_file(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, file_mib << 20))
		workload_fail("cannot create %s: %s", path, strerror(errno));
	return fd;
}

/* Read the file once, or until the server is done. */
static void read_file(int fd, bool once)
{
	static uint64_t buffer[BUFFER / sizeof(uint64_t)];
	struct tenant *t = &shared->tenant[SCAN];
	uint64_t at = 0, i;

	while (once ? at < file_mib << 20 :
	       !at || !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < BUFFER; i += PAGE)
			buffer[i / sizeof(*buffer)] = 1;
		if (pread(fd, buffer, BUFFER, at % (file_mib << 20)) != (ssize_t)BUFFER)
			workload_fail("cannot read %s: %s", path, strerror(errno));
		if (getenv("BENCH_CORRUPT"))
			buffer[0] = 1;
		for (i = 0; i < BUFFER; i += PAGE)
			if (buffer[i / sizeof(*buffer)])
				workload_fail("the data read is not what is in the file");
		at += BUFFER;
		t->compared += BUFFER / PAGE;
		if (pause_us)
			usleep(pause_us);
	}
	t->amount = at;
}

static void scan(void)
{
	int fd = make_file();
	double began;

	workload_place(&file_place);
	read_file(fd, true);
	workload_place(&(struct list){});
	wait_for_all();
	wait_for_all();
	began = workload_now();
	read_file(fd, false);
	shared->tenant[SCAN].seconds = workload_now() - began;
	wait_for_all();
	wait_for_all();
	close(fd);
}

/* A tenant that failed has said why. The others would wait for it for ever. */
static void tenant_ended(int signal)
{
	int status, who;

	(void)signal;
	while (waitpid(-1, &status, WNOHANG) > 0) {
		if (!status)
			continue;
		for (who = 0; who < TENANTS; who++)
			if (process[who] > 0)
				kill(process[who], SIGKILL);
		_exit(1);
	}
}

static void start_tenant(int who, void (*f)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		workload_fail("no process: %s", strerror(errno));
	process[who] = pid;
	if (pid)
		return;
	workload_pin(who);
	enter_cgroup(who);
	f();
	fflush(stdout);
	_exit(0);
}

static void share(void)
{
	pthread_barrierattr_t attributes;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		workload_fail("no memory left");
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attributes, alone ? 2 : 3);
}

/* One entry of the list of tenants. */
static int describe(char *text, size_t room, int who)
{
	const struct tenant *t = &shared->tenant[who];
	int n;

	n = snprintf(text, room, "{\"name\":\"%s\",\"seconds\":%.6f,\"score\":%.6g,\"unit\":\"%s\"",
		     names[who], t->seconds,
		     who == SERVER ? t->amount / t->seconds : t->amount / t->seconds / 1e6,
		     who == SERVER ? "requests/s" : "MB/s");
	if (who == SERVER)
		n += snprintf(text + n, room - n, ",\"p50_us\":%.3f,\"p99_us\":%.3f,\"p999_us\":%.3f",
			      quantile(t, 0.5) / 1e3, quantile(t, 0.99) / 1e3,
			      quantile(t, 0.999) / 1e3);
	n += snprintf(text + n, room - n, ",\"promoted\":%lu,\"demoted\":%lu}", t->counted[0],
		      t->counted[1] + t->counted[2]);
	return n;
}

int main(int argc, char **argv)
{
	int who, n = 0, last;
	double seconds;
	char text[1024];

	workload_parse(argc, argv, "A server with a latency to keep beside a scan of a file.",
		       options);
	if (hot_mib > server_mib)
		workload_fail("the hot set is larger than the server's memory");
	last = alone ? SERVER : SCAN;
	share();
	signal(SIGCHLD, tenant_ended);
	start_tenant(SERVER, serve);
	if (!alone)
		start_tenant(SCAN, scan);

	wait_for_all();
	for (who = 0; who <= last; who++)
		count(who, true);
	workload_begin();
	wait_for_all();
	wait_for_all();
	seconds = workload_end();
	for (who = 0; who <= last; who++)
		count(who, false);
	signal(SIGCHLD, SIG_DFL);
	wait_for_all();
	while (wait(&n) > 0)
		if (n)
			return 1;

	for (who = 0, n = 0; who <= last; who++) {
		if (who)
			text[n++] = ',';
		n += describe(text + n, sizeof(text) - n, who);
		workload_verified(shared->tenant[who].compared);
	}
	workload_result(seconds, requests / shared->tenant[SERVER].seconds, "requests/s",
			"\"tenants\":[%s]", text);
	return 0;
}
