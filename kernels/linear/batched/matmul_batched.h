// A batch of products of two activations, each read as it lies or transposed.
//
//   y[i,m,n] = sum_k op(a)[i,m,k] op(b)[i,k,n]
//
// op(a) is a itself, or a with its last two axes swapped where transpose_a says so; op(b) likewise. A batch axis of
// size 1 is shared by all. Transposes may also be given as strides: a and b may have any strides on any axis.
//
// C1  a and b have rank 3, op(a) being [I or 1, M, K] and op(b) [I or 1, K, N]
// C2  y has shape [I, M, N] and packed rows, I being the larger of the two batch sizes, or 0 where one of them is 0
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct MatmulBatched {
  static constexpr std::string_view name = "linear.matmul_batched";
  static constexpr std::string_view equation = "y[i,m,n] = sum_k op(a)[i,m,k] op(b)[i,k,n]";
  static constexpr Backward backward = Backward::by("linear.matmul_batched_backward");

  struct Arguments {
    View<const float> a;
    View<const float> b;
    bool transpose_a = false;
    bool transpose_b = false;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::a, "a"), input(&Arguments::b, "b"),
                        attribute(&Arguments::transpose_a, "transpose_a"),
                        attribute(&Arguments::transpose_b, "transpose_b"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulBatched>> variants();
  static void cases(CaseList<MatmulBatched>& list);
};

// Its backward. Where a batch axis was shared, its gradient is the sum over the batch.
//
//   d op(a)[i,m,k] = sum_n dy[i,m,n] op(b)[i,k,n]
//   d op(b)[i,k,n] = sum_m op(a)[i,m,k] dy[i,m,n]
//
// C1  a and b have rank 3, op(a) being [I or 1, M, K] and op(b) [I or 1, K, N]
// C2  dy has shape [I, M, N], any strides
// C3  da, where given, has a's shape, db b's; both have packed rows
struct MatmulBatchedBackward {
  static constexpr std::string_view name = "linear.matmul_batched_backward";
  static constexpr std::string_view equation =
      "d op(a)[i,m,k] = sum_n dy[i,m,n] op(b)[i,k,n], d op(b)[i,k,n] = sum_m op(a)[i,m,k] dy[i,m,n]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> a;
    View<const float> b;
    bool transpose_a = false;
    bool transpose_b = false;
    View<const float> dy;
    View<float> da;
    View<float> db;

    static constexpr auto fields() {
      return field_list(input(&Arguments::a, "a"), input(&Arguments::b, "b"),
                        attribute(&Arguments::transpose_a, "transpose_a"),
                        attribute(&Arguments::transpose_b, "transpose_b"), input(&Arguments::dy, "dy"),
                        optional_output(&Arguments::da, "da"), optional_output(&Arguments::db, "db"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<MatmulBatchedBackward>> variants();
  static void cases(CaseList<MatmulBatchedBackward>& list);
};

Variant<MatmulBatched> matmul_batched_cuda();
void matmul_batched_reference(const MatmulBatched::Arguments& arguments, Context& context);
void matmul_batched_backward_reference(const MatmulBatchedBackward::Arguments& arguments, Context& context);

// A batched operand after its transpose flag: sizes and element strides of op(a), with a batch stride of 0 where the
// batch is shared.
template <class Element>
View<Element> with_transpose(const View<Element>& view, bool transpose) {
  Shape shape = view.shape();
  Strides strides = view.strides();
  if (transpose) {
    std::swap(shape[1], shape[2]);
    std::swap(strides[1], strides[2]);
  }
  if (shape[0] == 1) strides[0] = 0;
  return View<Element>(view.data(), shape, strides, view.place());
}

}  // namespace ingot
