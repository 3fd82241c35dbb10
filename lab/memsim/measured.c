// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <time.h>

#include "access.h"
#include "blocks.h"
#include "clock.h"
#include "die.h"
#include "measured.h"
#include "model.h"
#include "sampling.h"
#include "translate.h"

/* Address of the page tables of the program that began it. */
static uint64_t measured_space;
static double started;

static double host_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void measured_open(void)
{
	started = host_seconds();
}

static void begin(const struct cpu *cpu)
{
	translate_again(true);
	clock_parallel();
	memory_clear(&model.memory);
	forget_all();
	blocks_clear();
	pages_clear(&model.pages);
	measured_space = cpu->space;
	sampling_clear();
	results_begin(&model.results, &model.config, clock_now());
	model.measuring = true;
}

static bool write_pages(const char *path)
{
	FILE *f = fopen(path, "we");
	bool good;

	if (!f)
		return false;
	good = pages_write(&model.pages, measured_space, model.config.rows, f);
	return !fclose(f) && good;
}

static void write_results(void)
{
	const struct config *c = &model.config;

	model.results.clocks_apart = clock_apart();
	sampling_count(&model.results);
	if (!results_write(&model.results, &model.memory, &model.pages,
			   host_seconds() - started))
		die("cannot write ", c->output);
	if (c->pages && !write_pages(c->pages))
		die("cannot write ", c->pages);
	if (c->profile && !blocks_write(c->profile))
		die("cannot write ", c->profile);
}

void on_hypercall(unsigned int translator, void *data)
{
	const struct cpu *cpu = &model.cpus[clock_cpu()];
	int op = (uintptr_t)data;

	(void)translator;
	if (op == MEMSIM_BEGIN) {
		begin(cpu);
	} else if (op == MEMSIM_END && model.measuring) {
		model.results.end = clock_now();
		model.measuring = false;
		write_results();
		clock_together();
		translate_again(false);
	} else if (op >= MEMSIM_PHASE && op < MEMSIM_PHASE + MEMSIM_PHASES &&
		   model.measuring) {
		results_phase(&model.results, &model.memory, op - MEMSIM_PHASE,
			      clock_now());
	}
}

void on_end(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	if (model.measuring) {
		model.results.end = clock_now();
		write_results();
	}
}
