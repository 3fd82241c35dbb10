// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"
#include "measured.h"

static double began;

double workload_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void keep_vmstat(const char *to)
{
	char text[65536];
	int in, out, refresh;
	ssize_t n;

	if (access(RUN_DIRECTORY, W_OK))
		return;
	/* Each CPU keeps its share of the counters for up to a second. */
	refresh = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);
	if (refresh >= 0) {
		if (write(refresh, "1", 1) != 1)
			workload_fail("cannot refresh vmstat");
		close(refresh);
	}
	in = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	while (in >= 0 && out >= 0 && (n = read(in, text, sizeof(text))) > 0)
		if (write(out, text, n) != n)
			workload_fail("cannot write %s", to);
	close(in);
	close(out);
}

/* Lines of a path and the word to write there. */
static void apply_settings(void)
{
	FILE *f = fopen(SETTINGS, "re");
	char path[256], word[64];
	ssize_t n;
	int fd;

	while (f && fscanf(f, "%255s %63s", path, word) == 2) {
		n = -1;
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd >= 0)
			n = write(fd, word, strlen(word));
		if (n < 0)
			workload_fail("cannot write %s to %s: %s", word, path,
				      strerror(errno));
		close(fd);
	}
	if (f)
		fclose(f);
}

void measured_begin(void)
{
	apply_settings();
	keep_vmstat(VMSTAT_BEGIN);
	memsim_call(MEMSIM_BEGIN);
}

void workload_begin(void)
{
	if (workload.best)
		place_best();
	/* Another seed begins at another time between two ticks of the kernel. */
	usleep(random_start(~0UL) % 16384);
	measured_begin();
	began = workload_now();
}

void workload_warm(void)
{
	/* All that is counted begins anew with the measured part. */
	memsim_call(MEMSIM_BEGIN);
}

double workload_end(void)
{
	double seconds = workload_now() - began;

	memsim_call(MEMSIM_END);
	keep_vmstat(VMSTAT_END);
	return seconds;
}

double workload_measure(int n, void (*f)(int thread))
{
	workload_begin();
	workload_threads(n, f);
	return workload_end();
}
