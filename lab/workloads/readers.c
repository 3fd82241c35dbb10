// SPDX-License-Identifier: GPL-2.0
/*
 * Threads read a file from beginning to end, over and over, without mapping it.
 *
 * Source: "Promotion of Unmapped Page Cache Folios" (RFC): one reader of a file, then
 * seven, then one again. Each of them keeps what it reads in anonymous memory until the
 * loop ends, as the Python programs there did: seven of them take more than DRAM has,
 * and the file is demoted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/workload.h"

#define BUFFER		65536UL
#define MAX_PHASES	8

static const char *path = "/mnt/readers";
static uint64_t mib = 48, loops = 24, readers = 1;
static struct list in_phase, loops_in_phase;
static bool keep;
static uint64_t compared, wrong;
static uint64_t begun;		/* buffers of this phase, by all readers */
static double ended[MAX_THREADS];

static const struct workload_option options[] = {
	{ "file", 'f', "", .text = &path },
	{ "mib", 'm', "size of the file", .number = &mib, .low = 1, .high = 1 << 20 },
	{ "loops", 'n', "by each reader, on average", .number = &loops, .low = 1, .high = UINT32_MAX },
	{ "readers", 'r', "", .number = &readers, .low = 1, .high = MAX_THREADS },
	{ "phases", 'P', "readers of each phase, as in 1,7,1, instead of --readers", .nodes = &in_phase },
	{ "phase-loops", 'N', "loops of each phase, instead of --loops", .nodes = &loops_in_phase },
	{ "keep", 'k', "keep what is read in anonymous memory until the loop ends", .flag = &keep },
	{}
};

/*
 * Readers end together, when together they have read what is asked for. With as much
 * for each, the last of seven on four CPUs would end alone: a third of a run by chance.
 */
static bool more_to_read(void)
{
	return __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED) <
	       readers * loops * ((mib << 20) / BUFFER);
}

/* Each line of the file begins with what belongs there. */
static void make_file(void)
{
	static uint64_t words[BUFFER / sizeof(uint64_t)];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t at, i, line = 0;

	if (fd < 0)
		workload_fail("cannot create %s: %s", path, strerror(errno));
	for (at = 0; at < mib << 20; at += BUFFER) {
		for (i = 0; i < BUFFER / LINE; i++)
			words[i * LINE / sizeof(*words)] = line_value(line++);
		if (write(fd, words, BUFFER) != (ssize_t)BUFFER)
			workload_fail("cannot write %s: %s", path, strerror(errno));
	}
	if (getenv("BENCH_CORRUPT") && pwrite(fd, "x", 1, PAGE) != 1)
		workload_fail("cannot write %s", path);
	/* Promotion leaves dirty pages where they are. */
	if (fsync(fd))
		workload_fail("cannot write %s: %s", path, strerror(errno));
	close(fd);
}

static void work(int thread)
{
	size_t room = keep ? mib << 20 : BUFFER;
	char *memory = workload_map(room);
	uint64_t at, i, lines = 0, differ = 0;
	/* Each begins elsewhere: whether they share what is in the cache is no chance. */
	uint64_t n = (mib << 20) / BUFFER, x = random_start(0);
	uint64_t first = (random_next(&x) % n + n * thread / readers) % n * BUFFER;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		workload_fail("cannot open %s: %s", path, strerror(errno));
	workload_barrier();
	for (n = 0; more_to_read(); n = (n + BUFFER) % (mib << 20)) {
		uint64_t *buffer = (uint64_t *)(memory + (keep ? n : 0));

		if (keep && !n && lines && madvise(memory, room, MADV_DONTNEED))
			workload_fail("madvise: %s", strerror(errno));
		at = (first + n) % (mib << 20);
		if (pread(fd, buffer, BUFFER, at) != (ssize_t)BUFFER)
			workload_fail("cannot read %s: %s", path, strerror(errno));
		/* One line a page: a reader uses what it reads. */
		for (i = 0; i < BUFFER; i += PAGE, lines++)
			differ |= buffer[i / sizeof(*buffer)] ^
				  line_value((at + i) / LINE);
	}
	ended[thread] = workload_now();
	__atomic_fetch_add(&compared, lines, __ATOMIC_RELAXED);
	__atomic_fetch_or(&wrong, differ, __ATOMIC_RELAXED);
	close(fd);
	munmap(memory, room);
}

/* Between the ends of the first reader and of the last one, in seconds. */
static double ended_apart(void)
{
	double first = ended[0], last = first;
	uint64_t i;

	for (i = 1; i < readers; i++) {
		first = ended[i] < first ? ended[i] : first;
		last = ended[i] > last ? ended[i] : last;
	}
	return last - first;
}

static void choose_phases(void)
{
	int i;

	if (!in_phase.n)
		in_phase = (struct list){ .item = { readers }, .n = 1 };
	if (in_phase.n > MAX_PHASES)
		workload_fail("--phases: more than %d", MAX_PHASES);
	if (loops_in_phase.n && loops_in_phase.n != in_phase.n)
		workload_fail("--phase-loops: as many numbers as --phases has are needed");
	for (i = 0; i < in_phase.n; i++)
		if (in_phase.item[i] < 1 || in_phase.item[i] > MAX_THREADS ||
		    (loops_in_phase.n && !loops_in_phase.item[i]))
			workload_fail("--phases: 1 to %d readers, and 1 loop at least",
				      MAX_THREADS);
}

int main(int argc, char **argv)
{
	char text[MAX_PHASES * 128] = "";
	double seconds, began;
	uint64_t read = 0;
	int i, n = 0;

	workload_parse(argc, argv, "Readers of a file that is not mapped.", options);
	choose_phases();
	workload_place(&workload.place);
	make_file();
	/*
	 * Where the file is not on the readers' node, all is to be in slow memory,
	 * also what they keep. Without demotion it would not fit into DRAM.
	 */
	if (!workload.place.n || workload.place.item[0] == workload_node(0))
		workload_place(&(struct list){});

	workload_begin();
	for (i = 0; i < in_phase.n; i++) {
		readers = in_phase.item[i];
		loops = loops_in_phase.n ? (uint64_t)loops_in_phase.item[i] : loops;
		began = workload_now();
		begun = 0;
		workload_threads(readers, work);
		read += readers * loops;
		n += snprintf(text + n, sizeof(text) - n,
			      "%s{\"readers\":%lu,\"loops\":%lu,\"seconds_a_loop\":%.6f,"
			      "\"ended_apart\":%.6f}",
			      i ? "," : "", readers, loops,
			      (workload_now() - began) / loops, ended_apart());
	}
	seconds = workload_end();

	if (wrong || compared != read * (mib << 20) / PAGE)
		workload_fail("the data read is not what was written");
	workload_verified(compared);
	workload_result(seconds, read * mib * 1.048576 / seconds, "MB/s",
			"\"phases\":[%s]", text);
	return 0;
}
