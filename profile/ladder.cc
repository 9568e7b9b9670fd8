#include "profile/ladder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "kernels/linear/matmul/matmul.h"
#include "machine/memory.h"
#include "profile/compare.h"
#include "profile/roofline.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

enum class Bound : std::uint8_t { additions, memory, arithmetic, integers };

struct RungPlan {
  std::string_view name;
  std::string_view builds_on;
  std::string_view reason;
  std::string_view variant;  // how its name begins; empty: whatever the table chooses
  DType weights;
  bool is_threaded;
  bool takes_one_row;  // as many products as x has rows
  Bound bound;
};

constexpr RungPlan plans[] = {
    {"scalar", "", "the sum as the formula writes it: every addition waits for the one before", "reference", DType::f32,
     false, false, Bound::additions},
    {"gemv", "scalar", "vectors multiply 4 to 16 numbers at once, but every row of x reads all weights again", "dot_",
     DType::f32, false, true, Bound::memory},
    {"blocked", "scalar", "blocks of x and W stay in the cache and are used many times; still a number at a time",
     "blocked", DType::f32, false, false, Bound::additions},
    {"simd", "blocked", "both: packed panels, and a tile of sums in registers, so that a load serves many products",
     "packed_", DType::f32, false, false, Bound::arithmetic},
    {"threads", "simd", "columns are dealt out to all cores; they share nothing but what they read", "threaded_",
     DType::f32, true, false, Bound::arithmetic},
    {"quantized", "threads",
     "weights and activations as 8-bit codes: a quarter of the bytes, four products where one was", "", DType::q8_0,
     true, false, Bound::integers},
};

double nanoseconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count();
}

struct Product {
  Memory x, weights, codes, y;
  LadderShape shape;

  static Result<Product> create(const LadderShape& shape) {
    const auto floats = [](std::int64_t count) { return Memory::allocate(Bytes(static_cast<std::size_t>(4 * count))); };
    Product product{TRY(floats(shape.rows * shape.depth)), TRY(floats(shape.columns * shape.depth)),
                    TRY(floats(shape.columns * shape.depth)), TRY(floats(shape.rows * shape.columns)), shape};
    RandomNumbers random(1);
    for (const Memory* memory : {&product.x, &product.weights}) {
      auto* numbers = reinterpret_cast<float*>(memory->data());
      for (std::size_t i = 0; i < memory->size() / sizeof(float); ++i) {
        numbers[i] = static_cast<float>(random.normal());
      }
    }
    encode_row(DType::q8_0, reinterpret_cast<const float*>(product.weights.data()), product.codes.data(),
               shape.columns * shape.depth);
    return product;
  }

  Matmul::Arguments arguments(DType dtype, std::int64_t begin, std::int64_t end) const {
    const std::byte* stored = dtype == DType::f32 ? weights.data() : codes.data();
    Matmul::Arguments product;
    product.x =
        View<const float>(reinterpret_cast<const float*>(x.data()) + begin * shape.depth, {end - begin, shape.depth});
    product.weights = ConstAnyView(stored, dtype, {shape.columns, shape.depth});
    product.y = View<float>(reinterpret_cast<float*>(y.data()) + begin * shape.columns, {end - begin, shape.columns});
    return product;
  }
};

const Variant<Matmul>* find_variant(FeatureSet features, std::string_view prefix, const Matmul::Arguments& arguments) {
  for (const Variant<Matmul>& variant : Matmul::variants()) {
    if (variant.run == nullptr || !features.contains_all(variant.needs)) continue;
    if (variant.accepts != nullptr && !variant.accepts(arguments)) continue;
    if (variant.name.starts_with(prefix)) return &variant;
  }
  return nullptr;
}

class Climber {
 public:
  Climber(FeatureSet features, const LadderPeaks& peaks, Product product, std::unique_ptr<Workers> one,
          std::unique_ptr<Workers> all)
      : features_(features), peaks_(peaks), product_(std::move(product)), one_(std::move(one)), all_(std::move(all)) {}

  Result<LadderRung> climb(const RungPlan& plan) {
    Workers& workers = plan.is_threaded ? *all_ : *one_;
    const std::int64_t rows = product_.shape.rows;
    const std::int64_t step = plan.takes_one_row ? 1 : rows;
    const Variant<Matmul>* variant = find_variant(features_, plan.variant, product_.arguments(plan.weights, 0, step));
    if (variant == nullptr) {
      return Error::of(ErrorCode::not_found, "ladder: expected a variant of linear.matmul for the rung ", plan.name,
                       ", found none that this machine can run");
    }
    const Matmul::Arguments first = product_.arguments(plan.weights, 0, step);
    const std::size_t scratch_bytes =
        variant->scratch_bytes != nullptr ? variant->scratch_bytes(first, workers.count()) : 0;
    const Memory scratch = TRY(Memory::allocate(Bytes(scratch_bytes)));
    Context context{workers, scratch.bytes()};
    const auto run = [&] {
      for (std::int64_t row = 0; row < rows; row += step) {
        variant->run(product_.arguments(plan.weights, row, row + step), context);
      }
    };
    run();
    TRY(compare_with_reference(plan));
    LadderRung rung{.name = plan.name,
                    .builds_on = plan.builds_on,
                    .reason = plan.reason,
                    .variant = std::string(variant->name),
                    .weights = name_of(plan.weights),
                    .threads = workers.count(),
                    .weight_reads = static_cast<double>(rows / step)};
    rung.nanoseconds = time(run);
    const Matmul::Arguments whole = product_.arguments(plan.weights, 0, rows);
    rung.gflops = Matmul::cost(whole).operations / rung.nanoseconds.median;
    hold_against_roof(plan, rung);
    return rung;
  }

 private:
  // Against the reference with the same weights.
  Result<void> compare_with_reference(const RungPlan& plan) {
    const Matmul::Arguments found = product_.arguments(plan.weights, 0, product_.shape.rows);
    const Memory memory = TRY(Memory::allocate(Bytes(static_cast<std::size_t>(4 * found.y.count()))));
    Matmul::Arguments expected = found;
    expected.y = View<float>(reinterpret_cast<float*>(memory.data()), found.y.shape());
    Context context{*one_, {}};
    matmul_reference(expected, context);
    const Comparison comparison = compare_outputs(expected.y, found.y, Matmul::tolerance(found));
    if (comparison.within_tolerance) return {};
    return Error::of(ErrorCode::corrupt, "ladder: expected the product of the reference on rung ", plan.name,
                     ", found ", comparison.mismatch);
  }

  template <class Run>
  Summary time(const Run& run) {
    constexpr double enough = 3e8;  // nanoseconds of all samples
    std::vector<double> samples;
    double total = 0;
    while (samples.size() < 3 || (total < enough && samples.size() < 200)) {
      const double begin = nanoseconds_now();
      run();
      samples.push_back(nanoseconds_now() - begin);
      total += samples.back();
    }
    return summarise(samples);
  }

  void hold_against_roof(const RungPlan& plan, LadderRung& rung) const {
    const Peaks& peaks = plan.is_threaded ? peaks_.all_threads : peaks_.one_thread;
    switch (plan.bound) {
      case Bound::additions: return;
      case Bound::memory:
        rung.roof = "reading weights from memory";
        rung.share_of_roof = rung.weight_reads * static_cast<double>(product_.weights.size()) /
                             rung.nanoseconds.median / (peaks.read_bytes_per_second * 1e-9);
        return;
      case Bound::arithmetic:
        rung.roof = "float multiply-adds";
        rung.share_of_roof = rung.gflops / (peaks.fma_flops * 1e-9);
        return;
      case Bound::integers:
        rung.roof = "8-bit products";
        rung.share_of_roof = rung.gflops / (peak_operations(Arithmetic::int8, peaks) * 1e-9);
        return;
    }
  }

  FeatureSet features_;
  const LadderPeaks& peaks_;
  Product product_;
  std::unique_ptr<Workers> one_;
  std::unique_ptr<Workers> all_;
};

}  // namespace

Result<std::vector<LadderRung>> climb_ladder(const Machine& machine, const LadderPeaks& peaks, int threads,
                                             const LadderShape& shape,
                                             const std::function<void(std::string_view)>& begin) {
  Climber climber(machine.features, peaks, TRY(Product::create(shape)), TRY(Workers::create({.threads = 1})),
                  TRY(Workers::create({.threads = threads})));
  std::vector<LadderRung> rungs;
  for (const RungPlan& plan : plans) {
    if (begin) begin(plan.name);
    rungs.push_back(TRY(climber.climb(plan)));
    const auto below = std::ranges::find(rungs, plan.builds_on, &LadderRung::name);
    if (below != rungs.end()) rungs.back().gain = below->nanoseconds.median / rungs.back().nanoseconds.median;
  }
  return rungs;
}

}  // namespace ingot
