/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pghot

#if !defined(_TRACE_PGHOT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PGHOT_H

#include <linux/tracepoint.h>

/* The reasons are counters: who includes this has mm/pghot/stat.h. */
#define PGHOT_DEFINE_REASON(name, ...)	TRACE_DEFINE_ENUM(PGHOT_STAT_##name);
PGHOT_STATS(PGHOT_DEFINE_REASON)
TRACE_DEFINE_ENUM(NR_PGHOT_STATS);

#define PGHOT_SHOW_REASON(name, ...)	{ PGHOT_STAT_##name, #name },
#define pghot_show_reason(reason)					\
	__print_symbolic(reason, PGHOT_STATS(PGHOT_SHOW_REASON)		\
			 { NR_PGHOT_STATS, "none" })

TRACE_EVENT(pghot_record,

	TP_PROTO(unsigned long pfn, int nid, unsigned int weight,
		 const char *source),

	TP_ARGS(pfn, nid, weight, source),

	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(int, nid)
		__field(unsigned int, weight)
		__string(source, source)
	),

	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->nid = nid;
		__entry->weight = weight;
		__assign_str(source);
	),

	TP_printk("pfn=0x%lx nid=%d weight=%u source=%s",
		  __entry->pfn, __entry->nid, __entry->weight,
		  __get_str(source))
);

TRACE_EVENT(pghot_ready,

	TP_PROTO(unsigned long pfn, int nid),

	TP_ARGS(pfn, nid),

	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(int, nid)
	),

	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->nid = nid;
	),

	TP_printk("pfn=0x%lx nid=%d", __entry->pfn, __entry->nid)
);

/* A ready record that is not acted on: for good (skip), or yet (delay). */
DECLARE_EVENT_CLASS(pghot_not_moved,

	TP_PROTO(unsigned long pfn, int nid, enum pghot_stat reason),

	TP_ARGS(pfn, nid, reason),

	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(int, nid)
		__field(int, reason)
	),

	TP_fast_assign(
		__entry->pfn = pfn;
		__entry->nid = nid;
		__entry->reason = reason;
	),

	TP_printk("pfn=0x%lx nid=%d reason=%s",
		  __entry->pfn, __entry->nid,
		  pghot_show_reason(__entry->reason))
);

DEFINE_EVENT(pghot_not_moved, pghot_skip,
	TP_PROTO(unsigned long pfn, int nid, enum pghot_stat reason),
	TP_ARGS(pfn, nid, reason)
);

DEFINE_EVENT(pghot_not_moved, pghot_delay,
	TP_PROTO(unsigned long pfn, int nid, enum pghot_stat reason),
	TP_ARGS(pfn, nid, reason)
);

TRACE_EVENT(pghot_batch,

	TP_PROTO(int src, int dst, unsigned long folios, unsigned long failed,
		 unsigned long pages),

	TP_ARGS(src, dst, folios, failed, pages),

	TP_STRUCT__entry(
		__field(int, src)
		__field(int, dst)
		__field(unsigned long, folios)
		__field(unsigned long, failed)
		__field(unsigned long, pages)
	),

	TP_fast_assign(
		__entry->src = src;
		__entry->dst = dst;
		__entry->folios = folios;
		__entry->failed = failed;
		__entry->pages = pages;
	),

	TP_printk("src=%d dst=%d folios=%lu failed=%lu pages_moved=%lu",
		  __entry->src, __entry->dst, __entry->folios, __entry->failed,
		  __entry->pages)
);

#endif /* _TRACE_PGHOT_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
