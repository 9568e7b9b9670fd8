#include "profile/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ingot {
namespace {

constexpr Peaks peaks{.read_bytes_per_second = 1e10,
                      .write_bytes_per_second = 1e10,
                      .cache_read_bytes_per_second = 1e11,
                      .fma_flops = 1e11,
                      .int8_dot_operations = 2e11,
                      .int8_matrix_operations = 4e11,
                      .bf16_flops = 2e11,
                      .threads = 1};

constexpr Bytes no_cache(0);

// An operation of two tensors that it reads and one that it writes, of any types.
class Three final : public Invocation {
 public:
  explicit Three(std::initializer_list<DType> dtypes) { std::copy(dtypes.begin(), dtypes.end(), dtypes_); }

  Result<void> check() const override { return {}; }
  Cost cost() const override { return {}; }
  Tolerance tolerance() const override { return {}; }
  bool accepts(int) const override { return true; }
  bool accepts_alone(int) const override { return true; }
  std::size_t scratch_bytes(int, int) const override { return 0; }
  void run(int, Context&) const override {}
  ConstAnyView tensor(int field) const override { return ConstAnyView(bytes_, dtypes_[field], Shape{256}); }
  Result<void> set_tensor(int, const AnyView&) override { return {}; }
  AttributeValue attribute(int) const override { return false; }
  void set_attribute(int, const AttributeValue&) override {}
  std::unique_ptr<Invocation> clone() const override { return std::make_unique<Three>(*this); }

 private:
  DType dtypes_[3];
  std::byte bytes_[1024] = {};
};

Arithmetic arithmetic_of(std::initializer_list<DType> dtypes) {
  Operation operation;
  operation.fields = {{"x", Role::input, Presence::required, true},
                      {"weights", Role::weight, Presence::required, true},
                      {"y", Role::output, Presence::required, true}};
  return ingot::arithmetic_of(operation, Three(dtypes));
}

TEST(Roofline, WhatIsReadSaysWhatCanBeComputedWith) {
  EXPECT_EQ(arithmetic_of({DType::f32, DType::f32, DType::f32}), Arithmetic::f32);
  EXPECT_EQ(arithmetic_of({DType::f32, DType::f16, DType::f32}), Arithmetic::f16);
  EXPECT_EQ(arithmetic_of({DType::bf16, DType::f16, DType::f32}), Arithmetic::bf16);
  EXPECT_EQ(arithmetic_of({DType::f32, DType::bf16, DType::f32}), Arithmetic::bf16);
  EXPECT_EQ(arithmetic_of({DType::bf16, DType::i8, DType::f32}), Arithmetic::int8);
  for (const DTypeInformation& format : dtype_table) {
    if (format.block_elements == 1) continue;
    EXPECT_EQ(arithmetic_of({DType::f32, format.dtype, DType::f32}), Arithmetic::int8) << format.name;
    EXPECT_EQ(arithmetic_of({DType::f32, DType::f32, format.dtype}), Arithmetic::f32)
        << "only written: " << format.name;
  }
}

TEST(Roofline, IsTheFastestInstructionForTheNumbers) {
  const Cost cost{.operations = 4e11, .bytes_read = 1, .bytes_written = 1};
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::f32, peaks, no_cache).least_seconds, 4);
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::bf16, peaks, no_cache).least_seconds, 2);
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::int8, peaks, no_cache).least_seconds, 1);
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::f16, peaks, no_cache).least_seconds, 4);
  Peaks of_device = peaks;
  of_device.f16_flops = 8e11;
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::f16, of_device, no_cache).least_seconds, 0.5);
  // Emulated or old machines multiply bytes slower than floats; then a variant may widen them.
  Peaks slow_bytes = peaks;
  slow_bytes.int8_dot_operations = slow_bytes.int8_matrix_operations = slow_bytes.bf16_flops = 1e10;
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::int8, slow_bytes, no_cache).least_seconds, 4);
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::bf16, slow_bytes, no_cache).least_seconds, 4);
}

TEST(Roofline, MovementIsTheRoofWhereItTakesLonger) {
  const Cost cost{.operations = 1e10, .bytes_read = 1e10, .bytes_written = 1e10};
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::int8, peaks, no_cache).least_seconds, 2);
  EXPECT_EQ(roofline_of(cost, Arithmetic::int8, peaks, no_cache).roof, Roof::memory);
  EXPECT_DOUBLE_EQ(roofline_of(cost, Arithmetic::int8, peaks, Bytes(40'000'000'000)).least_seconds, 0.2);
  EXPECT_EQ(roofline_of(cost, Arithmetic::int8, peaks, Bytes(40'000'000'000)).roof, Roof::cache);
}

}  // namespace
}  // namespace ingot
