// SPDX-License-Identifier: GPL-2.0
/*
 * The copy engine of the memory model that page migration is tested with: a PCI device
 * whose channels copy memory to memory, each with a ring of descriptors in the host's
 * memory and an interrupt of its own.
 */
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "dmaengine.h"
#include "virt-dma.h"

#define MEMSIM_VENDOR	0x1af4	/* device numbers from 0x10f0 on are for experiments */
#define MEMSIM_DEVICE	0x10f1
#define MEMSIM_BAR	2
#define MEMSIM_BYTES	0x20000

/* Registers: 64 bits each. Reading one takes several times as long as writing it. */
#define MEMSIM_ID		0x00
#define   MEMSIM_MAGIC		0x31616d64746f6867ULL	/* "ghotdma1" */
#define MEMSIM_CHANNELS		0x08
#define MEMSIM_MAX_BYTES	0x10	/* of a descriptor */
#define MEMSIM_CONTROL		0x18
#define   MEMSIM_INTERRUPT	BIT(0)
#define MEMSIM_CHANNEL(n)	(0x1000 * ((n) + 1))	/* what follows is from here */
#define MEMSIM_RING		0x00	/* bus address; a new one stops the channel */
#define MEMSIM_ENTRIES		0x08
#define MEMSIM_POSTED		0x10
#define MEMSIM_CAUSE		0x28
#define   MEMSIM_CAUSE_ALL	GENMASK(1, 0)

#define CHANNELS_MAX	16
#define ENTRIES		1024	/* of a ring, a power of two */

/**
 * struct memsim_desc - a copy, as the device reads it
 * @from: bus address
 * @to: bus address
 * @bytes: how many
 * @flags: MEMSIM_NOTIFY
 * @status: written by the device after the last byte
 */
struct memsim_desc {
	__le64 from, to;
	__le32 bytes, flags;
	__le64 status;
};

#define MEMSIM_NOTIFY	BIT(0)
#define MEMSIM_OK	1

/**
 * struct memsim_copy - a copy, as the DMA engine's users have it
 * @vd: for them
 * @desc: for the device
 */
struct memsim_copy {
	struct virt_dma_desc vd;
	struct memsim_desc desc;
};

/**
 * struct memsim_chan - a channel; vc.lock guards all of it
 * @vc: as the DMA engine has it
 * @regs: its registers
 * @ring: its descriptors, @ring_at for the device
 * @ring_at: where the device finds it
 * @given: in slots of the ring: copies under way
 * @posted: how many the device was given, ever since it was set up
 * @done: how many of these are known to have ended
 * @vector: its interrupt
 */
struct memsim_chan {
	struct virt_dma_chan vc;
	void __iomem *regs;
	struct memsim_desc *ring;
	dma_addr_t ring_at;
	struct memsim_copy *given[ENTRIES];
	u64 posted, done;
	int vector;
};

/**
 * struct memsim_dma - the device
 * @dma: as the DMA engine has it
 * @regs: its registers
 * @max_bytes: of a copy
 * @nr: number of channels
 * @chan: channels
 */
struct memsim_dma {
	struct dma_device dma;
	void __iomem *regs;
	u64 max_bytes;
	unsigned int nr;
	struct memsim_chan chan[] __counted_by(nr);
};

static struct memsim_chan *to_memsim(struct dma_chan *chan)
{
	return container_of(to_virt_chan(chan), struct memsim_chan, vc);
}

/* Give the device what is issued, as far as the ring has room. */
static void memsim_feed(struct memsim_chan *ch)
{
	struct virt_dma_desc *vd;
	u64 posted = ch->posted;

	lockdep_assert_held(&ch->vc.lock);
	while (ch->posted - ch->done < ENTRIES &&
	       (vd = vchan_next_desc(&ch->vc))) {
		struct memsim_copy *copy = container_of(vd, struct memsim_copy, vd);
		unsigned int slot = ch->posted++ % ENTRIES;

		list_del(&vd->node);
		ch->given[slot] = copy;
		ch->ring[slot] = copy->desc;
	}
	if (ch->posted != posted) {
		/* The device is told of descriptors that it can read. */
		dma_wmb();
		writeq(ch->posted, ch->regs + MEMSIM_POSTED);
	}
}

/* Those end in their order; what each came to is in the ring. */
static void memsim_reap(struct memsim_chan *ch)
{
	lockdep_assert_held(&ch->vc.lock);
	while (ch->done != ch->posted) {
		unsigned int slot = ch->done % ENTRIES;
		struct memsim_copy *copy = ch->given[slot];
		u64 status = le64_to_cpu(READ_ONCE(ch->ring[slot].status));

		if (!status)
			break;
		if (status != MEMSIM_OK)
			copy->vd.tx_result.result = DMA_TRANS_ABORTED;
		vchan_cookie_complete(&copy->vd);
		ch->done++;
	}
}

static irqreturn_t memsim_irq(int irq, void *data)
{
	struct memsim_chan *ch = data;

	spin_lock(&ch->vc.lock);
	/* First, so that what ends from now on interrupts again. */
	writeq(MEMSIM_CAUSE_ALL, ch->regs + MEMSIM_CAUSE);
	memsim_reap(ch);
	memsim_feed(ch);
	spin_unlock(&ch->vc.lock);
	return IRQ_HANDLED;
}

static struct dma_async_tx_descriptor *
memsim_prep_memcpy(struct dma_chan *chan, dma_addr_t to, dma_addr_t from,
		   size_t bytes, unsigned long flags)
{
	struct memsim_dma *m = container_of(chan->device, struct memsim_dma, dma);
	struct memsim_copy *copy;

	if (!bytes || bytes > m->max_bytes)
		return NULL;
	copy = kzalloc_obj(*copy, GFP_NOWAIT | __GFP_NOMEMALLOC);
	if (!copy)
		return NULL;
	copy->desc.from = cpu_to_le64(from);
	copy->desc.to = cpu_to_le64(to);
	copy->desc.bytes = cpu_to_le32(bytes);
	if (flags & DMA_PREP_INTERRUPT)
		copy->desc.flags = cpu_to_le32(MEMSIM_NOTIFY);
	return vchan_tx_prep(to_virt_chan(chan), &copy->vd, flags);
}

static void memsim_issue_pending(struct dma_chan *chan)
{
	struct memsim_chan *ch = to_memsim(chan);
	unsigned long flags;

	spin_lock_irqsave(&ch->vc.lock, flags);
	if (vchan_issue_pending(&ch->vc))
		memsim_feed(ch);
	spin_unlock_irqrestore(&ch->vc.lock, flags);
}

static enum dma_status memsim_tx_status(struct dma_chan *chan, dma_cookie_t cookie,
					struct dma_tx_state *state)
{
	struct memsim_chan *ch = to_memsim(chan);
	unsigned long flags;

	spin_lock_irqsave(&ch->vc.lock, flags);
	memsim_reap(ch);
	memsim_feed(ch);
	spin_unlock_irqrestore(&ch->vc.lock, flags);
	return dma_cookie_status(chan, cookie, state);
}

/* Stops the channel: nothing that it was given is written after this. */
static void memsim_reset(struct memsim_chan *ch)
{
	writeq(ch->ring_at, ch->regs + MEMSIM_RING);
	writeq(ENTRIES, ch->regs + MEMSIM_ENTRIES);
	/* Reading waits until both have got there. */
	readq(ch->regs + MEMSIM_ENTRIES);
	ch->posted = 0;
	ch->done = 0;
}

static int memsim_terminate_all(struct dma_chan *chan)
{
	struct memsim_chan *ch = to_memsim(chan);
	unsigned long flags;
	LIST_HEAD(head);

	spin_lock_irqsave(&ch->vc.lock, flags);
	memsim_reap(ch);
	for (; ch->done != ch->posted; ch->done++)
		list_add_tail(&ch->given[ch->done % ENTRIES]->vd.node, &head);
	memsim_reset(ch);
	vchan_get_all_descriptors(&ch->vc, &head);
	spin_unlock_irqrestore(&ch->vc.lock, flags);
	vchan_dma_desc_free_list(&ch->vc, &head);
	return 0;
}

static void memsim_synchronize(struct dma_chan *chan)
{
	vchan_synchronize(to_virt_chan(chan));
}

static int memsim_alloc_chan(struct dma_chan *chan)
{
	struct memsim_chan *ch = to_memsim(chan);

	ch->ring = dma_alloc_coherent(chan->device->dev,
				      ENTRIES * sizeof(*ch->ring), &ch->ring_at,
				      GFP_KERNEL);
	if (!ch->ring)
		return -ENOMEM;
	spin_lock_irq(&ch->vc.lock);
	memsim_reset(ch);
	spin_unlock_irq(&ch->vc.lock);
	return 0;
}

static void memsim_free_chan(struct dma_chan *chan)
{
	struct memsim_chan *ch = to_memsim(chan);

	memsim_terminate_all(chan);
	vchan_free_chan_resources(&ch->vc);
	dma_free_coherent(chan->device->dev, ENTRIES * sizeof(*ch->ring),
			  ch->ring, ch->ring_at);
	ch->ring = NULL;
}

static void memsim_free_desc(struct virt_dma_desc *vd)
{
	kfree(container_of(vd, struct memsim_copy, vd));
}

static void memsim_fill_in(struct memsim_dma *m, struct device *dev)
{
	struct dma_device *dma = &m->dma;

	dma_cap_set(DMA_MEMCPY, dma->cap_mask);
	dma->dev = dev;
	dma->copy_align = DMAENGINE_ALIGN_1_BYTE;
	dma->residue_granularity = DMA_RESIDUE_GRANULARITY_DESCRIPTOR;
	dma->device_alloc_chan_resources = memsim_alloc_chan;
	dma->device_free_chan_resources = memsim_free_chan;
	dma->device_prep_dma_memcpy = memsim_prep_memcpy;
	dma->device_issue_pending = memsim_issue_pending;
	dma->device_tx_status = memsim_tx_status;
	dma->device_terminate_all = memsim_terminate_all;
	dma->device_synchronize = memsim_synchronize;
	INIT_LIST_HEAD(&dma->channels);
}

static int memsim_add_channels(struct memsim_dma *m, struct pci_dev *pdev)
{
	unsigned int n;
	int err;

	for (n = 0; n < m->nr; n++) {
		struct memsim_chan *ch = &m->chan[n];

		ch->regs = m->regs + MEMSIM_CHANNEL(n);
		ch->vc.desc_free = memsim_free_desc;
		vchan_init(&ch->vc, &m->dma);
		ch->vector = pci_irq_vector(pdev, n);
		err = devm_request_irq(&pdev->dev, ch->vector, memsim_irq, 0,
				       "memsim-dma", ch);
		if (err)
			return err;
	}
	return 0;
}

static int memsim_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct memsim_dma *m;
	void __iomem *regs;
	u64 nr;
	int err;

	err = pcim_enable_device(pdev);
	if (err)
		return err;
	regs = pcim_iomap_region(pdev, MEMSIM_BAR, pci_name(pdev));
	if (IS_ERR(regs))
		return PTR_ERR(regs);
	if (pci_resource_len(pdev, MEMSIM_BAR) < MEMSIM_BYTES ||
	    readq(regs + MEMSIM_ID) != MEMSIM_MAGIC)
		return -ENODEV;
	nr = readq(regs + MEMSIM_CHANNELS);
	if (!nr || nr > CHANNELS_MAX)
		return -ENODEV;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	m = devm_kzalloc(&pdev->dev, struct_size(m, chan, nr), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->nr = nr;
	m->regs = regs;
	m->max_bytes = readq(regs + MEMSIM_MAX_BYTES);
	dma_set_max_seg_size(&pdev->dev, m->max_bytes);
	pci_set_master(pdev);
	err = pci_alloc_irq_vectors(pdev, nr, nr, PCI_IRQ_MSIX);
	if (err < 0)
		return err;

	memsim_fill_in(m, &pdev->dev);
	err = memsim_add_channels(m, pdev);
	if (!err) {
		writeq(MEMSIM_INTERRUPT, regs + MEMSIM_CONTROL);
		err = dma_async_device_register(&m->dma);
	}
	if (err) {
		writeq(0, regs + MEMSIM_CONTROL);
		return err;
	}
	pci_set_drvdata(pdev, m);
	return 0;
}

static void memsim_remove(struct pci_dev *pdev)
{
	struct memsim_dma *m = pci_get_drvdata(pdev);
	unsigned int n;

	dma_async_device_unregister(&m->dma);
	writeq(0, m->regs + MEMSIM_CONTROL);
	for (n = 0; n < m->nr; n++) {
		synchronize_irq(m->chan[n].vector);
		tasklet_kill(&m->chan[n].vc.task);
	}
}

static const struct pci_device_id memsim_ids[] = {
	{ PCI_DEVICE(MEMSIM_VENDOR, MEMSIM_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, memsim_ids);

static struct pci_driver memsim_driver = {
	.name = "memsim-dma",
	.id_table = memsim_ids,
	.probe = memsim_probe,
	.remove = memsim_remove,
	/* Its channels may be somebody's, and go with it. */
	.driver.suppress_bind_attrs = true,
};
builtin_pci_driver(memsim_driver);
