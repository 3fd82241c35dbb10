// SPDX-License-Identifier: GPL-2.0
/*
 * Analytic queries of an unmodified SQLite on tables in memory: orders and their
 * lines, joined and grouped, and looked up by an index.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "lib/bench.h"

static uint64_t orders = 60000, queries = 3, lookups = 60000;
static sqlite3 *db;

static const struct argp_option options[] = {
	{ "orders", 'o', "N", 0, "each has four lines (default: 60000)", 0 },
	{ "queries", 'n', "N", 0, "joins over all of it (default: 3)", 0 },
	{ "lookups", 'l', "N", 0, "of single orders after each (default: 60000)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'o':
		orders = bench_number(state, "orders", arg, 1, 1 << 26);
		return 0;
	case 'n':
		queries = bench_number(state, "queries", arg, 1, 1 << 20);
		return 0;
	case 'l':
		lookups = bench_number(state, "lookups", arg, 0, 1 << 30);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void must(int code)
{
	if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
		bench_fail("sqlite: %s", sqlite3_errmsg(db));
}

static sqlite3_stmt *prepared(const char *sql)
{
	sqlite3_stmt *s;

	must(sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	return s;
}

/* What order @o's lines cost together: known without asking. */
static uint64_t price(uint64_t o, int line)
{
	return line_value(o * 4 + line) >> 40;
}

static void load(void)
{
	sqlite3_stmt *order, *line;
	uint64_t o;
	int i;

	must(sqlite3_open(":memory:", &db));
	must(sqlite3_exec(db, "CREATE TABLE orders(id INTEGER PRIMARY KEY, region INTEGER, note TEXT);"
			  "CREATE TABLE lines(orders INTEGER, number INTEGER, price INTEGER);"
			  "BEGIN", NULL, NULL, NULL));
	order = prepared("INSERT INTO orders VALUES(?, ?, 'delivered to the door, and left there')");
	line = prepared("INSERT INTO lines VALUES(?, ?, ?)");
	for (o = 0; o < orders; o++) {
		sqlite3_bind_int64(order, 1, o);
		sqlite3_bind_int64(order, 2, o % 7);
		must(sqlite3_step(order));
		sqlite3_reset(order);
		for (i = 0; i < 4; i++) {
			sqlite3_bind_int64(line, 1, o);
			sqlite3_bind_int64(line, 2, i);
			sqlite3_bind_int64(line, 3, price(o, i));
			must(sqlite3_step(line));
			sqlite3_reset(line);
		}
	}
	sqlite3_finalize(order);
	sqlite3_finalize(line);
	must(sqlite3_exec(db, "COMMIT; CREATE INDEX by_order ON lines(orders)",
			  NULL, NULL, NULL));
}

static void by_region(uint64_t *sums)
{
	sqlite3_stmt *s = prepared("SELECT region, sum(price) FROM orders JOIN lines "
				   "ON lines.orders = orders.id GROUP BY region");

	while (sqlite3_step(s) == SQLITE_ROW)
		sums[sqlite3_column_int64(s, 0)] = sqlite3_column_int64(s, 1);
	must(sqlite3_finalize(s));
}

static uint64_t look_up(uint64_t *x)
{
	static sqlite3_stmt *s;
	uint64_t n, differ = 0;

	if (!s)
		s = prepared("SELECT sum(price) FROM lines WHERE orders = ?");
	for (n = 0; n < lookups; n++) {
		/* Three of four are among a tenth of the orders. */
		uint64_t r = random_next(x);
		uint64_t o = (r >> 20) % ((r & 3) && orders >= 10 ? orders / 10 : orders);

		sqlite3_bind_int64(s, 1, o);
		must(sqlite3_step(s));
		differ |= (uint64_t)sqlite3_column_int64(s, 0) ^
			  (price(o, 0) + price(o, 1) + price(o, 2) + price(o, 3));
		sqlite3_reset(s);
	}
	return differ;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = bench_options,
		.doc = "Analytic queries of SQLite on tables in memory.",
	};
	uint64_t x, want[7] = {}, got[7] = {}, o, i, differ = 0;
	double seconds;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	bench_place(&bench.place);
	load();
	bench_place(&(struct list){});
	for (o = 0; o < orders; o++)
		for (i = 0; i < 4; i++)
			want[o % 7] += price(o, i);
	if (getenv("BENCH_CORRUPT"))
		want[0]++;

	x = random_start(0);
	bench_begin();
	for (i = 0; i < queries; i++) {
		by_region(got);
		differ |= look_up(&x);
	}
	seconds = bench_end();

	for (i = 0; i < 7; i++)
		differ |= want[i] ^ got[i];
	if (differ)
		bench_fail("a query's result is wrong");
	bench_result(seconds, queries * (1 + lookups) / seconds, "queries/s",
		     "\"orders\":%lu", orders);
	return 0;
}
