/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_LINUX_NODEMASK_H
#define _MACHINE_LINUX_NODEMASK_H

#include <string.h>

#include <linux/bitops.h>
#include <linux/numa.h>

#define MAX_NUMNODES		8

typedef struct {
	unsigned long bits[1];
} nodemask_t;

enum node_states { N_MEMORY, N_CPU, NR_NODE_STATES };

extern nodemask_t node_states[NR_NODE_STATES];
extern unsigned int nr_node_ids;

int node_distance(int from, int to);

#define node_isset(nid, mask)	test_bit(nid, (mask).bits)
#define node_set(nid, mask)	set_bit(nid, (mask).bits)
#define node_clear(nid, mask)	clear_bit(nid, (mask).bits)
#define nodes_and(dst, a, b)	((dst).bits[0] = (a).bits[0] & (b).bits[0])
#define nodes_subset(a, b)	(!((a).bits[0] & ~(b).bits[0]))
#define nodes_clear(mask)	((mask).bits[0] = 0)
#define nodes_empty(mask)	(!(mask).bits[0])
#define nodes_weight(mask)	__builtin_popcountl((mask).bits[0])
#define node_state(nid, state)	node_isset(nid, node_states[state])

#define for_each_node(nid) \
	for ((nid) = 0; (nid) < (int)nr_node_ids; (nid)++)
#define for_each_node_mask(nid, mask) \
	for_each_node(nid) if (node_isset(nid, mask))
#define for_each_node_state(nid, state) \
	for_each_node_mask(nid, node_states[state])

#endif
