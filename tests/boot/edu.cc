// A PCI device is found, interrupts by message and by line, and moves memory by itself, both ways.
//
// boot-test: success
// boot-test: machine q35
// boot-test: device edu
// boot-test: expect edu: 10! = 3628800, told by a message
// boot-test: expect edu: 4095 bytes there and back
// boot-test: expect edu: 6! = 720, told by its line
#include "os/device/edu.h"
#include "base/atomic.h"
#include "os/boot/kernel.h"
#include "os/device/pci_device.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Proof {
  Edu& edu;
  Atomic<std::uint32_t> causes{0};
};

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic(result.error());
  return std::move(result).value();
}

void on_interrupt(void* context, arch::TrapFrame&) {
  auto& proof = *static_cast<Proof*>(context);
  proof.causes.fetch_or(proof.edu.acknowledge(), MemoryOrder::relaxed);
}

void await(Kernel& kernel, Proof& proof, std::uint32_t cause) {
  const Nanoseconds begin = kernel.now();
  while ((proof.causes.exchange(0, MemoryOrder::relaxed) & cause) == 0) {
    if ((kernel.now() - begin).count() > 20'000'000'000)
      panic("expected an interrupt with cause ", cause, ", found none in 20 s");
    arch::pause();
  }
}

void copy_both_ways(Kernel& kernel, Proof& proof) {
  FrameSource& frames = kernel.memory->frames();
  const FrameNumber frame = require(frames.allocate(page_order, Zone::below_16_mib));
  require(frames.pin(frame));
  auto* bytes = kernel.memory->window().at<volatile std::uint8_t>(frame);
  const auto pattern = [](std::size_t index) { return static_cast<std::uint8_t>(index * 7 + index / 256); };
  for (std::size_t index = 0; index < Edu::most_bytes; ++index) bytes[index] = pattern(index);
  require(proof.edu.start_copy_from(frame.address(), Edu::most_bytes));
  await(kernel, proof, Edu::copy_done);
  for (std::size_t index = 0; index < Edu::most_bytes; ++index) bytes[index] = 0;
  require(proof.edu.start_copy_to(frame.address(), Edu::most_bytes));
  await(kernel, proof, Edu::copy_done);
  for (std::size_t index = 0; index < Edu::most_bytes; ++index) {
    if (bytes[index] != pattern(index)) panic("expected ", pattern(index), " at ", index, ", found ", bytes[index]);
  }
  frames.unpin(frame);
  frames.release(frame, page_order);
  kernel.log.information("edu: ", Edu::most_bytes, " bytes there and back");
}

}  // namespace

void run_payload(Kernel& kernel) {
  PciConfiguration* pci = kernel.devices.pci();
  if (pci == nullptr) panic("expected PCI, found none");
  const std::optional<PciDevice> device = PciDevice::find(*pci, Edu::vendor, Edu::device);
  if (!device) panic("expected an edu device, found none");
  device->enable();
  const PciDevice::Mapped mapped = require(device->map(0, *kernel.memory));
  MappedRegisters registers(mapped.begin);
  Edu edu = require(Edu::create(registers));
  Proof proof{edu};

  InterruptController& controller = kernel.controller();
  const std::uint8_t vector =
      require(device->connect_message(controller, kernel.interrupts, *kernel.memory, {on_interrupt, &proof}, 0));
  edu.start_factorial(10);
  await(kernel, proof, Edu::factorial_done);
  kernel.log.information("edu: 10! = ", edu.factorial(), ", told by a message");
  copy_both_ways(kernel, proof);
  device->disconnect_message(kernel.interrupts, vector);

  const InterruptLine line = require(device->line(controller));
  const std::uint8_t line_vector = require(controller.connect(kernel.interrupts, line, {on_interrupt, &proof}, 0));
  edu.start_factorial(6);
  await(kernel, proof, Edu::factorial_done);
  kernel.log.information("edu: 6! = ", edu.factorial(), ", told by its line");
  controller.disconnect(kernel.interrupts, line, line_vector);
}

}  // namespace ingot::os
