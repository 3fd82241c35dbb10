/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MACHINE_TRACE_EVENTS_PGHOT_H
#define _MACHINE_TRACE_EVENTS_PGHOT_H

/* The shim has no tracepoints. */
#define trace_pghot_record(pfn, nid, weight, source) do { } while (0)
#define trace_pghot_record_enabled() false
#define trace_pghot_ready(pfn, nid) do { } while (0)
#define trace_pghot_skip(pfn, nid, reason) do { } while (0)
#define trace_pghot_delay(pfn, nid, reason) do { } while (0)
#define trace_pghot_batch(from, to, folios, failed, pages) do { } while (0)

#endif
