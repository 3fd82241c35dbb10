// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to an unmodified redis-server by a Zipf distribution of keys. The
 * server's data is filled in, then moved to where it is to lie.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bench.h"

#define SOCKET_PATH	"/tmp/redis.socket"
#define TABLE		65536
#define PIPELINE	16
#define MOVE_ALL	4	/* MPOL_MF_MOVE_ALL */
#define AT_ONCE		512

static uint64_t keys = 40000, value_bytes = 1024, requests = 300000, sets = 10;
static double theta = 0.99;
static uint32_t table[TABLE];
static pid_t server;
static FILE *in, *out;
static char *value;

static const struct argp_option options[] = {
	{ "keys", 'k', "N", 0, "(default: 40000)", 0 },
	{ "value", 'v', "BYTES", 0, "size of each value (default: 1024)", 0 },
	{ "requests", 'n', "N", 0, "(default: 300000)", 0 },
	{ "sets", 'S', "PERCENT", 0, "of the requests, the rest are GET (default: 10)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'k':
		keys = bench_number(state, "keys", arg, 1, 1 << 28);
		return 0;
	case 'v':
		value_bytes = bench_number(state, "value", arg, 16, 1 << 20);
		return 0;
	case 'n':
		requests = bench_number(state, "requests", arg, 1, UINT64_MAX);
		return 0;
	case 'S':
		sets = bench_number(state, "sets", arg, 0, 100);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void stop_server(void)
{
	if (server > 0)
		kill(server, SIGKILL);
}

static void start_server(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int tries, fd;

	strcpy(name.sun_path, SOCKET_PATH);
	server = fork();
	if (!server) {
		execlp("redis-server", "redis-server", "--port", "0",
		       "--unixsocket", SOCKET_PATH, "--save", "",
		       "--appendonly", "no", "--logfile", "/dev/null",
		       "--dir", "/tmp", "--activerehashing", "no", NULL);
		_exit(127);
	}
	atexit(stop_server);
	for (tries = 0; tries < 500; tries++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && !connect(fd, (struct sockaddr *)&name, sizeof(name))) {
			in = fdopen(fd, "r");
			out = fdopen(dup(fd), "w");
			return;
		}
		close(fd);
		if (waitpid(server, NULL, WNOHANG) == server) {
			server = 0;
			bench_fail("redis-server did not start");
		}
		usleep(10000);
	}
	bench_fail("redis-server does not answer");
}

/* Every value says whose it is, all over. */
static void make_value(uint64_t key)
{
	uint64_t i;

	for (i = 0; i + 16 <= value_bytes; i += 16)
		sprintf(value + i, "%016lx", line_value(key));
	for (; i < value_bytes; i++)
		value[i] = '.';
}

static void send_set(uint64_t key)
{
	make_value(key);
	fprintf(out, "*3\r\n$3\r\nSET\r\n$9\r\n%09lu\r\n$%lu\r\n", key, value_bytes);
	fwrite(value, 1, value_bytes, out);
	fputs("\r\n", out);
}

static void send_get(uint64_t key)
{
	fprintf(out, "*2\r\n$3\r\nGET\r\n$9\r\n%09lu\r\n", key);
}

static void take_ok(void)
{
	char line[64];

	if (!fgets(line, sizeof(line), in) || strcmp(line, "+OK\r\n"))
		bench_fail("the server refused a SET");
}

static void take_value(uint64_t key)
{
	char line[64], want[17];

	if (!fgets(line, sizeof(line), in) || *line != '$' ||
	    strtoull(line + 1, NULL, 10) != value_bytes ||
	    fread(value, 1, value_bytes, in) != value_bytes ||
	    !fgets(line, sizeof(line), in))
		bench_fail("the server has lost key %lu", key);
	sprintf(want, "%016lx", line_value(key));
	if (memcmp(value, want, 16))
		bench_fail("key %lu has not its value", key);
}

static void fill(void)
{
	uint64_t key, i;

	for (key = 0; key < keys; key += i) {
		for (i = 0; i < PIPELINE && key + i < keys; i++)
			send_set(key + i);
		fflush(out);
		for (i = 0; i < PIPELINE && key + i < keys; i++)
			take_ok();
	}
}

/* Zipf: key i is asked for in proportion to 1 / (i + 1)^theta. */
static void make_table(void)
{
	double sum = 0, all = 0;
	uint64_t key = 0, i;

	for (i = 0; i < keys; i++)
		all += pow(i + 1, -theta);
	for (i = 0; i < TABLE; i++) {
		while (key + 1 < keys && sum + pow(key + 1, -theta) < all * i / TABLE)
			sum += pow(++key, -theta);
		table[i] = key;
	}
}

static void move_server(const struct list *to)
{
	char name[64], line[512];
	void *pages[AT_ONCE];
	int nodes[AT_ONCE], status[AT_ONCE], n, next = 0;
	unsigned long start, end;
	FILE *f;

	if (!to->n)
		return;
	snprintf(name, sizeof(name), "/proc/%d/maps", server);
	f = fopen(name, "re");
	if (!f)
		bench_fail("cannot read %s", name);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx rw", &start, &end) != 2 ||
		    !strstr(line, " rw"))
			continue;
		while (start < end) {
			for (n = 0; n < AT_ONCE && start < end; n++, start += PAGE) {
				pages[n] = (void *)start;
				nodes[n] = to->item[next++ % to->n];
			}
			if (syscall(SYS_move_pages, server, n, pages, nodes,
				    status, MOVE_ALL) < 0)
				bench_fail("move_pages: %s", strerror(errno));
		}
	}
	fclose(f);
}

static void load(void)
{
	uint64_t x = random_start(0), n, asked[PIPELINE];
	bool is_set[PIPELINE];
	uint64_t limit = sets * 256 / 100;
	int i;

	for (n = 0; n < requests; n += PIPELINE) {
		for (i = 0; i < PIPELINE; i++) {
			uint64_t r = random_next(&x);

			/* Keys that are alike are not neighbours. */
			asked[i] = table[(r >> 40) % TABLE] * 2654435761u % keys;
			is_set[i] = (r & 255) < limit;
			if (is_set[i])
				send_set(asked[i]);
			else
				send_get(asked[i]);
		}
		fflush(out);
		for (i = 0; i < PIPELINE; i++)
			if (is_set[i])
				take_ok();
			else
				take_value(asked[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = bench_options,
		.doc = "Zipf load on an unmodified Redis.",
	};
	double seconds;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	value = malloc(value_bytes + 17);
	if (!value)
		bench_fail("no memory left");
	make_table();
	start_server();
	fill();
	move_server(&bench.place);

	bench_begin();
	load();
	seconds = bench_end();

	bench_result(seconds, requests / seconds, "requests/s", "\"keys\":%lu", keys);
	return 0;
}
