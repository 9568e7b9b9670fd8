#include "os/process/vdso.h"

#include "os/boot/command_line.h"
#include "os/boot/kernel.h"
#include "os/process/program_memory.h"
#include "os/process/vdso/time_page.h"

extern "C" const std::byte ingot_vdso_begin[], ingot_vdso_end[];

namespace ingot::os {

namespace {

// Else a program asks the kernel, which knows by how much they differ.
bool counters_agree(Kernel& kernel) {
  for (const Processor* processor : kernel.scheduler.processors()) {
    if (processor->cycle_offset != 0) return false;
  }
  return true;
}

TimePage time_page(Kernel& kernel) {
  const Nanoseconds start(0);
  const bool off = command_line_option(kernel.boot_info.command_line.view(), "no-vdso").has_value();
  const WallClock* wall_clock = kernel.devices.wall_clock();
  return {.counter_is_shared = !off && counters_agree(kernel),
          .tells_processor = !off && arch::tells_processor(),
          .start_cycles = kernel.platform.entry_cycles(),
          .nanoseconds_times_2_to_32 = kernel.clock->rate().nanoseconds_times_2_to_32(),
          .wall_time_at_start = wall_clock != nullptr ? wall_clock->at(start).count() : 0};
}

}  // namespace

Result<Owned<Vdso>> Vdso::create(Kernel& kernel) {
  const auto bytes = static_cast<std::uint64_t>(ingot_vdso_end - ingot_vdso_begin);
  if (bytes > page_bytes) {
    return Error::of(ErrorCode::out_of_range, "expected a vDSO of at most a page, found ", bytes, " bytes");
  }
  FrameSource& frames = kernel.memory->frames();
  const FrameNumber facts = TRY(frames.allocate(page_order));
  Result<FrameNumber> code = frames.allocate(page_order);
  if (!code.ok()) {
    frames.release(facts, page_order);
    return code.error();
  }
  const PhysicalWindow window = kernel.memory->window();
  for (const FrameNumber frame : {facts, code.value()}) window.clear(frame.address(), page_bytes);
  *window.at<TimePage>(facts.address()) = time_page(kernel);
  __builtin_memcpy(window.at<std::byte>(code.value().address()), ingot_vdso_begin, bytes);
  Result<Owned<Vdso>> made = make_owned<Vdso>(kernel.memory->heap(), kernel, facts, code.value());
  if (made.ok()) return made;
  for (const FrameNumber frame : {facts, code.value()}) frames.release(frame, page_order);
  return made;
}

Vdso::Vdso(Kernel& kernel, FrameNumber facts, FrameNumber code)
    : kernel_(kernel),
      facts_frame_(facts),
      code_frame_(code),
      facts_("vvar", facts.address(), page_bytes, CacheMode::write_back),
      code_("vdso", code.address(), page_bytes, CacheMode::write_back) {}

Vdso::~Vdso() {
  for (const FrameNumber frame : {facts_frame_, code_frame_}) kernel_.memory->frames().release(frame, page_order);
}

// Room for both first, so that the code stands where it finds its facts.
Answer<VirtualAddress> Vdso::map(ProgramMemory& memory) {
  const VirtualAddress facts = TRY(memory.map({.bytes = 2 * page_bytes, .access = Access::read, .object = &facts_}));
  return memory.map({.bytes = page_bytes,
                     .access = Access::read | Access::execute,
                     .object = &code_,
                     .address = facts + page_bytes,
                     .replaces = true});
}

}  // namespace ingot::os
