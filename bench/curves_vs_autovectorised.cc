// Are the vector kernels worth their lines? Each is timed against the obvious loop as the compiler vectorises it
// (-O3 -ffast-math -march=native, see plain_loops.cc), on one thread, in cache (32 KiB in all) and out of it (1 GiB).
//
// Both sides run in turn, so that a change of the machine's mood hits both; medians and their ratio are printed.
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/plain_loops.h"
#include "bench/timed_pair.h"
#include "kernels/all_operations.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"
#include "machine/memory.h"

using namespace ingot;

namespace {

// One operation with its tensors, bound by field names.
class Kernel {
 public:
  explicit Kernel(const Operation& operation) : operation_(operation), invocation_(operation.empty()) {}

  float* tensor(std::string_view field, const Shape& shape, double low, double high) {
    Result<Memory> memory = Memory::allocate(Bytes(static_cast<std::uint64_t>(element_count(shape)) * sizeof(float)));
    if (!memory.ok()) return nullptr;
    auto* data = reinterpret_cast<float*>(memory.value().data());
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      state = state * 1664525u + 1013904223u;
      data[i] = static_cast<float>(low + (high - low) * state * 0x1p-32);
    }
    memories_.push_back(std::move(memory).value());
    const int index = operation_.field_index(field);
    if (index < 0 || !invocation_->set_tensor(index, AnyView(memories_.back().data(), DType::f32, shape)).ok()) {
      problem_ = "no field " + std::string(field);
    }
    return data;
  }
  void attribute(std::string_view field, const AttributeValue& value) {
    const int index = operation_.field_index(field);
    if (index < 0) {
      problem_ = "no attribute " + std::string(field);
    } else {
      invocation_->set_attribute(index, value);
    }
  }

  bool prepare(const KernelTable& table, Workers& workers) {
    if (!problem_.empty()) return false;
    const Result<void> checked = invocation_->check();
    if (!checked.ok()) problem_ = checked.error().text();
    variant_ = checked.ok() ? table.choose(operation_, *invocation_) : -1;
    if (variant_ >= 0) scratch_.resize(invocation_->scratch_bytes(variant_, workers.count()) + 64);
    return variant_ >= 0;
  }
  void run(Workers& workers) {
    void* aligned = scratch_.data();
    std::size_t space = scratch_.size();
    std::align(64, space - 64 > 0 ? space - 64 : 1, aligned, space);
    Context context{workers, {static_cast<std::byte*>(aligned), space}};
    invocation_->run(variant_, context);
  }
  std::string_view variant() const { return operation_.variants[static_cast<std::size_t>(variant_)].name; }
  const std::string& problem() const { return problem_; }

 private:
  const Operation& operation_;
  std::unique_ptr<Invocation> invocation_;
  std::vector<Memory> memories_;
  std::vector<std::byte> scratch_;
  std::string problem_;
  int variant_ = -1;
};

void compare(const char* name, std::int64_t bytes, Kernel& kernel, Workers& workers,
             const std::function<void()>& plain) {
  const bool in_cache = bytes < (1 << 20);
  const int rounds = in_cache ? 2000 : 1;
  const int repeats = in_cache ? 31 : 9;
  const TimedPair pair = time_in_turn(plain, [&] { kernel.run(workers); }, repeats, rounds);
  const Summary& other = pair.first;
  const Summary& own = pair.second;
  const auto size = static_cast<double>(bytes);
  std::printf(
      "%-10s %-12s %-8s plain %10.2f us %6.1f GB/s   ingot %10.2f us %6.1f GB/s   ratio %5.2f  (spread %.0f%% "
      "%.0f%%)\n",
      name, in_cache ? "in cache" : "out of cache", std::string(kernel.variant()).c_str(), 1e6 * other.median,
      1e-9 * size / other.median, 1e6 * own.median, 1e-9 * size / own.median, other.median / own.median,
      100 * other.spread, 100 * own.spread);
}

using UnaryLoop = void (*)(const float*, float*, std::int64_t);

struct Bench {
  const KernelTable& table;
  Workers& workers;

  template <class Bind>
  void run(const char* name, const char* operation_name, std::int64_t bytes, Bind bind) {
    const Operation* operation = find_operation(operation_name);
    if (operation == nullptr) {
      std::printf("%-10s skipped: no operation %s\n", name, operation_name);
      return;
    }
    Kernel kernel(*operation);
    const std::function<void()> plain_loop = bind(kernel);
    if (!kernel.prepare(table, workers)) {
      std::printf("%-10s skipped: %s\n", name, kernel.problem().c_str());
      return;
    }
    compare(name, bytes, kernel, workers, plain_loop);
  }

  void unary(const char* name, const char* operation_name, std::int64_t bytes, UnaryLoop loop) {
    const std::int64_t count = bytes / 8;
    run(name, operation_name, bytes, [&](Kernel& kernel) -> std::function<void()> {
      const float* x = kernel.tensor("x", {count}, -6, 6);
      float* y = kernel.tensor("y", {count}, 0, 0);
      return [=] { loop(x, y, count); };
    });
  }

  void rows(const char* name, const char* operation_name, std::int64_t bytes, std::int64_t width) {
    const std::int64_t height = bytes / 8 / width;
    const bool has_gamma = std::strcmp(name, "rms_norm") == 0;
    run(name, operation_name, bytes, [&](Kernel& kernel) -> std::function<void()> {
      const float* x = kernel.tensor("x", {height, width}, -6, 6);
      float* y = kernel.tensor("y", {height, width}, 0, 0);
      if (!has_gamma) return [=] { plain::softmax(x, y, height, width); };
      const float* gamma = kernel.tensor("gamma", {width}, 0, 1);
      return [=] { plain::rms_norm(x, gamma, 1e-5f, y, height, width); };
    });
  }

  void adamw(std::int64_t bytes) {
    const std::int64_t count = bytes / 16;
    run("adamw", "optimizer.adamw", bytes, [&](Kernel& kernel) -> std::function<void()> {
      float* parameter = kernel.tensor("parameter", {count}, -1, 1);
      const float* gradient = kernel.tensor("gradient", {count}, -1, 1);
      float* first = kernel.tensor("first_moment", {count}, 0, 0);
      float* second = kernel.tensor("second_moment", {count}, 0, 0);
      const plain::AdamwSettings settings = {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 10};
      return [=] { plain::adamw(parameter, gradient, first, second, count, settings); };
    });
  }
};

}  // namespace

int main() {
  const Machine machine = Machine::detect();
  auto table = KernelTable::select(all_operations(), machine.features);
  auto workers = Workers::create({.threads = 1});
  if (!table.ok() || !workers.ok()) {
    std::fprintf(stderr, "could not start\n");
    return 1;
  }
  Bench bench{table.value(), *workers.value()};
  for (std::int64_t bytes : {std::int64_t{32} << 10, std::int64_t{1} << 30}) {
    bench.unary("silu", "activation.silu", bytes, plain::silu);
    bench.unary("gelu", "activation.gelu", bytes, plain::gelu);
    bench.unary("relu", "activation.relu", bytes, plain::copy);  // against a copy: the most that memory allows
    bench.rows("rms_norm", "norm.rms_norm", bytes, bytes < (1 << 20) ? 1024 : 4096);
    bench.rows("softmax", "attention.softmax", bytes, bytes < (1 << 20) ? 1024 : 4096);
    bench.adamw(bytes);
  }
}
