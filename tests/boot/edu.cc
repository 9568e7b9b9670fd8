// A PCI device is found by a table of drivers, interrupts by message and by line, and moves memory by itself, both
// ways.
//
// boot-test: success
// boot-test: machine q35
// boot-test: device edu
// boot-test: expect broken at pci 0:0.0
// boot-test: expect edu: 10! = 3628800, told by a message
// boot-test: expect edu: 4095 bytes there and back
// boot-test: expect edu: 6! = 720, told by its line
// boot-test: expect drivers: 1 of 2 devices are served
#include "os/device/pci/edu.h"
#include "base/atomic.h"
#include "os/boot/kernel.h"
#include "os/device/dma_list.h"
#include "os/device/pci/pci_bus.h"
#include "os/device/pci/pci_subsystem.h"
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

std::uint8_t pattern(std::size_t index) { return static_cast<std::uint8_t>(index * 7 + index / 256); }

// The only piece of memory that is smaller than a page and does not cross one.
PhysicalAddress only_piece(const DmaList& list) {
  PhysicalAddress found;
  list.each_piece([&](PhysicalAddress begin, std::uint64_t bytes) {
    if (bytes != Edu::most_bytes) panic("expected one piece, found one of ", bytes, " bytes");
    found = begin;
  });
  return found;
}

// From the kernel's heap to the device, and from there to a program's page that the program lets go before.
void copy_both_ways(Kernel& kernel, Proof& proof) {
  constexpr PhysicalAddress reach(Edu::reach);
  KernelMemory& memory = *kernel.memory;
  Allocator& heap = memory.heap();
  auto* bytes = static_cast<std::uint8_t*>(require(heap.allocate(Edu::most_bytes)));
  for (std::size_t index = 0; index < Edu::most_bytes; ++index) bytes[index] = pattern(index);
  {
    const VirtualAddress begin(reinterpret_cast<std::uint64_t>(bytes));
    const DmaUse use{Access::read, reach};
    const DmaList list =
        require(DmaList::of_kernel(heap, memory.frames(), memory.table(), begin, Edu::most_bytes, use));
    require(proof.edu.start_copy_from(only_piece(list), Edu::most_bytes));
    await(kernel, proof, Edu::copy_done);
  }
  heap.free(bytes, Edu::most_bytes);

  AnonymousMemory zeroes(memory.frames(), memory.window());
  constexpr VirtualAddress low(1 << 20), high(1 << 30);
  Owned<AddressSpace> space = require(AddressSpace::create(memory.services(), &memory.table(), low, high));
  const VirtualAddress place = require(
      space->add({.object = &zeroes, .bytes = page_bytes, .access = Access::read | Access::write, .address = low}));
  {
    const DmaUse use{Access::write, reach};
    const DmaList list = require(DmaList::of_program(heap, memory.frames(), *space, place, Edu::most_bytes, use));
    require(space->remove(place, page_bytes));
    require(proof.edu.start_copy_to(only_piece(list), Edu::most_bytes));
    await(kernel, proof, Edu::copy_done);
    const auto* arrived = memory.window().at<volatile std::uint8_t>(only_piece(list));
    for (std::size_t index = 0; index < Edu::most_bytes; ++index) {
      if (arrived[index] != pattern(index)) {
        panic("expected ", pattern(index), " at ", index, ", found ", arrived[index]);
      }
    }
  }
  kernel.log.information("edu: ", Edu::most_bytes, " bytes there and back");
}

// The driver, whose device is at work for as long as the test.
Result<void> prove(Kernel& kernel, const PciDevice& device) {
  device.enable();
  const PciDevice::Mapped mapped = TRY(device.map(0, *kernel.memory));
  MappedRegisters registers(mapped.begin);
  Edu edu = TRY(Edu::create(registers));
  Proof proof{edu};

  InterruptController& controller = kernel.controller();
  const PciDevice::MessageTarget target[] = {{{on_interrupt, &proof}, 0}};
  std::uint8_t vector[1] = {};
  TRY(device.connect_messages({controller, kernel.interrupts, *kernel.memory}, target, vector));
  edu.start_factorial(10);
  await(kernel, proof, Edu::factorial_done);
  kernel.log.information("edu: 10! = ", edu.factorial(), ", told by a message");
  copy_both_ways(kernel, proof);
  device.disconnect_messages(kernel.interrupts, vector);

  const InterruptLine line = TRY(device.line(controller));
  const std::uint8_t line_vector = TRY(controller.connect(kernel.interrupts, line, {on_interrupt, &proof}, 0));
  edu.start_factorial(6);
  await(kernel, proof, Edu::factorial_done);
  kernel.log.information("edu: 6! = ", edu.factorial(), ", told by its line");
  controller.disconnect(kernel.interrupts, line, line_vector);
  return {};
}

Result<void> fail(Kernel&, const PciDevice& device) {
  return Error::of(ErrorCode::unsupported, "expected another bridge, found ", device.header().device);
}

constexpr PciDriver drivers[] = {
    {"edu", PciMatch::identity(Edu::vendor, Edu::device), prove},
    {"broken", PciMatch::device_class(6, 0, 0), fail},  // the bridge to the processor, which every PC has
};

}  // namespace

constinit const Subsystem* const linked_subsystems[] = {&pci_subsystem, nullptr};

void run_payload(Kernel& kernel) {
  kernel.log.information("drivers: ", kernel.pci->start_drivers(kernel, drivers), " of 2 devices are served");
}

}  // namespace ingot::os
