// SPDX-License-Identifier: GPL-2.0
#include "test.h"

int main(void)
{
	return test_config() + test_instruction() + test_blocks() + test_cache() +
	       test_filter() + test_tlb() + test_socket() + test_bandwidth() +
	       test_memory() + test_pages() + test_results() +
	       test_hmu() + test_hmu_registers() + test_dma() + test_ibs();
}
