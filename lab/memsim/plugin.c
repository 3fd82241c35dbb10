// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU plugin: charges each access that a CPU's own cache would not answer what
 * the model says it costs. README.md says what is where. Here it is put together.
 */
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "api.h"
#include "clock.h"
#include "cpu.h"
#include "devices.h"
#include "dma.h"
#include "guest.h"
#include "hmu.h"
#include "measured.h"
#include "model.h"
#include "sampling.h"
#include "translate.h"

EXPORT int qemu_plugin_version = PLUGIN_API;

struct model model;

/* All kinds of devices that a machine may have. */
static const struct device_ops *const kinds[] = { &hmu_ops, &dma_ops, NULL };

static bool install(int api, const char *path, char *error, size_t size)
{
	if (!config_read(&model.config, path, error, size) ||
	    !clock_open(api, error, size) || !cpu_open(error, size) ||
	    !guest_open(error, size) || !sampling_open(error, size))
		return false;
	if (!memory_init(&model.memory, &model.config) ||
	    !pages_init(&model.pages)) {
		snprintf(error, size, "no memory left");
		return false;
	}
	return devices_init(&model.memory, kinds, wait_for_device, error, size);
}

static void listen(plugin_id id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	static const char key[] = "config=";
	char error[1024];

	measured_open();
	if (argc != 1 || strncmp(argv[0], key, strlen(key))) {
		fprintf(stderr, "memsim: needs one argument, config=FILE\n");
		return 1;
	}
	if (!install(info->version.cur, argv[0] + strlen(key), error,
		     sizeof(error))) {
		fprintf(stderr, "memsim: %s\n", error);
		return 1;
	}
	translate_open(id, listen);
	return 0;
}
