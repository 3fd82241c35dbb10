/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEMSIM_TEST_H
#define MEMSIM_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "xorshift.h"

int test_config(void);
int test_instruction(void);
int test_blocks(void);
int test_cache(void);
int test_filter(void);
int test_tlb(void);
int test_socket(void);
int test_bandwidth(void);
int test_memory(void);
int test_pages(void);
int test_results(void);
int test_hmu(void);
int test_hmu_registers(void);
int test_dma(void);
int test_ibs(void);

/* The same numbers each time. */
static inline uint64_t number(uint64_t *x)
{
	return xorshift_next(x);
}

#endif
