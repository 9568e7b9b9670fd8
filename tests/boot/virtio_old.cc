// A device that speaks the language before virtio 1.0 is left alone, and the log says what to set.
//
// boot-test: success
// boot-test: device virtio-rng-device
// boot-test: expect expected virtio-mmio 2, found 1 (QEMU: -global virtio-mmio.force-legacy=false)
#include "os/boot/kernel.h"
#include "os/device/virtio/virtio_subsystem.h"

namespace ingot::os {

constinit const Subsystem* const linked_subsystems[] = {&virtio_subsystem, nullptr};

void run_payload(Kernel&) {}

}  // namespace ingot::os
