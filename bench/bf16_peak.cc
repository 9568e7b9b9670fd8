#include "bench/bf16_peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "machine/machine.h"
#include "machine/workers.h"

namespace ingot {
namespace {

constexpr std::int64_t rounds = 400'000;

#if defined(__x86_64__)
constexpr Feature needed = Feature::amx_bf16;
constexpr double operations_a_round = 8 * 2.0 * 16 * 16 * 32;

// Six tiles of sums, so that each product waits for none before it.
__attribute__((target("amx-tile,amx-bf16"))) void multiply_in_registers() {
  struct alignas(64) {
    std::uint8_t palette = 1;
    std::uint8_t zeros[15] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } shapes;
  asm volatile("ldtilecfg %0\n tilezero %%tmm6\n tilezero %%tmm7" : : "m"(shapes));
  for (std::int64_t i = 0; i < rounds; ++i) {
    asm volatile(
        "tdpbf16ps %tmm6, %tmm7, %tmm0\n tdpbf16ps %tmm6, %tmm7, %tmm1\n tdpbf16ps %tmm6, %tmm7, %tmm2\n"
        "tdpbf16ps %tmm6, %tmm7, %tmm3\n tdpbf16ps %tmm6, %tmm7, %tmm4\n tdpbf16ps %tmm6, %tmm7, %tmm5\n"
        "tdpbf16ps %tmm6, %tmm7, %tmm0\n tdpbf16ps %tmm6, %tmm7, %tmm1");
  }
  asm volatile("tilerelease");
}
#elif defined(__aarch64__)
constexpr Feature needed = Feature::bf16;
constexpr double operations_a_round = 24 * 32.0;

void multiply_in_registers() {
  for (std::int64_t i = 0; i < rounds; ++i) {
    asm volatile(
        ".arch_extension bf16\n"
        ".irp sum, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
        "bfmmla v\\sum\\().4s, v30.8h, v31.8h\n"
        ".endr"
        :
        :
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
          "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30", "v31");
  }
}
#endif

}  // namespace

double bf16_peak_operations(int threads) {
  using Clock = std::chrono::steady_clock;
  const Result<std::unique_ptr<Workers>> workers = Workers::create({.threads = threads});
  if (!workers.ok() || !Machine::detect().features.contains(needed)) return 0;
  double best = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto begin = Clock::now();
    workers.value()->for_chunks(threads, 1, [](std::int64_t, std::int64_t, int) { multiply_in_registers(); });
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, threads * operations_a_round * static_cast<double>(rounds) / seconds);
  }
  return best;
}

}  // namespace ingot
