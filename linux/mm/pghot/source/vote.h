/* SPDX-License-Identifier: GPL-2.0 */
/* From which node most come, counted in one go. No kernel state. */
#ifndef _MM_PGHOT_SOURCE_VOTE_H
#define _MM_PGHOT_SOURCE_VOTE_H

#include <linux/numa.h>

/**
 * pghot_vote - one more comes from a node
 * @nid: who is ahead; NUMA_NO_NODE where nobody is, as at first
 * @lead: by how much
 * @vote: the node
 *
 * Whoever has more than half of the votes is left in the end (Boyer and Moore, "MJRTY: A
 * Fast Majority Vote Algorithm"). Who is left need not have.
 */
static inline void pghot_vote(int *nid, unsigned int *lead, int vote)
{
	if (!*lead)
		*nid = vote;
	if (vote == *nid)
		++*lead;
	else if (!--*lead)
		*nid = NUMA_NO_NODE;
}

#endif /* _MM_PGHOT_SOURCE_VOTE_H */
