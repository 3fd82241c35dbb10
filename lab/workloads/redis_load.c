// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to an unmodified redis-server by a Zipf distribution of keys. The
 * server's data is filled in, then moved to where it is to lie.
 *
 * A request is an MGET or MSET of many keys, and the next is on its way while one
 * is answered: the server's memory is what is measured, not the socket. The client
 * runs on the first of --cpus, the server on the second.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/workload.h"

#define SOCKET_PATH	"/tmp/redis.socket"
#define TABLE		65536
#define KEYS		32	/* in a request */

static uint64_t keys = 250000, value_bytes = 64, requests = 30000, sets = 10;
static double theta = 0.99;
static uint32_t table[TABLE];
static pid_t server;
static int connection;
/* Room for the longest request and answer, and what precedes a value in both. */
static char *text, length_line[32];

static const struct workload_option options[] = {
	{ "keys", 'k', "", .number = &keys, .low = 1, .high = 1 << 28 },
	{ "value", 'v', "bytes of each value", .number = &value_bytes, .low = 16, .high = 1 << 20 },
	{ "requests", 'n', "of 32 keys each", .number = &requests, .low = 1, .high = UINT64_MAX },
	{ "sets", 'S', "percent of the requests, the rest are MGET", .number = &sets, .low = 0, .high = 100 },
	{}
};

static void stop_server(void)
{
	if (server > 0)
		kill(server, SIGKILL);
}

static void start_server(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 10 };
	int tries, fd;

	strcpy(name.sun_path, SOCKET_PATH);
	server = fork();
	if (!server) {
		workload_pin(1);
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
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
			connection = fd;
			return;
		}
		close(fd);
		if (waitpid(server, NULL, WNOHANG) == server) {
			server = 0;
			workload_fail("redis-server did not start");
		}
		usleep(10000);
	}
	workload_fail("redis-server does not answer");
}

static char *put(char *to, const char *what, size_t bytes)
{
	memcpy(to, what, bytes);
	return to + bytes;
}

static char *put_key(char *to, uint64_t key)
{
	char line[] = "$9\r\n000000000\r\n";
	int i;

	for (i = 12; key; i--, key /= 10)
		line[i] += key % 10;
	return put(to, line, sizeof(line) - 1);
}

/* Every value says whose it is, all over. */
static char *put_value(char *to, uint64_t key)
{
	uint64_t word = line_value(key), i;

	to = put(to, length_line, strlen(length_line));
	for (i = 0; i + sizeof(word) <= value_bytes; i += sizeof(word))
		memcpy(to + i, &word, sizeof(word));
	memset(to + i, '.', value_bytes - i);
	return put(to + value_bytes, "\r\n", 2);
}

static void send_request(const uint64_t *key, int n, bool set)
{
	char *to = text + sprintf(text, "*%d\r\n$4\r\n%s\r\n",
				  set ? 2 * n + 1 : n + 1, set ? "MSET" : "MGET");
	size_t at, bytes;
	int i;

	for (i = 0; i < n; i++) {
		to = put_key(to, key[i]);
		if (set)
			to = put_value(to, key[i]);
	}
	for (at = 0; at < (size_t)(to - text); at += bytes) {
		bytes = write(connection, text + at, to - text - at);
		if ((ssize_t)bytes <= 0)
			workload_fail("the server has gone");
	}
}

static void take(size_t bytes)
{
	size_t at;
	ssize_t got;

	for (at = 0; at < bytes; at += got) {
		got = read(connection, text + at, bytes - at);
		if (got <= 0)
			workload_fail("the server does not answer as it should");
		if (*text == '-')
			workload_fail("the server refused a request");
	}
}

/*
 * The length of an answer is known. A key that is lost makes it shorter: then the
 * next answer's beginning, or nothing, is where its end should be.
 */
static void take_answer(const uint64_t *key, int n, bool set)
{
	char head[16];
	size_t line = strlen(length_line), first;
	const char *at;
	int i;

	if (set) {
		take(strlen("+OK\r\n"));
		return;
	}
	first = sprintf(head, "*%d\r\n", n);
	take(first + n * (line + value_bytes + 2));
	for (at = text + first, i = 0; i < n; i++) {
		uint64_t want = line_value(key[i]);

		if (memcmp(at, length_line, line) ||
		    memcmp(at + line, &want, sizeof(want)))
			workload_fail("key %lu has not its value", key[i]);
		at += line + value_bytes + 2;
	}
	workload_verified(n);
}

static void fill(void)
{
	uint64_t key, asked[KEYS];
	int i;

	for (key = 0; key < keys; key += i) {
		for (i = 0; i < KEYS && key + i < keys; i++)
			asked[i] = key + i;
		send_request(asked, i, true);
		take_answer(asked, i, true);
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

/* Return how many pages were moved, or were there. */
static uint64_t move_server(const struct list *to)
{
	char name[64], line[512];
	void *pages[MOVED_AT_ONCE];
	int nodes[MOVED_AT_ONCE], n, next = 0;
	unsigned long start, end;
	uint64_t moved = 0;
	FILE *f;

	if (!to->n)
		return 0;
	snprintf(name, sizeof(name), "/proc/%d/maps", server);
	f = fopen(name, "re");
	if (!f)
		workload_fail("cannot read %s", name);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx rw", &start, &end) != 2 ||
		    !strstr(line, " rw"))
			continue;
		while (start < end) {
			for (n = 0; n < MOVED_AT_ONCE && start < end; n++, start += PAGE) {
				pages[n] = (void *)start;
				nodes[n] = to->item[next++ % to->n];
			}
			moved += workload_move_pages(server, pages, nodes, n);
		}
	}
	fclose(f);
	if (!moved)
		workload_fail("the server has no memory to move");
	return moved;
}

static bool choose(uint64_t *x, uint64_t *key)
{
	uint64_t limit = sets * 256 / 100;
	int i;

	/* Keys that are alike are not neighbours. */
	for (i = 0; i < KEYS; i++)
		key[i] = table[(random_next(x) >> 40) % TABLE] * 2654435761u % keys;
	return (random_next(x) >> 20 & 255) < limit;
}

static void load(void)
{
	uint64_t x = random_start(0), n, asked[2][KEYS];
	bool set[2];

	for (n = 0; n <= requests; n++) {
		if (n < requests) {
			set[n & 1] = choose(&x, asked[n & 1]);
			send_request(asked[n & 1], KEYS, set[n & 1]);
		}
		if (n)
			take_answer(asked[~n & 1], KEYS, set[~n & 1]);
	}
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv, "Zipf load on an unmodified Redis.", options);
	sprintf(length_line, "$%lu\r\n", value_bytes);
	text = malloc(64 + KEYS * (64 + value_bytes));
	if (!text)
		workload_fail("no memory left");
	make_table();
	start_server();
	fill();
	move_server(&workload.place);

	workload_begin();
	load();
	seconds = workload_end();

	workload_result(seconds, requests * KEYS / seconds, "keys/s",
			"\"keys\":%lu", keys);
	return 0;
}
