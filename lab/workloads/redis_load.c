// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to an unmodified redis-server by a Zipf distribution of keys. The
 * server's data is filled in, then moved to where it is to lie.
 *
 * A request is an MGET or MSET of many keys, so that the server's memory is what is
 * measured, and not the socket. Requests go in batches. The next one is written when all
 * answers have come, so each time around its loop the server finds one batch: were one
 * on its way meanwhile, it would find one or two as it happens, and two take 2% less
 * time, which is a tenth of what slow memory costs. The client runs on the first of
 * --cpus, the server on the second.
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
#define MAX_BATCH	16	/* either socket's buffer holds so many of the longest */

static uint64_t keys = 250000, value_bytes = 64, requests = 30000, sets = 10;
static uint64_t batch = 4;
static double theta = 0.99;
static uint32_t table[TABLE];
static pid_t server;
static int connection;
/* Requests to be written, answers, and what precedes a value in both. */
static char *text, *answer, length_line[32];

/**
 * struct batch - requests that are written together
 * @n: how many
 * @keys: in each of them
 */
struct batch {
	uint64_t n;
	int keys[MAX_BATCH];
	bool set[MAX_BATCH];
	uint64_t key[MAX_BATCH][KEYS];
};

static const struct workload_option options[] = {
	{ "keys", 'k', "", .number = &keys, .low = 1, .high = 1 << 28 },
	{ "value", 'v', "bytes of each value", .number = &value_bytes, .low = 16, .high = 1 << 20 },
	{ "requests", 'n', "of 32 keys each", .number = &requests, .low = 1, .high = UINT64_MAX },
	{ "batch", 'B', "requests in one write", .number = &batch, .low = 1, .high = MAX_BATCH },
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

static char *put_request(char *to, const uint64_t *key, int n, bool set)
{
	int i;

	to += sprintf(to, "*%d\r\n$4\r\n%s\r\n", set ? 2 * n + 1 : n + 1,
		      set ? "MSET" : "MGET");
	for (i = 0; i < n; i++) {
		to = put_key(to, key[i]);
		if (set)
			to = put_value(to, key[i]);
	}
	return to;
}

/* Write the requests into @text; return how many bytes they are. */
static size_t prepare(const struct batch *b)
{
	char *to = text;
	uint64_t i;

	for (i = 0; i < b->n; i++)
		to = put_request(to, b->key[i], b->keys[i], b->set[i]);
	return to - text;
}

static void send_all(size_t bytes)
{
	ssize_t done;
	size_t at;

	for (at = 0; at < bytes; at += done) {
		done = write(connection, text + at, bytes - at);
		if (done <= 0)
			workload_fail("the server has gone");
	}
}

static size_t answer_bytes(int n, bool set)
{
	if (set)
		return strlen("+OK\r\n");
	return snprintf(NULL, 0, "*%d\r\n", n) +
	       n * (strlen(length_line) + value_bytes + 2);
}

/*
 * The length of an answer is known. A key that is lost makes it shorter: then the
 * next answer's beginning, or nothing, is where its end should be.
 */
static void receive(const struct batch *b)
{
	size_t at, bytes = 0;
	ssize_t got;
	uint64_t i;

	for (i = 0; i < b->n; i++)
		bytes += answer_bytes(b->keys[i], b->set[i]);
	for (at = 0; at < bytes; at += got) {
		got = read(connection, answer + at, bytes - at);
		if (got <= 0)
			workload_fail("the server does not answer as it should");
		if (*answer == '-')
			workload_fail("the server refused a request");
	}
}

static void verify_values(const char *at, const uint64_t *key, int n)
{
	size_t line = strlen(length_line);
	int i;

	for (i = 0; i < n; i++) {
		uint64_t want = line_value(key[i]);

		if (memcmp(at, length_line, line) ||
		    memcmp(at + line, &want, sizeof(want)))
			workload_fail("key %lu has not its value", key[i]);
		at += line + value_bytes + 2;
	}
	workload_verified(n);
}

static void verify(const struct batch *b)
{
	const char *at = answer;
	char head[16];
	uint64_t i;

	for (i = 0; i < b->n; at += answer_bytes(b->keys[i], b->set[i]), i++) {
		if (b->set[i] && memcmp(at, "+OK\r\n", 5))
			workload_fail("the server did not take what it was to store");
		sprintf(head, "*%d\r\n", b->keys[i]);
		if (!b->set[i] && memcmp(at, head, strlen(head)))
			workload_fail("the server does not answer as it should");
		if (!b->set[i])
			verify_values(at + strlen(head), b->key[i], b->keys[i]);
	}
}

static void fill(void)
{
	struct batch b = { .n = 1, .set = { true } };
	uint64_t key;
	int i;

	for (key = 0; key < keys; key += i) {
		for (i = 0; i < KEYS && key + i < keys; i++)
			b.key[0][i] = key + i;
		b.keys[0] = i;
		send_all(prepare(&b));
		receive(&b);
		verify(&b);
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

/* The requests from number @first on. */
static void choose_batch(struct batch *b, uint64_t *x, uint64_t first)
{
	uint64_t i;

	b->n = first >= requests ? 0 : requests - first < batch ? requests - first : batch;
	for (i = 0; i < b->n; i++) {
		b->set[i] = choose(x, b->key[i]);
		b->keys[i] = KEYS;
	}
}

/* What the client has to do is done while the server works. */
static void load(void)
{
	struct batch two[2], *now = &two[0], *next = &two[1], *swap;
	uint64_t x = random_start(0), first;

	choose_batch(now, &x, 0);
	send_all(prepare(now));
	for (first = batch; now->n; first += batch) {
		size_t bytes;

		choose_batch(next, &x, first);
		bytes = prepare(next);
		receive(now);
		send_all(bytes);
		verify(now);
		swap = now;
		now = next;
		next = swap;
	}
}

int main(int argc, char **argv)
{
	double seconds;

	workload_parse(argc, argv, "Zipf load on an unmodified Redis.", options);
	sprintf(length_line, "$%lu\r\n", value_bytes);
	text = malloc(MAX_BATCH * (64 + KEYS * (64 + value_bytes)));
	answer = malloc(MAX_BATCH * (64 + KEYS * (64 + value_bytes)));
	if (!text || !answer)
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
