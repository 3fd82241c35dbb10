// SPDX-License-Identifier: GPL-2.0
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "clock.h"
#include "compiler.h"
#include "config.h"
#include "gate.h"

/*
 * How long a CPU runs before the next one has its turn, and how far it may be
 * ahead of the slowest when it starts. Together they bound how far two clocks are
 * apart, and how late a timer is.
 */
#define TURN_NS		10000
#define AHEAD_NS	10000

/* QEMU's TimersState as of 10.0. clock_add_cpu() checks that it is this. */
struct timers_state {
	int64_t cpu_ticks_prev, cpu_ticks_offset;
	uint32_t sequence;
	int lock;
	int16_t ticks_enabled, shift;
	int64_t last_delta;
	int64_t bias;
	int64_t warp_start, clock_offset, icount;
};

struct cpu_clock {
	void *cpu;	/* QEMU's object */
	int64_t time;	/* when its last turn ended */
	bool halted;
};

/* Thread-local in QEMU; there is one thread for all CPUs. */
extern __thread void *current_cpu __attribute__((tls_model("initial-exec")));

static struct timers_state *timers;
static int64_t (*icount_get)(void);
static int64_t (*icount_get_raw)(void);
static void (*icount_update)(void *cpu);
static void (*cpu_exit)(void *cpu);
static void (*cpu_loop_exit_restore)(void *cpu, uintptr_t code)
	__attribute__((noreturn));
static void *(*get_cpu)(int number);
static void (*close_gate)(void);

static struct cpu_clock clocks[MAX_CPUS];
static unsigned int cpus;
static bool parallel;

static int64_t apart;

/*
 * The turn that is under way. Between turns QEMU's own count is exact; within
 * one it is not to be asked, so what is run and spent is counted here.
 *
 * QEMU looks at its timers between turns, whichever CPU they are of, and a timer
 * that is early for its CPU finds nothing expired and is set again, over and
 * over. So between turns the time is that of the CPU that is furthest behind:
 * @hidden is what was taken off.
 */
static struct {
	void *cpu;
	unsigned int number;
	int64_t start, instructions, spent, hidden;
} turn;

bool clock_open(int api, char *error, size_t size)
{
	timers = dlsym(RTLD_DEFAULT, "timers_state");
	icount_get = dlsym(RTLD_DEFAULT, "icount_get");
	icount_get_raw = dlsym(RTLD_DEFAULT, "icount_get_raw");
	icount_update = dlsym(RTLD_DEFAULT, "icount_update");
	cpu_exit = dlsym(RTLD_DEFAULT, "cpu_exit");
	cpu_loop_exit_restore = dlsym(RTLD_DEFAULT, "cpu_loop_exit_restore");
	get_cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
	if (api == PLUGIN_API && timers && icount_get && icount_get_raw &&
	    icount_update && cpu_exit && cpu_loop_exit_restore && get_cpu) {
		close_gate = dlsym(RTLD_DEFAULT, GATE_CLOSE);
		if (close_gate)
			return true;
		snprintf(error, size, "freeze.so has to be preloaded into QEMU");
		return false;
	}
	snprintf(error, size, "QEMU 10.0 is needed, with its symbols exported as "
		 "Debian builds it (plugin API %d; this one has %d)",
		 PLUGIN_API, api);
	return false;
}

void clock_alone(void)
{
	static bool done;

	if (!done)
		close_gate();
	done = true;
}

bool clock_add_cpu(unsigned int cpu, char *error, size_t size)
{
	int64_t before, after;

	if (cpu >= MAX_CPUS) {
		snprintf(error, size, "more than %d CPUs", MAX_CPUS);
		return false;
	}
	clocks[cpu] = (struct cpu_clock) {
		.cpu = get_cpu(cpu), .halted = cpu > 0,
	};
	if (cpu >= cpus)
		cpus = cpu + 1;

	/* Is the bias where it should be, and does the guest's time follow it? */
	before = icount_get();
	if (!timers->shift && before == timers->bias + icount_get_raw()) {
		timers->bias += 12345;
		after = icount_get();
		timers->bias -= 12345;
		if (after - before == 12345)
			return true;
	}
	snprintf(error, size, "the clock is not that of QEMU 10.0 with "
		 "'-icount shift=0,sleep=off'");
	return false;
}

int64_t clock_shared(void)
{
	return timers->bias + timers->icount;
}

/* The time of the CPU that is furthest behind. */
static int64_t slowest(void)
{
	int64_t least = INT64_MAX;
	unsigned int i;

	for (i = 0; i < cpus; i++)
		if (!clocks[i].halted && clocks[i].time < least)
			least = clocks[i].time;
	return least;
}

/* The CPU whose clock is shown is at @time: show that of the slowest. */
static void hide(int64_t time)
{
	int64_t least = slowest();

	/* All are halted: nobody's clock is ahead of what comes next. */
	if (least == INT64_MAX)
		return;
	turn.hidden = time - least;
	timers->bias -= turn.hidden;
}

/* The running CPU's turn is over, after what it executes right now. */
static void end_turn(void)
{
	turn.cpu = NULL;
	if (!parallel)
		return;
	clocks[turn.number].time = clock_now();
	hide(clocks[turn.number].time);
}

/*
 * The CPU that QEMU has chosen starts. False if it is to give way: the clock is
 * left as it is between turns, also where QEMU cut the last one short.
 */
static bool begin_turn(bool must)
{
	struct cpu_clock *last = &clocks[turn.number], *next;
	int64_t now = clock_shared(), least;
	unsigned int n = 0;

	while (n < cpus && clocks[n].cpu != current_cpu)
		n++;
	if (n == cpus)
		abort();
	next = &clocks[n];
	if (parallel) {
		/* Code that a fault cut short was counted whole. */
		if (!last->halted)
			last->time = now + turn.hidden;
		/* Whose turn it is may be behind: no clock goes back. */
		if (next->halted && now > next->time)
			next->time = now;
		next->halted = false;
		least = slowest();
		if (next->time - least > AHEAD_NS && !must) {
			if (turn.cpu)
				hide(now);
			turn.cpu = NULL;
			return false;
		}
		if (next->time - least > apart)
			apart = next->time - least;
		timers->bias += next->time - now;
		now = next->time;
	}
	next->halted = false;
	turn.cpu = current_cpu;
	turn.number = n;
	turn.start = now;
	turn.instructions = 0;
	turn.spent = 0;
	turn.hidden = 0;
	return true;
}

unsigned int clock_cpu(void)
{
	if (unlikely(current_cpu != turn.cpu))
		begin_turn(true);
	return turn.number;
}

/* Leave the code whose address is @code before it has done anything. */
__attribute__((noreturn))
static void give_way(const void *code)
{
	cpu_exit(current_cpu);
	cpu_loop_exit_restore(current_cpu, (uintptr_t)code);
}

unsigned int clock_block(uint32_t instructions, const void *code)
{
	if (unlikely(current_cpu != turn.cpu)) {
		if (!begin_turn(false))
			give_way(code);
	} else if (unlikely(turn.instructions + turn.spent >= TURN_NS)) {
		end_turn();
		give_way(code);
	}
	turn.instructions += instructions;
	return turn.number;
}

int64_t clock_now(void)
{
	if (unlikely(!parallel)) {
		/* Nobody told of blocks. QEMU counts a block when it begins. */
		icount_update(current_cpu);
		return clock_shared();
	}
	return turn.start + turn.instructions + turn.spent;
}

void clock_spend(uint32_t ns)
{
	timers->bias += ns;
	turn.spent += ns;
}

void clock_pause(uint32_t ns)
{
	clock_spend(ns);
	end_turn();
}

void clock_halt(void)
{
	clocks[turn.number].halted = true;
	end_turn();
}

void clock_parallel(void)
{
	int64_t now = clock_now();
	unsigned int i;

	apart = 0;
	if (parallel)
		return;
	parallel = true;
	/* Others that are not halted have their turn at once, which shows it. */
	for (i = 0; i < cpus; i++) {
		clocks[i].time = now;
		clocks[i].halted = i != turn.number;
	}
	turn.start = now;
	turn.instructions = 0;
	turn.spent = 0;
	turn.hidden = 0;
}

void clock_together(void)
{
	int64_t now = clock_now(), most = now;
	unsigned int i;

	if (!parallel)
		return;
	for (i = 0; i < cpus; i++)
		if (clocks[i].time > most)
			most = clocks[i].time;
	timers->bias += most - now;
	parallel = false;
}

int64_t clock_apart(void)
{
	return apart;
}
