#include "tensor/view.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tensor/any_view.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

class Views : public testing::Test {
 protected:
  Views() : storage_(24) { std::iota(storage_.begin(), storage_.end(), 0.0f); }
  std::vector<float> storage_;
  View<float> whole_ = View<float>(storage_.data(), {2, 3, 4});
};

TEST_F(Views, ContiguousStridesAreRowMajor) {
  EXPECT_EQ(whole_.strides(), (Strides{12, 4, 1}));
  EXPECT_TRUE(whole_.is_contiguous());
  EXPECT_EQ(whole_(1, 2, 3), 23);
}

TEST_F(Views, TransposeMovesStridesAndNoData) {
  const View<float> turned = whole_.transposed(0, 2).value();
  EXPECT_EQ(turned.shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(turned(3, 2, 1), 23);
  EXPECT_EQ(turned.data(), storage_.data());
  EXPECT_FALSE(turned.is_contiguous());
}

TEST_F(Views, SliceKeepsEveryStepthElement) {
  const View<float> odd = whole_.slice(2, 1, 4, 2).value();
  EXPECT_EQ(odd.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(odd(1, 0, 1), 15);
  EXPECT_EQ(whole_.slice(0, 1, 1).value().count(), 0);
}

TEST_F(Views, BroadcastRepeatsByStrideZero) {
  const View<float> row(storage_.data(), {4});
  const View<float> repeated = row.broadcast_to({3, 4}).value();
  EXPECT_EQ(repeated.strides(), (Strides{0, 1}));
  EXPECT_EQ(repeated(2, 3), 3);
  EXPECT_EQ(row.broadcast_to({3, 5}).error().text(), "expected a shape that repeats to [3, 5], found [4]");
  EXPECT_FALSE(whole_.broadcast_to({4}).ok());
}

TEST_F(Views, ReshapeNeedsContiguityAndTheSameCount) {
  EXPECT_EQ(whole_.reshaped({6, 4}).value()(5, 3), 23);
  EXPECT_EQ(whole_.reshaped({5, 5}).error().text(), "expected 24 elements as in [2, 3, 4], found 25 in [5, 5]");
  EXPECT_FALSE(whole_.transposed(0, 1).value().reshaped({24}).ok());
}

TEST_F(Views, WindowsOverlapWithoutACopy) {
  const View<float> row(storage_.data(), {7});
  const View<float> windows = row.windows(3, 2).value();
  EXPECT_EQ(windows.shape(), (Shape{3, 3}));
  EXPECT_EQ(windows(2, 2), 6);
  EXPECT_EQ(&windows(0, 2), &windows(1, 0));
  EXPECT_FALSE(row.windows(8, 1).ok());
  EXPECT_FALSE(row.windows(0, 1).ok());
}

TEST_F(Views, CheckedConstructionKeepsElementsInside) {
  const std::span<float> storage(storage_);
  EXPECT_TRUE(View<float>::over(storage, {2, 12}).ok());
  EXPECT_EQ(View<float>::over(storage, {5, 5}).error().text(),
            "expected elements within [0, 24), found [0, 25) for shape [5, 5] strides [5, 1]");
  EXPECT_TRUE(View<float>::over(storage, {4}, {-2}, 6).ok());
  EXPECT_FALSE(View<float>::over(storage, {5}, {-2}, 6).ok());
  EXPECT_TRUE(View<float>::over(storage, {0, 1000}).ok());
}

TEST_F(Views, HostileShapesAreRefusedNotWrapped) {
  const std::span<float> storage(storage_);
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(View<float>::over(storage, {huge, huge}).error().code(), ErrorCode::overflow);
  EXPECT_EQ(View<float>::over(storage, {-1}).error().text(), "expected sizes of 0 or more, found shape [-1]");
}

TEST_F(Views, RowsFoldEvenAxesAndFollowUnevenOnes) {
  const Rows packed(whole_);
  EXPECT_EQ(packed.count(), 6);
  EXPECT_EQ(packed[5][3], 23);
  const Rows turned(whole_.transposed(0, 1).value());
  EXPECT_EQ(turned.count(), 6);
  EXPECT_EQ(turned[1][0], 12);  // index (0, 1) of [3, 2, 4]
  EXPECT_EQ(turned[2][0], 4);
}

TEST(AnyView, CountsBlocksInBytes) {
  std::vector<std::byte> bytes(2 * 36);
  const AnyView view(bytes.data(), DType::q4_0, {2, 64});
  EXPECT_EQ(view.byte_strides(), (Strides{36, 18}));
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_TRUE(check_well_formed(view).ok());
  EXPECT_EQ(check_well_formed(AnyView(bytes.data(), DType::q4_0, {2, 33})).error().code(), ErrorCode::invalid_argument);
}

TEST(AnyView, RefusesMisalignedAndNullData) {
  std::vector<float> storage(8);
  auto* bytes = reinterpret_cast<std::byte*>(storage.data());
  EXPECT_TRUE(check_well_formed(AnyView(bytes, DType::f32, {4})).ok());
  EXPECT_FALSE(check_well_formed(AnyView(bytes + 1, DType::f32, {4})).ok());
  EXPECT_FALSE(check_well_formed(AnyView(nullptr, DType::f32, {4})).ok());
  EXPECT_TRUE(check_well_formed(AnyView(nullptr, DType::f32, {0})).ok());
}

}  // namespace
}  // namespace ingot
