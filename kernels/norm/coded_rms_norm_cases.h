// Widths of one block and of several, with and without a residual, and sum in the residual's place as an engine has it.
#pragma once

#include <string>

#include "kernels/norm/coded_rms_norm.h"
#include "tensor/block_codes.h"

namespace ingot {

inline void CodedRmsNorm::cases(CaseList<CodedRmsNorm>& list) {
  auto build = [](Shape shape, std::int32_t block, bool with_residual) {
    return [shape, block, with_residual](CaseBuilder& builder) {
      auto with_last = [&](std::int64_t last) {
        Shape changed = shape;
        changed[shape.rank() - 1] = last;
        return changed;
      };
      Arguments a;
      a.x = builder.filled(shape);
      a.gamma = builder.filled({shape.last()}, Fill::uniform(-2, 2));
      a.block = block;
      if (with_residual) {
        a.residual = builder.filled(shape);
        a.sum = builder.blank(shape);
      }
      a.codes = builder.blank<std::int8_t>(shape);
      a.scales = builder.blank(with_last(shape.last() / block));
      a.sums = builder.blank<std::int32_t>(with_last(shape.last() / code_group));
      return a;
    };
  };
  for (const bool with_residual : {false, true}) {
    const std::string tail = with_residual ? " with residual" : "";
    for (std::int64_t width : {32, 96, 576, 2144}) {
      list.parity("3 x " + std::to_string(width) + " in blocks of 32" + tail, build({3, width}, 32, with_residual));
    }
    for (std::int64_t width : {256, 768, 8448}) {
      list.parity("3 x " + std::to_string(width) + " in blocks of 256" + tail, build({3, width}, 256, with_residual));
    }
    list.parity("one row of rank 1" + tail, build({64}, 32, with_residual));
    list.parity("rank 4, many rows" + tail, build({2, 3, 20, 32}, 32, with_residual));
    list.parity("no rows" + tail, build({0, 32}, 32, with_residual));
  }
  list.parity("in the residual's place", [build](CaseBuilder& builder) {
    Arguments a = build({5, 64}, 32, false)(builder);
    const View<float> residual = builder.filled({5, 64});
    a.residual = residual;
    a.sum = residual;
    return a;
  });
  list.benchmark("1 x 4096", build({1, 4096}, 32, true));
  list.benchmark("512 x 4096", build({512, 4096}, 32, true));
}

}  // namespace ingot
