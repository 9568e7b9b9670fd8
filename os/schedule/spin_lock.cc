#include "os/schedule/spin_lock.h"

#include "base/text.h"

namespace ingot::os {

// Longer pauses would leave a free lock unused for longer than most are held.
static constexpr std::uint32_t most_pauses = 64;
static constexpr std::uint64_t patience = std::uint64_t{1} << 35;  // in cycles: 17 s at 2 GHz

void SpinLock::wait(const arch::ProcessorHeader& cpu) {
  std::uint64_t began = arch::cycle_count();
  std::uint32_t pauses = 1;
  do {
    for (std::uint32_t i = 0; i < pauses; ++i) arch::pause();
    if (pauses < most_pauses) pauses *= 2;
    if (arch::cycle_count() - began < patience) continue;
    began = arch::cycle_count();
    if (cpu.lock_reports == nullptr) continue;
    const auto what = text_of<100>("expected a lock to be free within seconds, found CPU ",
                                   holder_.load(MemoryOrder::relaxed) - 1, " hold it while CPU ", cpu.index, " waits");
    cpu.lock_reports->lock_violated({.what = what.view(), .lock = this, .rank = rank_, .may_pass = true});
  } while (!take(cpu));
}

}  // namespace ingot::os
