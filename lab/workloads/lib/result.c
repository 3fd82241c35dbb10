// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

void workload_fail(const char *format, ...)
{
	char text[512];
	va_list args;
	char *c;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
	for (c = text; *c; c++)
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
			*c = '\'';
	printf("{\"workload\":\"%s\",\"error\":\"%s\"}\n",
	       program_invocation_short_name, text);
	exit(1);
}

static uint64_t verified;

void workload_verified(uint64_t compared)
{
	verified += compared;
}

void workload_result(double seconds, double score, const char *unit,
		     const char *detail, ...)
{
	va_list args;

	printf("{\"workload\":\"%s\",\"seconds\":%.9f,\"score\":%.6g,\"unit\":\"%s\",\"verified\":%s,\"compared\":%lu,\"detail\":{",
	       program_invocation_short_name, seconds, score, unit,
	       verified ? "true" : "false", verified);
	va_start(args, detail);
	vprintf(detail, args);
	va_end(args);
	printf("}}\n");
}
