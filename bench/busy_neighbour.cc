// How much of its speed does a product keep when another process takes a CPU?
//
//   bench_busy_neighbour [--threads N] [--seconds S]
//
// One row of x times Q8_0 weights beyond the last-level cache, quiet and beside a process that counts for ever, in
// turn, five rounds. Every result is compared with the first, bit for bit. llama.cpp's figure for the same comes from
// bench/engine_vs_llamacpp.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "bench/neighbours.h"
#include "bench/words.h"
#include "kernels/all_operations.h"
#include "kernels/contract/run.h"
#include "kernels/linear/matmul/matmul.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "tensor/block_codec.h"

namespace {

using namespace ingot;

constexpr std::int64_t columns = 4096;
constexpr std::int64_t depth = 4096;

// A process that keeps a CPU busy while it is let run.
class Neighbour {
 public:
  Neighbour() : process_(fork()) {
    if (process_ == 0) {
      for (volatile std::uint64_t count = 0;;) count = count + 1;
    }
    pause();
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  void pause() const { kill(process_, SIGSTOP); }
  void resume() const { kill(process_, SIGCONT); }

 private:
  pid_t process_;
};

class Products {
 public:
  static Result<Products> create(const KernelTable& table, Workers& workers, std::uint64_t cache_bytes) {
    const auto bytes = static_cast<std::uint64_t>(row_bytes(DType::q8_0, depth) * columns);
    const int matrices = static_cast<int>(std::clamp<std::uint64_t>(2 * cache_bytes / bytes, 1, 16));
    Products products(table, workers, matrices);
    products.weights_ = TRY(Memory::allocate(Bytes(bytes * static_cast<std::uint64_t>(matrices))));
    RandomNumbers random(7);
    std::vector<float> row(static_cast<std::size_t>(depth));
    for (float& value : products.x_) value = static_cast<float>(random.normal());
    for (std::int64_t n = 0; n < columns; ++n) {
      for (float& value : row) value = static_cast<float>(random.normal());
      encode_row(DType::q8_0, row.data(), products.weights_.data() + n * row_bytes(DType::q8_0, depth), depth);
    }
    for (int i = 1; i < matrices; ++i) {
      std::memcpy(products.weights_.data() + static_cast<std::uint64_t>(i) * bytes, products.weights_.data(), bytes);
    }
    for (int index : table.available(Matmul::name)) {
      const Variant<Matmul>& variant = Matmul::variants()[static_cast<std::size_t>(index)];
      if (variant.accepts != nullptr && !variant.accepts(products.arguments(0))) continue;
      if (variant.scratch_bytes == nullptr) break;
      products.scratch_ = TRY(Memory::allocate(Bytes(variant.scratch_bytes(products.arguments(0), workers.count()))));
      break;
    }
    TRY(products.multiply(0));
    products.expected_ = products.y_;
    return products;
  }

  // Products a second.
  Result<double> measure(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    double spent = 0;
    int done = 0;
    for (; spent < seconds; ++done) {
      TRY(multiply(done % matrices_));
      if (std::memcmp(y_.data(), expected_.data(), 4 * y_.size()) != 0) {
        return Error::of(ErrorCode::invalid_argument, "expected the same bits from every product, found others");
      }
      spent = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    return done / spent;
  }

 private:
  Products(const KernelTable& table, Workers& workers, int matrices)
      : table_(&table), workers_(&workers), matrices_(matrices), x_(depth), y_(columns) {}

  Matmul::Arguments arguments(int matrix) {
    Matmul::Arguments a;
    a.x = View<const float>(x_.data(), {1, depth});
    a.weights =
        ConstAnyView(weights_.data() + matrix * columns * row_bytes(DType::q8_0, depth), DType::q8_0, {columns, depth});
    a.y = View<float>(y_.data(), {1, columns});
    return a;
  }
  Result<void> multiply(int matrix) {
    Context context{*workers_, scratch_.bytes()};
    return run<Matmul>(*table_, arguments(matrix), context);
  }

  const KernelTable* table_;
  Workers* workers_;
  int matrices_;
  Memory weights_, scratch_;
  std::vector<float> x_, y_, expected_;
};

Result<void> compare(int threads, double seconds) {
  const Machine machine = Machine::detect();
  const Neighbour neighbour;
  const KernelTable table = TRY(KernelTable::select(all_operations(), machine.features));
  const std::unique_ptr<Workers> workers = TRY(Workers::create({.threads = threads}));
  Products products = TRY(Products::create(table, *workers, machine.last_level_cache().count()));
  std::vector<double> quiet, busy, kept;
  for (int round = 0; round < 5; ++round) {
    const double alone = TRY(products.measure(seconds));
    neighbour.resume();
    const Result<double> beside = products.measure(seconds);
    neighbour.pause();
    if (!beside.ok()) return beside.error();
    quiet.push_back(alone);
    busy.push_back(beside.value());
    kept.push_back(beside.value() / alone);
  }
  std::printf("%d threads: %.0f products/s quiet, %.0f beside a busy neighbour: %.0f%% kept [%.0f%%, %.0f%%]\n",
              threads, BusyNeighbours::median(quiet), BusyNeighbours::median(busy), 100 * BusyNeighbours::median(kept),
              100 * *std::ranges::min_element(kept), 100 * *std::ranges::max_element(kept));
  return {};
}

}  // namespace

int main(int count, char** values) {
  int threads = 2;
  double seconds = 1;
  for (Words words(count, values); words.next();) {
    if (words.take("--threads", threads) || words.take("--seconds", seconds)) continue;
    return words.complain("--threads or --seconds");
  }
  const Result<void> done = compare(threads, seconds);
  if (!done.ok()) std::fprintf(stderr, "%s\n", std::string(done.error().text()).c_str());
  return done.ok() ? 0 : 1;
}
