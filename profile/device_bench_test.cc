// Timing on a device that the host plays: no figure means anything, but all that leads to one is there.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "kernels/contract/describe.h"
#include "machine/gpu/emulated/device.h"
#include "machine/gpu/emulated/thread.h"
#include "profile/benchmark.h"
#include "profile/device_peaks.h"

namespace ingot {
namespace {

struct DoubleThem {
  const float* x;
  float* y;
  std::int64_t count;
  float factor;
};

void double_on_device(const void* parameters) {
  const auto& told = *static_cast<const DoubleThem*>(parameters);
  const std::int64_t index =
      std::int64_t{emulated::position.block[0]} * emulated::position.threads + emulated::position.thread;
  if (index < told.count) told.y[index] = told.factor * told.x[index];
}

const DeviceModule toy_module = {"toy_cuda", nullptr, nullptr};
const DeviceFunction double_function = {&toy_module, "double_them", double_on_device};

// y = 2 x, by a row that is right and by one that is not.
struct Twice {
  static constexpr std::string_view name = "toy.twice";
  static constexpr std::string_view equation = "y[i] = 2 x[i]";
  static constexpr Backward backward = Backward::none("a toy");
  static constexpr std::array in_place = {InPlace{"y", "x"}};
  struct Arguments {
    View<const float> x;
    View<float> y;
    static constexpr auto fields() { return field_list(input(&Arguments::x, "x"), output(&Arguments::y, "y")); }
  };
  static Result<void> check(const Arguments& a) {
    TRY(require_contiguous(name, "C1", "x", a.x));
    return require_shape(name, "C2", "y", a.y, a.x.shape());
  }
  static Cost cost(const Arguments& a) {
    const auto bytes = 4 * static_cast<double>(a.x.count());
    return {.operations = bytes / 4, .bytes_read = bytes, .bytes_written = bytes};
  }
  static Tolerance tolerance(const Arguments&) { return Tolerance::exact("a product with 2"); }
  static std::span<const Variant<Twice>> variants();
  static void cases(CaseList<Twice>& list) {
    list.parity("5", [](CaseBuilder& builder) { return Arguments{builder.filled({5}), builder.blank({5})}; });
    list.benchmark("70", [](CaseBuilder& builder) { return Arguments{builder.filled({70}), builder.blank({70})}; });
    list.benchmark("9 in place", [](CaseBuilder& builder) {
      const View<float> x = builder.filled({9});
      return Arguments{x, x};
    });
  }
};

template <int Factor>
void on_device(const Twice::Arguments& a, Context& context) {
  context.queue->launch(double_function, {.blocks = static_cast<std::uint32_t>((a.x.count() + 31) / 32)},
                        DoubleThem{a.x.data(), a.y.data(), a.x.count(), Factor});
}

std::span<const Variant<Twice>> Twice::variants() {
  static const Variant<Twice> table[] = {
      {.name = "cuda", .needs = {Feature::sm_80}, .run = on_device<2>, .device_function = &double_function},
      {.name = "thrice", .needs = {Feature::sm_80}, .run = on_device<3>, .device_function = &double_function},
      {"reference",
       {},
       [](const Arguments& a, Context&) {
         for (std::int64_t i = 0; i < a.x.count(); ++i) a.y.data()[i] = 2 * a.x.data()[i];
       }},
  };
  return table;
}

class DeviceBenchTest : public ::testing::Test {
 protected:
  const Operation& operation_ = describe_operation<Twice>();
  std::unique_ptr<EmulatedDevice> device_ = EmulatedDevice::create().value();
  std::unique_ptr<Queue> queue_ = device_->make_queue().value();
};

TEST_F(DeviceBenchTest, CopiesAreUsedInTurnAndHoldWhatTheOriginalHolds) {
  CaseBuilder builder(1, Regime::ordinary, LayoutStyle::packed, 0);
  const auto original = operation_.build(1, builder);
  DeviceCopies copies = std::move(DeviceCopies::make(*device_, *queue_, operation_, *original, 100)).value();
  ASSERT_EQ(copies.count(), 2u);
  EXPECT_EQ(copies.scratch().size(), 100u);
  const Invocation& first = copies.next();
  const Invocation& second = copies.next();
  EXPECT_EQ(&copies.next(), &first);
  EXPECT_NE(first.tensor(0).data(), second.tensor(0).data());
  for (const Invocation* copy : {&first, &second}) {
    EXPECT_FALSE(copy->tensor(0).place().is_host());
    EXPECT_NE(copy->tensor(0).data(), copy->tensor(1).data());
    EXPECT_EQ(std::memcmp(copy->tensor(0).data(), original->tensor(0).data(), 70 * sizeof(float)), 0);
  }
}

TEST_F(DeviceBenchTest, TensorsThatAreOneAreOneInACopy) {
  CaseBuilder builder(1, Regime::ordinary, LayoutStyle::packed, 0);
  const auto original = operation_.build(2, builder);
  DeviceCopies copies = std::move(DeviceCopies::make(*device_, *queue_, operation_, *original, 0)).value();
  const Invocation& copy = copies.next();
  EXPECT_EQ(copy.tensor(0).data(), copy.tensor(1).data());
}

TEST_F(DeviceBenchTest, AClockTimesWhatWasRecordedAndTellsAFailure) {
  DeviceClock clock = std::move(DeviceClock::create(*device_, *queue_)).value();
  const DeviceMemory numbers = std::move(device_->allocate(8)).value();
  const float one[2] = {1, 1};
  queue_->copy_in(numbers.data(), reinterpret_cast<const std::byte*>(one), sizeof(one));
  auto* x = reinterpret_cast<float*>(numbers.data());
  const auto recorded = clock.record([&] { queue_->launch(double_function, {}, DoubleThem{x, x, 2, 2}); });
  ASSERT_TRUE(recorded.ok()) << recorded.error().text();
  EXPECT_EQ(x[0], 1);
  for (int turn = 0; turn < 3; ++turn) {
    const auto seconds = clock.seconds_of(*recorded.value());
    ASSERT_TRUE(seconds.ok());
    EXPECT_GE(seconds.value(), 0);
  }
  EXPECT_EQ(x[1], 8);
  ASSERT_TRUE(clock.hold(1).ok());
  const auto wrong = clock.record([&] { queue_->fill(numbers.data(), 0, 9); });
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(clock.seconds_of(*wrong.value()).ok());
}

TEST_F(DeviceBenchTest, RowsAreTimedOnceTheyAreProved) {
  const Operation* const operations[] = {&operation_};
  const KernelTable table =
      std::move(KernelTable::select(operations, Processor::device(device_->information().features, true))).value();
  DeviceClock clock = std::move(DeviceClock::create(*device_, *queue_)).value();
  const Peaks peaks{.read_bytes_per_second = 1e9, .write_bytes_per_second = 1e9, .copy_bytes_per_second = 2e9};
  Benchmark benchmark = std::move(Benchmark::create(clock, table, peaks, {.quick = true})).value();
  const std::vector<BenchmarkRow> quick = benchmark.run(operation_);
  ASSERT_EQ(quick.size(), 1u);  // the selected one
  EXPECT_EQ(quick[0].failure, "");
  EXPECT_EQ(quick[0].variant, "cuda");
  EXPECT_EQ(quick[0].copies, 2u);
  EXPECT_FALSE(quick[0].samples.empty());
  EXPECT_GT(quick[0].summary.median, 0);
  EXPECT_DOUBLE_EQ(quick[0].copy_percent, 100 * (560 / quick[0].summary.median) / 2);
  EXPECT_DOUBLE_EQ(quick[0].roofline_percent, 100 * 560 / quick[0].summary.median);
  EXPECT_EQ(quick[0].over_reference.speedup, 0);

  Benchmark of_one = std::move(Benchmark::create(clock, table, peaks, {.quick = true, .variant = "thrice"})).value();
  const std::vector<BenchmarkRow> wrong = of_one.run(operation_);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_TRUE(wrong[0].failure.starts_with("parity: ")) << wrong[0].failure;
  EXPECT_TRUE(wrong[0].samples.empty());
}

TEST_F(DeviceBenchTest, EveryPeakIsMeasured) {
  const auto measured = measure_device_peaks(*device_, *queue_);
  ASSERT_TRUE(measured.ok()) << measured.error().text();
  const DevicePeaks& peaks = measured.value();
  for (const double rate :
       {peaks.rates.read_bytes_per_second, peaks.rates.write_bytes_per_second, peaks.rates.copy_bytes_per_second,
        peaks.rates.cache_read_bytes_per_second, peaks.rates.fma_flops, peaks.rates.bf16_flops, peaks.rates.f16_flops,
        peaks.rates.int8_matrix_operations, peaks.upload_bytes_per_second, peaks.launch_seconds}) {
    EXPECT_GT(rate, 0);
  }
}

}  // namespace

}  // namespace ingot
