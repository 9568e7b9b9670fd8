// Are the vector kernels worth their lines? Each is timed against the obvious loop as the compiler vectorises it
// (-O3 -ffast-math, see plain_loops.cc), on one thread, in cache (32 KiB in all) and out of it (1 GiB).
#include <cstdio>
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

  // A new tensor of uniform random numbers.
  float* tensor(std::string_view field, const Shape& shape, double low, double high) {
    Result<Memory> memory = Memory::allocate(Bytes(static_cast<std::uint64_t>(element_count(shape)) * sizeof(float)));
    if (!memory.ok()) {
      problem_ = memory.error().text();
      return nullptr;
    }
    auto* data = reinterpret_cast<float*>(memory.value().data());
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      state = state * 1664525u + 1013904223u;
      data[i] = static_cast<float>(low + (high - low) * state * 0x1p-32);
    }
    const int index = operation_.field_index(field);
    const AnyView view(memory.value().data(), DType::f32, shape);
    if (index < 0 || !invocation_->set_tensor(index, view).ok()) problem_ = "no tensor " + std::string(field);
    memories_.push_back(std::move(memory).value());
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

  // Checks, and chooses the variant that this machine would run. False: see problem().
  bool prepare(const KernelTable& table, Workers& workers) {
    if (!problem_.empty()) return false;
    const Result<void> checked = invocation_->check();
    if (!checked.ok()) problem_ = checked.error().text();
    variant_ = checked.ok() ? table.choose(operation_, *invocation_) : -1;
    if (variant_ < 0) return false;
    Result<Memory> scratch = Memory::allocate(Bytes(invocation_->scratch_bytes(variant_, workers.count()) + 64));
    if (!scratch.ok()) return false;
    scratch_ = std::move(scratch).value();
    return true;
  }
  void run(Workers& workers) {
    Context context{workers, scratch_.bytes()};
    invocation_->run(variant_, context);
  }

  std::string variant() const { return std::string(operation_.variants[static_cast<std::size_t>(variant_)].name); }
  const std::string& problem() const { return problem_; }

 private:
  const Operation& operation_;
  std::unique_ptr<Invocation> invocation_;
  std::vector<Memory> memories_;
  Memory scratch_;
  std::string problem_;
  int variant_ = -1;
};

using PlainLoop = std::function<void()>;

struct Bench {
  const KernelTable& table;
  Workers& workers;
  std::int64_t bytes;  // of all tensors together

  bool in_cache() const { return bytes <= 32 << 10; }

  // bind fills the kernel's fields and returns the plain loop over the same memory.
  template <class Bind>
  void compare(const char* operation_name, Bind bind) const {
    const Operation* operation = find_operation(operation_name);
    if (operation == nullptr) {
      std::printf("%-20s skipped: no such operation\n", operation_name);
      return;
    }
    Kernel kernel(*operation);
    const PlainLoop plain_loop = bind(kernel);
    if (!kernel.prepare(table, workers)) {
      std::printf("%-20s skipped: %s\n", operation_name, kernel.problem().c_str());
      return;
    }
    const TimedPair times =
        time_in_turn(plain_loop, [&] { kernel.run(workers); }, in_cache() ? 41 : 9, in_cache() ? 1000 : 1);
    const auto size = static_cast<double>(bytes);
    std::printf("%-20s %-12s plain %10.2f us %6.1f GB/s   %-8s %10.2f us %6.1f GB/s   %.2fx (wobble %.0f%%, %.0f%%)\n",
                operation_name, in_cache() ? "in cache" : "out of cache", 1e6 * times.first.median,
                1e-9 * size / times.first.median, kernel.variant().c_str(), 1e6 * times.second.median,
                1e-9 * size / times.second.median, times.ratio(), 100 * times.first.spread, 100 * times.second.spread);
  }

  void unary(const char* operation_name, void (*loop)(const float*, float*, std::int64_t)) const {
    const std::int64_t count = bytes / 8;
    compare(operation_name, [&](Kernel& kernel) -> PlainLoop {
      const float* x = kernel.tensor("x", {count}, -6, 6);
      float* y = kernel.tensor("y", {count}, 0, 0);
      return [=] { loop(x, y, count); };
    });
  }

  void softmax() const {
    const std::int64_t width = in_cache() ? 1024 : 4096;
    const std::int64_t rows = bytes / 8 / width;
    compare("attention.softmax", [&](Kernel& kernel) -> PlainLoop {
      const float* x = kernel.tensor("x", {rows, width}, -6, 6);
      float* y = kernel.tensor("y", {rows, width}, 0, 0);
      return [=] { plain::softmax(x, y, rows, width); };
    });
  }

  void adamw() const {
    const std::int64_t count = bytes / 16;
    compare("optimizer.adamw", [&](Kernel& kernel) -> PlainLoop {
      float* parameters = kernel.tensor("parameters", {count}, -1, 1);
      const float* gradient = kernel.tensor("gradient", {count}, -1, 1);
      float* first_moment = kernel.tensor("first_moment", {count}, 0, 1);
      float* second_moment = kernel.tensor("second_moment", {count}, 0.5, 1);
      kernel.attribute("step", std::int64_t{10});
      kernel.attribute("weight_decay", 0.01);
      const plain::AdamwSettings settings = {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 10};
      return [=] { plain::adamw(parameters, gradient, first_moment, second_moment, count, settings); };
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
  for (const std::int64_t bytes : {std::int64_t{32} << 10, std::int64_t{1} << 30}) {
    const Bench bench{table.value(), *workers.value(), bytes};
    bench.unary("activation.silu", plain::silu);
    bench.unary("activation.gelu", plain::gelu);
    bench.softmax();
    bench.adamw();
  }
}
