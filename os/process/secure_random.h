// SecureRandom: bytes that nobody can guess, from what the machine offered at boot and devices later. The key is
// replaced with every request, so what was given out earlier cannot be computed from the memory of later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/chacha20.h"
#include "os/file/synthetic/dev_directory.h"
#include "os/schedule/locked.h"
#include "os/trace/log.h"

namespace ingot::os {

class SecureRandom final : public RandomSource {
 public:
  // `seed`: as good as the boot's entropy. More is stirred in from the CPU's own source; the log is told where it has
  // none.
  void start(std::uint64_t seed, Log& log);
  // More from elsewhere. Whoever knows it, or chose it, learns nothing by that.
  void stir(std::span<const std::byte> bytes);
  void fill(std::span<std::byte> bytes) override;
  std::uint64_t number();

 private:
  Locked<ChaChaKey> key_{LockRank::random};
};

}  // namespace ingot::os
