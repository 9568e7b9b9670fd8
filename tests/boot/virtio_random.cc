// Random numbers of the host are stirred into the kernel's: from a device on PCI, and from one behind a window in
// memory (CMakeLists.txt: on microvm, found by looking, and named on the command line).
//
// boot-test: success
// boot-test: machine q35
// boot-test: device virtio-rng-BUS
// boot-test: qemu -global virtio-mmio.force-legacy=false
// boot-test: expect virtio random numbers: ready, told by an interrupt
#include "os/boot/kernel.h"
#include "os/device/pci/pci_subsystem.h"
#include "os/device/virtio/virtio_subsystem.h"

namespace ingot::os {

constinit const Subsystem* const linked_subsystems[] = {&pci_subsystem, &virtio_subsystem, nullptr};

void run_payload(Kernel&) {}

}  // namespace ingot::os
