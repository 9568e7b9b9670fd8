#include "kernels/contract/constraints.h"

#include <gtest/gtest.h>

#include <vector>

namespace ingot {
namespace {

struct Matrix {
  std::vector<float> storage = std::vector<float>(256);
  View<float> view(const Shape& shape) { return View<float>(storage.data(), shape); }
};

TEST(MayOverlap, TellsInterleavedColumnsOfOneMatrixApart) {
  Matrix matrix;
  const View<float> whole = matrix.view({8, 16});
  const View<float> left = whole.slice(1, 0, 8).value();
  const View<float> right = whole.slice(1, 8, 16).value();
  const View<float> middle = whole.slice(1, 4, 12).value();
  EXPECT_FALSE(may_overlap(left, right));
  EXPECT_TRUE(may_overlap(left, middle));
  EXPECT_TRUE(may_overlap(whole, right));
}

// Heads of queries and keys in one projection: [sequences, heads, time, dimensions] of rows that hold both.
TEST(MayOverlap, TellsInterleavedHeadsApart) {
  Matrix matrix;
  const View<float> whole = matrix.view({2, 4, 4, 8});  // sequences, time, heads of queries then keys, dimensions
  const View<float> queries = whole.slice(2, 0, 2).value().transposed(1, 2).value();
  const View<float> keys = whole.slice(2, 2, 4).value().transposed(1, 2).value();
  const View<float> between = whole.slice(2, 1, 3).value().transposed(1, 2).value();
  EXPECT_FALSE(may_overlap(queries, keys));
  EXPECT_FALSE(may_overlap(keys, queries));
  EXPECT_TRUE(may_overlap(queries, between));
  EXPECT_TRUE(may_overlap(between, keys));
  EXPECT_FALSE(may_overlap(whole.slice(0, 0, 1).value(), whole.slice(0, 1, 2).value()));
}

TEST(MayOverlap, EmptyAndAbsentViewsOverlapNothing) {
  Matrix matrix;
  EXPECT_FALSE(may_overlap(matrix.view({0, 4}), matrix.view({4})));
  EXPECT_FALSE(may_overlap(View<float>(), matrix.view({4})));
}

TEST(CheckTensors, InPlaceNeedsTheSameElements) {
  Matrix matrix;
  const View<float> x = matrix.view({4, 4});
  const View<float> shifted(matrix.storage.data() + 1, {4, 4});
  const InPlace allowed[] = {{"y", "x"}};
  const BoundTensor same[] = {{"x", Role::input, Presence::required, x}, {"y", Role::output, Presence::required, x}};
  const BoundTensor partial[] = {{"x", Role::input, Presence::required, x},
                                 {"y", Role::output, Presence::required, shifted}};
  EXPECT_TRUE(check_tensors("toy", same, allowed).ok());
  EXPECT_FALSE(check_tensors("toy", same, {}).ok());
  const Result<void> refused = check_tensors("toy", partial, allowed);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), "toy C0: expected y to share no memory with x, found that they overlap");
}

TEST(CheckTensors, ReadTensorsMayShareMemory) {
  Matrix matrix;
  const View<float> x = matrix.view({4});
  const BoundTensor both[] = {{"a", Role::input, Presence::required, x}, {"b", Role::weight, Presence::required, x}};
  EXPECT_TRUE(check_tensors("toy", both, {}).ok());
}

TEST(Require, ErrorsSayConstraintExpectedAndFound) {
  Matrix matrix;
  EXPECT_EQ(require_shape("toy", "C2", "gamma", matrix.view({32}), {64}).error().text(),
            "toy C2: expected gamma of shape [64], found [32]");
  EXPECT_EQ(require_rank("toy", "C1", "x", matrix.view({2, 3}), 3).error().text(),
            "toy C1: expected x of rank 3, found shape [2, 3]");
  EXPECT_EQ(require_dtype("toy", "C3", "x", matrix.view({2}), {DType::f16, DType::q4_0}).error().text(),
            "toy C3: expected x of type f16 or q4_0, found f32");
}

}  // namespace
}  // namespace ingot
