// Do the simplest kernels run at the speed of memory? Each is timed on one thread, on data beyond the last-level cache,
// against a copy with the same mix of reads and writes: one stream in and one out (relu, rms_norm, rope), or two in and
// one out (add). The copy uses plain vector loads and stores; memcpy, which may write around the caches, is shown
// beside.
#include <cstdio>
#include <cstring>

#include "bench/timed_pair.h"
#include "kernels/all_operations.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"
#include "machine/memory.h"

using namespace ingot;

namespace {

using Vector __attribute__((vector_size(64), aligned(4), may_alias)) = float;

// One stream in, one out.
void copy(const float* x, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i + 16 <= count; i += 16) {
    *reinterpret_cast<Vector*>(y + i) = *reinterpret_cast<const Vector*>(x + i);
  }
}

// Two streams in, one out: the second is read and folded into the first by the cheapest operation there is.
void copy_two(const float* a, const float* b, float* y, std::int64_t count) {
  using Bits __attribute__((vector_size(64), aligned(4), may_alias)) = std::int32_t;
  for (std::int64_t i = 0; i + 16 <= count; i += 16) {
    *reinterpret_cast<Bits*>(y + i) = *reinterpret_cast<const Bits*>(a + i) | *reinterpret_cast<const Bits*>(b + i);
  }
}

struct Bench {
  const KernelTable& table;
  Workers& workers;
  std::int64_t count;  // floats a stream
  float* first;
  float* second;
  float* out;

  // Binds fields by name, and times the selected variant against the copy.
  template <class Bind, class Copy>
  void run(const char* operation_name, int streams, Bind bind, Copy copy_loop) {
    const Operation* operation = find_operation(operation_name);
    if (operation == nullptr) {
      std::printf("%-22s skipped: no such operation\n", operation_name);
      return;
    }
    const std::unique_ptr<Invocation> invocation = operation->empty();
    bind(*operation, *invocation);
    const Result<void> checked = invocation->check();
    if (!checked.ok()) {
      std::printf("%-22s skipped: %s\n", operation_name, std::string(checked.error().text()).c_str());
      return;
    }
    const int variant = table.choose(*operation, *invocation);
    Result<Memory> scratch = Memory::allocate(Bytes(invocation->scratch_bytes(variant, 1) + 64));
    Context context{workers, scratch.value().bytes()};
    const TimedPair pair = time_in_turn(copy_loop, [&] { invocation->run(variant, context); }, 9, 1);
    const double bytes = static_cast<double>(streams) * static_cast<double>(count) * sizeof(float);
    std::printf("%-22s %-8s copy %5.1f GB/s   ingot %5.1f GB/s   %3.0f%% of the copy  (spread %.0f%% %.0f%%)\n",
                operation_name, std::string(operation->variants[static_cast<std::size_t>(variant)].name).c_str(),
                1e-9 * bytes / pair.first.median, 1e-9 * bytes / pair.second.median, 100 * pair.ratio(),
                100 * pair.first.spread, 100 * pair.second.spread);
  }
};

void set(const Operation& operation, Invocation& invocation, const char* field, const AnyView& view) {
  const Result<void> result = invocation.set_tensor(operation.field_index(field), view);
  if (!result.ok()) std::printf("%s\n", std::string(result.error().text()).c_str());
}

}  // namespace

int main() {
  const Machine machine = Machine::detect();
  const auto table = KernelTable::select(all_operations(), machine.features);
  const auto workers = Workers::create({.threads = 1});
  // Three streams, each twice the last-level cache (at least 256 MiB, at most 1 GiB).
  const std::uint64_t wanted = 2 * machine.last_level_cache().count();
  const std::uint64_t bytes =
      std::min<std::uint64_t>(std::max<std::uint64_t>(wanted, 256u << 20), 1u << 30) & ~std::uint64_t{0xffff};
  const std::uint64_t all_streams = 3 * bytes;
  Result<Memory> memory = Memory::allocate(Bytes(all_streams));
  if (!table.ok() || !workers.ok() || !memory.ok()) {
    std::fprintf(stderr, "could not start: expected %llu bytes of memory\n",
                 static_cast<unsigned long long>(all_streams));
    return 1;
  }
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
  auto* base = reinterpret_cast<float*>(memory.value().data());
  Bench bench{table.value(), *workers.value(), count, base, base + count, base + 2 * count};
  for (std::int64_t i = 0; i < 2 * count; ++i) base[i] = static_cast<float>(i % 997) - 500.0f;
  std::memset(static_cast<void*>(bench.out), 0, bytes);

  const TimedPair copies = time_in_turn([&] { copy(bench.first, bench.out, count); },
                                        [&] { std::memcpy(bench.out, bench.first, bytes); }, 9, 1);
  std::printf("streams of %llu MiB; vector copy %.1f GB/s, memcpy %.1f GB/s\n",
              static_cast<unsigned long long>(bytes >> 20), 2e-9 * static_cast<double>(bytes) / copies.first.median,
              2e-9 * static_cast<double>(bytes) / copies.second.median);

  const auto one_in_one_out = [&] { copy(bench.first, bench.out, count); };
  bench.run(
      "elementwise.add", 3,
      [&](const Operation& operation, Invocation& invocation) {
        set(operation, invocation, "a", AnyView(View<float>(bench.first, {count})));
        set(operation, invocation, "b", AnyView(View<float>(bench.second, {count})));
        set(operation, invocation, "y", AnyView(View<float>(bench.out, {count})));
      },
      [&] { copy_two(bench.first, bench.second, bench.out, count); });
  bench.run(
      "activation.relu", 2,
      [&](const Operation& operation, Invocation& invocation) {
        set(operation, invocation, "x", AnyView(View<float>(bench.first, {count})));
        set(operation, invocation, "y", AnyView(View<float>(bench.out, {count})));
      },
      one_in_one_out);
  constexpr std::int64_t width = 4096;
  std::vector<float> gamma(width, 1.5f);
  bench.run(
      "norm.rms_norm", 2,
      [&](const Operation& operation, Invocation& invocation) {
        set(operation, invocation, "x", AnyView(View<float>(bench.first, {count / width, width})));
        set(operation, invocation, "gamma", AnyView(View<float>(gamma.data(), {width})));
        set(operation, invocation, "y", AnyView(View<float>(bench.out, {count / width, width})));
      },
      one_in_one_out);
  const std::int64_t tokens = count / width;
  std::vector<std::int32_t> positions(static_cast<std::size_t>(tokens));
  for (std::size_t token = 0; token < positions.size(); ++token) positions[token] = static_cast<std::int32_t>(token);
  bench.run(
      "position.rope", 2,
      [&](const Operation& operation, Invocation& invocation) {
        set(operation, invocation, "x", AnyView(View<float>(bench.first, {tokens, 32, 128})));
        set(operation, invocation, "positions", AnyView(View<std::int32_t>(positions.data(), {tokens})));
        set(operation, invocation, "y", AnyView(View<float>(bench.out, {tokens, 32, 128})));
        const int rotary = operation.field_index("rotary_dimensions");
        if (rotary >= 0) invocation.set_attribute(rotary, std::int64_t{128});
      },
      one_in_one_out);
}
