/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a test once for each layout of the records. */
#ifndef _MM_PGHOT_TESTS_LAYOUTS_H
#define _MM_PGHOT_TESTS_LAYOUTS_H

#include <kunit/test.h>

#include "../record.h"

struct layout_param {
	const char *name;
	const struct pghot_layout *layout;
	bool precise;
};

static const struct layout_param layout_params[] = {
	{ "default", &pghot_layout_default, false },
	{ "precise", &pghot_layout_precise, true },
};

static inline void layout_name(const struct layout_param *p, char *name)
{
	strscpy(name, p->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(layout, layout_params, layout_name);

#endif /* _MM_PGHOT_TESTS_LAYOUTS_H */
