// What a call of a contract costs a program in C++, with its arguments bound by name each time, as bindings do it: for
// bench/python_vs_program, which does the same in Python.
//
// usage: bench_contract_call ROWS COLUMNS CALLS: norm.rms_norm of f32, on one thread; prints the median of the calls'
// CPU time in microseconds.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/contract/table.h"
#include "kernels/norm/rms_norm.h"
#include "machine/machine.h"
#include "machine/workers.h"

namespace ingot {
namespace {

double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

struct Tensors {
  std::vector<float> x, gamma, y;
  std::int64_t rows, columns;
};

Result<void> call(const Operation& operation, const KernelTable& table, Tensors& tensors, Context& context) {
  const auto bytes_of = [](std::vector<float>& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); };
  const std::unique_ptr<Invocation> invocation = operation.empty();
  const auto bind = [&](std::string_view name, std::vector<float>& numbers, const Shape& shape) {
    return invocation->set_tensor(operation.field_index(name), AnyView(bytes_of(numbers), DType::f32, shape));
  };
  TRY(bind("x", tensors.x, {tensors.rows, tensors.columns}));
  TRY(bind("gamma", tensors.gamma, {tensors.columns}));
  TRY(bind("y", tensors.y, {tensors.rows, tensors.columns}));
  invocation->set_attribute(operation.field_index("epsilon"), 1e-6);
  TRY(invocation->check());
  invocation->run(table.choose(operation, *invocation), context);
  return {};
}

Result<void> measure(std::int64_t rows, std::int64_t columns, int calls) {
  const Operation& operation = describe_operation<RmsNorm>();
  const Operation* const operations[] = {&operation};
  const KernelTable table = TRY(KernelTable::select(operations, Machine::detect().features));
  const std::unique_ptr<Workers> workers = TRY(Workers::create({.threads = 1}));
  Context context{*workers, {}};
  const auto count = static_cast<std::size_t>(rows * columns);
  Tensors tensors{std::vector<float>(count, 1.5F), std::vector<float>(static_cast<std::size_t>(columns), 1),
                  std::vector<float>(count), rows, columns};
  std::vector<double> times;
  for (int index = 0; index < calls; ++index) {
    const double begin = cpu_microseconds();
    TRY(call(operation, table, tensors, context));
    times.push_back(cpu_microseconds() - begin);
  }
  std::ranges::sort(times);
  std::printf("%.3f\n", times[times.size() / 2]);
  return {};
}

}  // namespace
}  // namespace ingot

int main(int count, char** arguments) {
  const std::int64_t rows = count == 4 ? std::atoll(arguments[1]) : 0;
  const std::int64_t columns = count == 4 ? std::atoll(arguments[2]) : 0;
  const int calls = count == 4 ? std::atoi(arguments[3]) : 0;
  if (rows < 1 || columns < 1 || calls < 1 || rows > 1 << 20 || columns > 1 << 20) {
    std::fprintf(stderr, "usage: bench_contract_call ROWS COLUMNS CALLS\n");
    return 2;
  }
  const ingot::Result<void> measured = ingot::measure(rows, columns, calls);
  if (measured.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(measured.error().text()).c_str());
  return 1;
}
