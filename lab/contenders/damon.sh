# SPDX-License-Identifier: GPL-2.0
# DAMON-based tiering with the settings of samples/damon/mtier.c, over sysfs: one
# kdamond for each slow node promotes what is hot to a DRAM node, one for each
# DRAM node demotes what is cold. busybox sh.
#
# They start with the measured part. Intervals are shorter and quotas smaller than there by
# what the experiment's scale says ($scale_time, $scale_memory). How many regions there may
# be is not scaled, so watching them costs more of a CPU than there.

time=${scale_time:-1}
memory=${scale_memory:-1}
admin=/sys/kernel/mm/damon/admin/kdamonds
nodes=/sys/devices/system/node

dram= slow=
for node in "$nodes"/node*; do
	# Not by read: one byte at a time gives nothing here.
	cpus=$(cat "$node/cpulist")
	[ -n "$cpus" ] && dram="$dram ${node##*node}" || slow="$slow ${node##*node}"
done
dram=${dram# } slow=${slow# }

# The nearest of the nodes $2... to node $1.
nearest() {
	local from=$1 best= least=1000 node distance
	shift
	for node in "$@"; do
		set -- $(cat "$nodes/node$node/distance")
		shift "$from"
		distance=$1
		[ "$distance" -lt "$least" ] && least=$distance best=$node
	done
	echo "$best"
}

# First byte of a node, and the first after it; memory blocks are of one size.
range_of() {
	local size block low= high=
	size=$((0x$(cat /sys/devices/system/memory/block_size_bytes)))
	for block in "$nodes/node$1"/memory*; do
		block=${block##*memory}
		[ -z "$low" ] || [ "$block" -lt "$low" ] && low=$block
		[ -z "$high" ] || [ "$block" -gt "$high" ] && high=$block
	done
	echo $((low * size)) $(((high + 1) * size))
}

put() { echo "$2" >"$1" || { echo "damon: $1 does not take $2" >&2; exit 1; }; }

# kdamond, node it watches, node it moves to, promote or demote
scheme() {
	local kdamond=$admin/$1 from=$2 to=$3 what=$4 context scheme filters
	put "$kdamond/contexts/nr_contexts" 1
	context=$kdamond/contexts/0
	put "$context/operations" paddr
	put "$context/monitoring_attrs/intervals/sample_us" $((5000 / time))
	put "$context/monitoring_attrs/intervals/aggr_us" $((100000 / time))
	put "$context/monitoring_attrs/intervals/update_us" $((60000000 / time))
	put "$context/monitoring_attrs/intervals/intervals_goal/access_bp" 400
	put "$context/monitoring_attrs/intervals/intervals_goal/aggrs" 3
	put "$context/monitoring_attrs/intervals/intervals_goal/min_sample_us" $((5000 / time))
	put "$context/monitoring_attrs/intervals/intervals_goal/max_sample_us" $((10000000 / time))
	put "$context/monitoring_attrs/nr_regions/min" 10
	put "$context/monitoring_attrs/nr_regions/max" 1000
	put "$context/targets/nr_targets" 1
	put "$context/targets/0/regions/nr_regions" 1
	set -- $(range_of "$from")
	put "$context/targets/0/regions/0/start" "$1"
	put "$context/targets/0/regions/0/end" "$2"
	put "$context/schemes/nr_schemes" 1
	scheme=$context/schemes/0
	put "$scheme/access_pattern/sz/min" 4096
	put "$scheme/access_pattern/sz/max" 18446744073709551615
	put "$scheme/access_pattern/age/max" 4294967295
	put "$scheme/apply_interval_us" $((1000000 / time))
	put "$scheme/target_nid" "$to"
	put "$scheme/quotas/bytes" $(((200 << 20) / memory))
	put "$scheme/quotas/reset_interval_ms" $((time < 1000 ? 1000 / time : 1))
	put "$scheme/quotas/weights/sz_permil" 0
	put "$scheme/quotas/weights/nr_accesses_permil" 100
	put "$scheme/quotas/weights/age_permil" 100
	put "$scheme/quotas/goals/nr_goals" 1
	filters=$scheme/ops_filters
	[ -d "$filters" ] || filters=$scheme/filters
	put "$filters/nr_filters" 1
	put "$filters/0/type" young
	put "$filters/0/matching" Y
	if [ "$what" = promote ]; then
		put "$scheme/action" migrate_hot
		put "$scheme/access_pattern/nr_accesses/min" 1
		put "$scheme/access_pattern/nr_accesses/max" 4294967295
		put "$scheme/quotas/goals/0/target_metric" node_mem_used_bp
		put "$scheme/quotas/goals/0/target_value" 9970
		put "$scheme/quotas/goals/0/nid" "$to"
		put "$filters/0/allow" Y
	else
		put "$scheme/action" migrate_cold
		put "$scheme/access_pattern/nr_accesses/max" 0
		put "$scheme/quotas/goals/0/target_metric" node_mem_free_bp
		put "$scheme/quotas/goals/0/target_value" 50
		put "$scheme/quotas/goals/0/nid" "$from"
		put "$filters/0/allow" N
	fi
}

set -- $dram $slow
put "$admin/nr_kdamonds" $#
number=0
for node in $slow; do
	scheme $number "$node" "$(nearest "$node" $dram)" promote
	number=$((number + 1))
done
for node in $dram; do
	scheme $number "$node" "$(nearest "$node" $slow)" demote
	number=$((number + 1))
done
for kdamond in "$admin"/[0-9]*; do
	echo "$kdamond/state on" >>/run/lab/settings
done
