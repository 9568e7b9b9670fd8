// All memory is eaten. What the kernel refuses then, it refuses as an error; a report on one page says who holds what;
// and when it is given back everything works again.
//
// boot-test: success
// boot-test: expect warning: frames: 0 of
// boot-test: expect warning: address space 1:
// boot-test: expect warning: heap: blocks of bytes:
// boot-test: expect warning: frames held:
// boot-test: expect report: fits on a page
// boot-test: expect refused: heap, stack and thread
// boot-test: expect afterwards: a thread ran
#include "os/boot/kernel.h"
#include "os/memory/user_memory.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

class LineCounter final : public LogSink {
 public:
  void write_line(std::string_view line) override { lines += line.starts_with("warning: ") ? 1 : 0; }
  std::size_t lines = 0;
};

// Touches one page after the other until there are none.
void eat(Kernel& kernel) {
  KernelMemory& memory = *kernel.memory;
  AnonymousMemory anonymous(memory.frames(), memory.window());
  auto space = AddressSpace::create(memory.services(), &memory.table(), VirtualAddress(0x200000), user_memory_end);
  if (!space.ok()) panic(space.error());
  RegionRequest request;
  request.object = &anonymous;
  request.bytes = 16 * giant_page_bytes;
  request.access = Access::read | Access::write;
  const Result<VirtualAddress> place = space.value()->add(request);
  if (!place.ok()) panic(place.error());
  use_address_space(space.value().get());
  LineCounter counter;
  kernel.log.add_sink(counter, LogLevel::warning);
  const char byte = 1;
  std::uint64_t touched = 0;
  while (copy_to_user(place.value() + touched, &byte, 1).ok()) touched += page_bytes;
  if (counter.lines > 4 && counter.lines <= 24) kernel.log.information("report: fits on a page, ", counter.lines);

  int refused = 0;
  void* first = nullptr;  // a list of what could still be had
  for (;;) {
    const Result<void*> block = memory.heap().allocate(1024);
    if (!block.ok()) break;
    *static_cast<void**>(block.value()) = first;
    first = block.value();
  }
  refused += memory.heap().allocate(2 * page_bytes).ok() ? 0 : 1;
  refused += memory.allocate_stack(8 * page_bytes).ok() ? 0 : 1;
  refused += spawn(kernel, "too many", [](Kernel&) {}, kernel).ok() ? 0 : 1;
  if (refused == 3) kernel.log.information("refused: heap, stack and thread");
  while (first != nullptr) memory.heap().free(std::exchange(first, *static_cast<void**>(first)), 1024);
  use_address_space(nullptr);
}

}  // namespace

void run_payload(Kernel& kernel) {
  eat(kernel);
  Result<KernelThread> thread =
      spawn(kernel, "after", [](Kernel& running) { running.log.information("afterwards: a thread ran"); }, kernel);
  if (!thread.ok()) panic(thread.error());
}

}  // namespace ingot::os
