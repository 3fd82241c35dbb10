wake.o: ../linux/mm/pghot/wake.c machine/include/linux/hardirq.h \
 machine/include/linux/kthread.h include/linux/compiler.h \
 machine/include/linux/err.h machine/include/linux/mm.h \
 include/linux/mm.h include/linux/math.h include/linux/overflow.h \
 include/linux/limits.h include/linux/types.h include/linux/list.h \
 include/linux/vmalloc.h include/linux/math64.h include/linux/minmax.h \
 machine/include/linux/mmzone.h include/linux/mmzone.h \
 machine/include/linux/nodemask.h include/linux/bitops.h \
 machine/include/linux/atomic.h include/linux/atomic.h \
 include/linux/bits.h include/linux/numa.h machine/include/linux/printk.h \
 include/linux/rcupdate.h machine/include/linux/smp.h include/linux/smp.h \
 machine/include/linux/wait.h machine/include/linux/jiffies.h \
 machine/include/linux/irq_work.h ../linux/mm/pghot/internal.h \
 machine/include/linux/kobject.h include/linux/mutex.h \
 include/linux/lockdep.h machine/include/linux/spinlock.h \
 ../linux/mm/pghot/hotmap.h include/linux/cache.h \
 ../linux/include/linux/pghot.h machine/include/linux/jump_label.h \
 ../linux/mm/pghot/record.h include/linux/log2.h \
 ../linux/mm/pghot/policy.h ../linux/mm/pghot/stat.h \
 machine/include/linux/percpu.h include/linux/slab.h include/linux/gfp.h
machine/include/linux/hardirq.h:
machine/include/linux/kthread.h:
include/linux/compiler.h:
machine/include/linux/err.h:
machine/include/linux/mm.h:
include/linux/mm.h:
include/linux/math.h:
include/linux/overflow.h:
include/linux/limits.h:
include/linux/types.h:
include/linux/list.h:
include/linux/vmalloc.h:
include/linux/math64.h:
include/linux/minmax.h:
machine/include/linux/mmzone.h:
include/linux/mmzone.h:
machine/include/linux/nodemask.h:
include/linux/bitops.h:
machine/include/linux/atomic.h:
include/linux/atomic.h:
include/linux/bits.h:
include/linux/numa.h:
machine/include/linux/printk.h:
include/linux/rcupdate.h:
machine/include/linux/smp.h:
include/linux/smp.h:
machine/include/linux/wait.h:
machine/include/linux/jiffies.h:
machine/include/linux/irq_work.h:
../linux/mm/pghot/internal.h:
machine/include/linux/kobject.h:
include/linux/mutex.h:
include/linux/lockdep.h:
machine/include/linux/spinlock.h:
../linux/mm/pghot/hotmap.h:
include/linux/cache.h:
../linux/include/linux/pghot.h:
machine/include/linux/jump_label.h:
../linux/mm/pghot/record.h:
include/linux/log2.h:
../linux/mm/pghot/policy.h:
../linux/mm/pghot/stat.h:
machine/include/linux/percpu.h:
include/linux/slab.h:
include/linux/gfp.h:
