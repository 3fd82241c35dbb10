// SPDX-License-Identifier: GPL-2.0
/* Marks the measured part for programs that know nothing of it. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/workload.h"
#include "lib/measured.h"

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.args_doc = "begin|end",
		.doc = "Mark where the measured part begins and ends.",
	};
	int first;

	argp_parse(&argp, argc, argv, 0, &first, NULL);
	if (argc - first != 1)
		workload_fail("one of begin and end is needed");
	if (!strcmp(argv[first], "begin")) {
		measured_begin();
	} else if (!strcmp(argv[first], "end")) {
		memsim_call(MEMSIM_END);
		keep_vmstat(VMSTAT_END);
	} else {
		workload_fail("'%s' is neither begin nor end", argv[first]);
	}
	return 0;
}
