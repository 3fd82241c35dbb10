// SPDX-License-Identifier: GPL-2.0
/*
 * Analytic queries of an unmodified SQLite on tables in memory: every order is
 * joined with its customer, and those of a region are summed up. A tenth of the
 * customers have three quarters of the orders.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "lib/workload.h"

#define REGIONS	7

static uint64_t customers = 120000, orders = 150000, queries = 7;
static sqlite3 *db;
static uint64_t want[REGIONS];

static const struct workload_option options[] = {
	{ "customers", 'c', "of 250 bytes each", .number = &customers, .low = 10, .high = 1 << 26 },
	{ "orders", 'o', "", .number = &orders, .low = 1, .high = 1 << 26 },
	{ "queries", 'n', "each joins all orders", .number = &queries, .low = 1, .high = 1 << 20 },
	{}
};

static void must(int code)
{
	if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
		workload_fail("sqlite: %s", sqlite3_errmsg(db));
}

static sqlite3_stmt *prepared(const char *sql)
{
	sqlite3_stmt *s;

	must(sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	return s;
}

static uint64_t customer_of(uint64_t *x)
{
	uint64_t r = random_next(x);

	return (r >> 20) % (r & 3 ? customers / 10 : customers);
}

static void load(void)
{
	sqlite3_stmt *customer, *order;
	uint64_t x = random_start(0), i;

	must(sqlite3_open(":memory:", &db));
	must(sqlite3_exec(db, "CREATE TABLE customers(id INTEGER PRIMARY KEY, region INTEGER, note TEXT);"
			  "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, price INTEGER);"
			  "BEGIN", NULL, NULL, NULL));
	customer = prepared("INSERT INTO customers VALUES(?, ?, printf('%240s', 'pays'))");
	for (i = 0; i < customers; i++) {
		sqlite3_bind_int64(customer, 1, i);
		sqlite3_bind_int64(customer, 2, i % REGIONS);
		must(sqlite3_step(customer));
		sqlite3_reset(customer);
	}
	order = prepared("INSERT INTO orders VALUES(?, ?, ?)");
	for (i = 0; i < orders; i++) {
		uint64_t who = customer_of(&x), price = line_value(i) >> 40;

		want[who % REGIONS] += price;
		sqlite3_bind_int64(order, 1, i);
		sqlite3_bind_int64(order, 2, who);
		sqlite3_bind_int64(order, 3, price);
		must(sqlite3_step(order));
		sqlite3_reset(order);
	}
	sqlite3_finalize(customer);
	sqlite3_finalize(order);
	must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
}

/* What the orders of a region cost together. CROSS JOIN: orders are gone through. */
static uint64_t sum(uint64_t region)
{
	static sqlite3_stmt *s;
	uint64_t prices;

	if (!s)
		s = prepared("SELECT sum(price) FROM orders CROSS JOIN customers "
			     "ON customers.id = orders.customer WHERE region = ?");
	sqlite3_bind_int64(s, 1, region);
	must(sqlite3_step(s));
	prices = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return prices;
}

int main(int argc, char **argv)
{
	uint64_t i, differ = 0;
	double seconds;

	workload_parse(argc, argv, "Analytic queries of SQLite on tables in memory.", options);
	workload_place(&workload.place);
	load();
	workload_place(&(struct list){});
	if (getenv("BENCH_CORRUPT"))
		want[0]++;

	workload_begin();
	for (i = 0; i < queries; i++)
		differ |= sum(i % REGIONS) ^ want[i % REGIONS];
	seconds = workload_end();

	if (differ)
		workload_fail("a query's result is wrong");
	workload_verified(queries);
	workload_result(seconds, queries * orders / seconds, "rows/s",
			"\"customers\":%lu,\"orders\":%lu", customers, orders);
	return 0;
}
