// Constraints that the operations on block formats share.
#pragma once

#include "kernels/contract/constraints.h"

namespace ingot {

inline Result<void> require_block_format(std::string_view operation, std::string_view number, std::string_view field,
                                         const ConstAnyView& view) {
  if (!is_block_format(view.dtype())) {
    return violated(operation, number, "expected ", field, " in a block format, found ", view.dtype());
  }
  if (view.rank() < 1 || view.shape().last() % block_elements(view.dtype()) != 0) {
    return violated(operation, number, "expected ", field, " with a last axis of a multiple of ",
                    block_elements(view.dtype()), " for ", view.dtype(), ", found ", view.shape());
  }
  return {};
}

// Every block format, for cases.
inline constexpr DType block_formats[] = {DType::q4_0,   DType::q4_1,   DType::q5_0,    DType::q5_1,  DType::q8_0,
                                          DType::q2_k,   DType::q3_k,   DType::q4_k,    DType::q5_k,  DType::q6_k,
                                          DType::iq4_nl, DType::mxfp4,  DType::iq4_xs,  DType::iq3_s, DType::iq3_xxs,
                                          DType::iq2_s,  DType::iq2_xs, DType::iq2_xxs, DType::iq1_m, DType::iq1_s,
                                          DType::tq2_0,  DType::tq1_0,  DType::nvfp4};

}  // namespace ingot
