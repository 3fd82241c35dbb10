// SPDX-License-Identifier: GPL-2.0
/*
 * The hotness monitoring unit of the memory model that pghot is tested with: a PCI
 * device that says itself where its registers are and where the host has its memory.
 * A CXL memory device says so in other places; the unit is the same.
 */
#include <linux/err.h>
#include <linux/hotness_unit.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pfn.h>

#include "chmu_regs.h"
#include "hmu_pci.h"

/* As many vectors as the register that names one can tell apart. */
#define VECTORS_MAX	16

/**
 * struct hmu_pci - the device
 * @pdev: as PCI knows it
 * @unit: its unit
 * @vectors: how many interrupts it has
 * @nr: number of ranges
 * @range: where the host has the device's memory, from its first byte on
 */
struct hmu_pci {
	struct pci_dev *pdev;
	struct hotness_unit *unit;
	int vectors;
	unsigned int nr;
	struct {
		u64 start;
		u64 bytes;
	} range[HMU_PCI_RANGES_MAX];
};

/* A device with one interrupt uses that for all. */
static int hmu_pci_irq(void *data, unsigned int vector)
{
	struct hmu_pci *hmu = data;

	if (hmu->vectors <= 0)
		return -ENXIO;
	return pci_irq_vector(hmu->pdev, vector < hmu->vectors ? vector : 0);
}

static bool hmu_pci_translate(void *data, u64 page, unsigned long *pfn, u64 *pages)
{
	struct hmu_pci *hmu = data;
	unsigned int n;

	for (n = 0; n < hmu->nr; n++) {
		*pages = hmu->range[n].bytes >> PAGE_SHIFT;
		if (page < *pages) {
			*pfn = PHYS_PFN(hmu->range[n].start) + page;
			*pages -= page;
			return true;
		}
		page -= *pages;
	}
	return false;
}

/* Return the bytes of the device's memory, 0 if what it says makes no sense. */
static u64 hmu_pci_read_ranges(struct hmu_pci *hmu, void __iomem *base)
{
	u64 nr = readq(base + HMU_PCI_RANGES), sum = 0;
	unsigned int n;

	if (nr > HMU_PCI_RANGES_MAX)
		return 0;
	hmu->nr = nr;
	for (n = 0; n < hmu->nr; n++) {
		hmu->range[n].start = readq(base + HMU_PCI_RANGE(n));
		hmu->range[n].bytes = readq(base + HMU_PCI_RANGE(n) + 8);
		if (!PAGE_ALIGNED(hmu->range[n].start | hmu->range[n].bytes) ||
		    hmu->range[n].bytes > PHYS_ADDR_MAX - hmu->range[n].start)
			return 0;
		sum += hmu->range[n].bytes;
	}
	return sum;
}

static int hmu_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct hotness_unit_info info = {
		.dev = &pdev->dev, .irq = hmu_pci_irq,
		.translate = hmu_pci_translate,
	};
	struct hmu_pci *hmu;
	void __iomem *base;
	u64 at;
	int err;

	hmu = devm_kzalloc(&pdev->dev, sizeof(*hmu), GFP_KERNEL);
	if (!hmu)
		return -ENOMEM;
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	base = pcim_iomap_region(pdev, HMU_PCI_BAR, pci_name(pdev));
	if (IS_ERR(base))
		return PTR_ERR(base);
	if (pci_resource_len(pdev, HMU_PCI_BAR) < HMU_PCI_BYTES ||
	    readq(base + HMU_PCI_ID) != HMU_PCI_MAGIC)
		return -ENODEV;
	at = readq(base + HMU_PCI_CHMU);
	info.memory = hmu_pci_read_ranges(hmu, base);
	if (at >= HMU_PCI_BYTES || !IS_ALIGNED(at, sizeof(u64)) || !info.memory)
		return -ENODEV;

	pci_set_master(pdev);
	hmu->pdev = pdev;
	hmu->vectors = pci_alloc_irq_vectors(pdev, 1, VECTORS_MAX,
					     PCI_IRQ_MSI | PCI_IRQ_MSIX);
	info.regs = base + at;
	info.bytes = HMU_PCI_BYTES - at;
	info.data = hmu;
	hmu->unit = hotness_unit_add(&info);
	if (IS_ERR(hmu->unit)) {
		pci_free_irq_vectors(pdev);
		return PTR_ERR(hmu->unit);
	}
	pci_set_drvdata(pdev, hmu);
	return 0;
}

static void hmu_pci_remove(struct pci_dev *pdev)
{
	struct hmu_pci *hmu = pci_get_drvdata(pdev);

	hotness_unit_remove(hmu->unit);
	pci_free_irq_vectors(pdev);
}

static const struct pci_device_id hmu_pci_ids[] = {
	{ PCI_DEVICE(HMU_PCI_VENDOR, HMU_PCI_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, hmu_pci_ids);

static struct pci_driver hmu_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = hmu_pci_ids,
	.probe = hmu_pci_probe,
	.remove = hmu_pci_remove,
};
builtin_pci_driver(hmu_pci_driver);
