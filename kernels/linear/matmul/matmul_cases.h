// Shapes: single elements, sizes on both sides of every tile (4, 6, 12 rows; 8 to 32 columns; 256 deep), few rows and
// many, nothing to sum, nothing to write; every weight type, with and without a bias.
#pragma once

#include <cstring>
#include <numeric>
#include <string>

#include "kernels/linear/matmul/matmul.h"
#include "tensor/block_scales.h"
#include "tensor/planes.h"

namespace ingot {

struct MatmulCase {
  std::int64_t rows, columns, depth;
  DType type = DType::f32;
  bool with_bias = false;
  WeightLayout layout = WeightLayout::rows;
  bool has_tame_weights = false;
  bool is_coded = false;

  std::string text() const {
    return std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(depth) + " " +
           std::string(name_of(type)) + (with_bias ? " with bias" : "") +
           (layout == WeightLayout::interleaved8 ? " interleaved" : "") +
           (layout == WeightLayout::planes16 ? " in planes" : "") + (has_tame_weights ? " of tame weights" : "") +
           (is_coded ? " of codes" : "");
  }
  // Block formats hold no infinities, and encoding wild numbers proves nothing about products: their weights stay tame.
  // Halves hold neither large nor tiny numbers, so only tame ones show what becomes of an x that is either.
  Fill weight_fill() const { return is_block_format(type) || has_tame_weights ? Fill::uniform(-2, 2) : Fill::values(); }

  // Rows in that layout.
  static ConstAnyView laid(CaseBuilder& builder, WeightLayout layout, const ConstAnyView& rows) {
    if (layout == WeightLayout::rows) return rows;
    const AnyView packed = builder.blank_any(rows.dtype(), rows.shape(), Packing::contiguous);
    const auto lay = layout == WeightLayout::planes16 ? lay_planes : interleave_rows;
    lay(rows, 0, rows.size(0), packed);
    return packed;
  }

  void fill_input(CaseBuilder& builder, ProductInput& input) const {
    input.layout = layout;
    const View<const float> x = builder.filled({rows, depth});
    if (!is_coded) {
      input.x = x;
      return;
    }
    const int block = block_elements(type);
    const auto codes = builder.blank<std::int8_t>({rows, depth});
    const auto scales = builder.blank({rows, depth / block});
    const auto sums = builder.blank<std::int32_t>({rows, depth / code_group});
    for (std::int64_t row = 0; row < rows; ++row) {
      encode_activation_row(&x(row, 0), &codes(row, 0), &scales(row, 0), depth, block);
      for (std::int64_t at = 0; at < depth; at += code_group) {
        sums(row, at / code_group) = std::accumulate(&codes(row, at), &codes(row, at) + code_group, 0);
      }
    }
    input.codes = codes;
    input.scales = scales;
    input.sums = sums;
  }

  Matmul::Arguments operator()(CaseBuilder& builder) const {
    Matmul::Arguments a;
    fill_input(builder, a);
    a.weights = laid(builder, layout, builder.filled_any(type, {columns, depth}, weight_fill()));
    if (with_bias) a.bias = builder.filled({columns});
    a.y = builder.blank({rows, columns});
    return a;
  }
};

// The largest codes on both sides, where narrow integer sums would overflow: rows of weights all lowest, then all
// highest, under scales of one.
struct ExtremeCodesCase {
  std::int64_t rows, columns, depth;
  DType type;
  double x;
  WeightLayout layout = WeightLayout::rows;

  std::string text() const {
    return "extreme " + MatmulCase{rows, columns, depth, type, false, layout}.text() +
           (x < 0 ? " by lowest codes" : "");
  }

  template <class Block>
  static Block extreme_block(bool highest) {
    Block block;
    std::memset(&block, highest ? 0xff : 0, sizeof(block));
    if constexpr (requires { block.exponent; }) {
      block.exponent = 127;
    } else {
      block.scale.set(1);
    }
    if constexpr (requires { block.base; }) block.base.set(-1);
    if constexpr (requires { block.minimum; }) block.minimum.set(1);
    // Signed bytes: all bits set is their -1.
    if constexpr (requires { block.codes; }) std::memset(block.codes, highest ? 127 : -128, sizeof(block.codes));
    if constexpr (std::is_same_v<Block, BlockQ6_K>) std::memset(block.scales, highest ? 127 : -128, 16);
    return block;
  }

  Matmul::Arguments operator()(CaseBuilder& builder) const {
    Matmul::Arguments a;
    a.x = builder.filled({rows, depth}, Fill::constant(x));
    const AnyView weights = builder.blank_any(type, {columns, depth});
    with_block_type(type, [&]<class Block>() {
      for (std::int64_t row = 0; row < columns; ++row) {
        const Block block = extreme_block<Block>(row % 2 != 0);
        for (std::int64_t b = 0; b < depth / Block::elements; ++b) {
          std::memcpy(weights.row(row) + b * static_cast<std::int64_t>(sizeof(block)), &block, sizeof(block));
        }
      }
    });
    a.weights = MatmulCase::laid(builder, layout, weights);
    a.layout = layout;
    a.y = builder.blank({rows, columns});
    return a;
  }
};

inline void Matmul::cases(CaseList<Matmul>& list) {
  auto parity = [&](MatmulCase one) { list.parity(one.text(), one); };
  auto coded = [&](MatmulCase one) {
    one.is_coded = true;
    parity(one);
  };
  // Arguments of the first three are also made wrong.
  parity({3, 5, 7, DType::f32, true});
  coded({5, 7, 256, DType::q4_k, true});
  parity({13, 33, 64, DType::q4_0});
  parity({5, 7, 256, DType::q4_k, true});
  parity({1, 1, 1});
  parity({1, 37, 129, DType::f32, true});
  parity({4, 65, 67});
  parity({5, 31, 16, DType::f32, true});
  parity({12, 32, 33});
  parity({16, 50, 261, DType::f32, true});
  parity({25, 49, 300});
  parity({130, 17, 19, DType::f32, true});
  parity({97, 270, 520});
  parity({7, 9, 0, DType::f32, true});
  parity({0, 9, 8});
  parity({9, 0, 8});
  for (DType type : {DType::f16, DType::bf16}) {
    parity({1, 21, 203, type, true});
    parity({2, 19, 77, type, true});
    parity({3, 13, 5, type});
    parity({4, 9, 64, type, true});
    parity({14, 35, 300, type});
  }
  // Rows that begin at multiples of 16 bytes stream through a device's shared memory.
  for (DType type : {DType::f16, DType::bf16}) {
    parity({1, 35, 72, type, true});
    parity({3, 16, 1096, type});
    parity({8, 18, 4672, type});
    parity({17, 33, 640, type, true});
  }
  // More tokens than go on together: a part of one block, and parts of four whose tiles come in more than one round.
  // Rows 77 deep begin at multiples of 16 bytes where they are padded.
  parity({70, 72, 80, DType::f16, true});
  parity({70, 72, 77, DType::bf16, true});
  parity({131, 139, 208, DType::bf16, true});
  for (std::int64_t rows : {1, 5, 8, 16, 23}) {
    parity({rows, 11, 75, DType::f16, true});
    parity({rows, 11, 75, DType::f16, false, WeightLayout::rows, true});
  }
  // Panels of bf16 numbers: 8 to 32 rows by 12 to 32 columns, 32 deep at a time; 512 to 576 rows by 128 to 192 columns
  // and up to 1024 deep at once.
  parity({5, 1, 3, DType::bf16});
  parity({6, 13, 32, DType::bf16, true});
  parity({33, 129, 1100, DType::bf16, true});
  parity({40, 200, 64, DType::bf16});
  parity({580, 3, 40, DType::bf16});
  parity({17, 5, 0, DType::bf16, true});
  for (DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::iq4_nl, DType::mxfp4}) {
    parity({1, 6, 32, type, true});
    parity({1, 11, 128, type});
    parity({1, 13, 736, type, true});
    parity({2, 9, 256, type});
    parity({3, 11, 352, type});
    parity({4, 8, 96, type, true});
    parity({14, 35, 288, type});
    parity({16, 37, 544, type, true});
    parity({18, 17, 1120, type, true});
    parity({23, 9, 96, type});
  }
  for (DType type : {DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_xs}) {
    parity({1, 5, 256, type, true});
    parity({1, 7, 768, type});
    parity({2, 4, 512, type});
    parity({3, 11, 768, type});
    parity({4, 3, 256, type, true});
    parity({14, 35, 512, type});
    parity({9, 21, 768, type, true});
    parity({18, 17, 1280, type, true});
  }
  // One loop for all: few rows and more than that, an odd number of blocks, codes in the place of x.
  for (DType type : {DType::iq3_s, DType::iq3_xxs, DType::iq2_s, DType::iq2_xs, DType::iq2_xxs, DType::iq1_m,
                     DType::iq1_s, DType::tq2_0, DType::tq1_0, DType::nvfp4}) {
    const std::int64_t block = block_elements(type);
    parity({1, 5, block, type, true});
    parity({3, 4, 3 * block, type});
    parity({9, 7, 3 * block, type, true});
    coded({2, 3, 3 * block, type, true});
    coded({6, 5, block, type});
  }
  for (DType type : interleaved_types) {
    constexpr WeightLayout layout = WeightLayout::interleaved8;
    const std::int64_t block = block_elements(type);
    parity({1, 8, block, type, true, layout});
    parity({1, 24, 3 * block, type, false, layout});
    parity({1, 1032, block == 32 ? 352 : 768, type, true, layout});
    parity({1, 16, 0, type, true, layout});
    parity({2, 16, 2 * block, type, false, layout});
    parity({3, 1032, 2 * block, type, true, layout});
    parity({2, 24, 5 * block, type, true, layout});
    parity({3, 8, block, type, false, layout});
    parity({4, 8, 2 * block, type, true, layout});
    parity({4, 24, 3 * block, type, false, layout});
    parity({5, 8, block, type, true, layout});
    parity({6, 24, 3 * block, type, false, layout});
    parity({7, 24, 7 * block, type, true, layout});
    parity({8, 40, 1280, type, false, layout});
    parity({13, 8, 5 * block, type, true, layout});
    parity({10, 272, 3 * block, type, true, layout});
    parity({14, 40, 5 * block, type, true, layout});
    parity({16, 16, 2 * block, type, false, layout});
    parity({17, 16, 2 * block, type, true, layout});
    parity({18, 24, 1280, type, true, layout});
    parity({31, 8, 3 * block, type, true, layout});
    parity({2, 8, 0, type, true, layout});
    parity({0, 8, block, type, false, layout});
    parity({3, 0, block, type, false, layout});
  }
  for (DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::iq4_nl, DType::mxfp4,
                     DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_xs}) {
    const std::int64_t block = block_elements(type);
    coded({1, 33, 3 * block, type, true});
    coded({3, 11, 2 * block, type});
    coded({13, 9, block, type});
    coded({20, 19, 3 * block, type, true});
  }
  coded({2, 5, 0, DType::q8_0, true});
  coded({0, 5, 32, DType::q4_1});
  for (DType type : interleaved_types) {
    for (const std::int64_t rows : {1, 3, 7, 18}) {
      coded({rows, 48, 512, type, rows == 1, WeightLayout::interleaved8});
    }
  }
  // Planes: one segment of 512 and a half, several, and more than a block's warps share; one token, a tile, more.
  for (DType type : plane_types) {
    constexpr WeightLayout layout = WeightLayout::planes16;
    parity({1, 16, 256, type, true, layout});
    parity({1, 48, 768, type, false, layout});
    parity({1, 16, 4608, type, true, layout});
    parity({2, 32, 512, type, true, layout});
    parity({7, 16, 1280, type, false, layout});
    parity({8, 32, 256, type, true, layout});
    parity({13, 16, 512, type, false, layout});
    parity({21, 32, 768, type, true, layout});
    parity({66, 144, 256, type, false, layout});
    parity({2, 16, 0, type, true, layout});
    parity({0, 16, 256, type, false, layout});
    parity({3, 0, 256, type, false, layout});
    for (const std::int64_t rows : {1, 3, 18}) coded({rows, 48, 512, type, rows == 1, layout});
    for (const std::int64_t rows : {1, 3, 17}) {
      const ExtremeCodesCase one{rows, 16, 512, type, rows == 3 ? -1.0 : 1.0, layout};
      list.parity(one.text(), one);
    }
  }
  for (DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::iq4_nl, DType::mxfp4,
                     DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_xs}) {
    for (const ExtremeCodesCase& one : {ExtremeCodesCase{3, 4, 256, type, 1}, ExtremeCodesCase{6, 3, 512, type, -1}}) {
      list.parity(one.text(), one);
    }
  }
  for (DType type : interleaved_types) {
    for (const std::int64_t rows : {1, 3, 6}) {
      const ExtremeCodesCase one{rows, 16, 512, type, rows == 3 ? -1.0 : 1.0, WeightLayout::interleaved8};
      list.parity(one.text(), one);
    }
  }
  parity({530, 3, 32, DType::q8_0});
  parity({530, 3, 256, DType::q4_k});
  list.gradient("3 x 4 x 5", MatmulCase{3, 4, 5, DType::f32, true});
  auto benchmark = [&](MatmulCase one) { list.benchmark(one.text(), one); };
  benchmark({512, 512, 512});
  benchmark({128, 2048, 2048});
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_k, DType::q6_k}) {
    benchmark({1, 4096, 4096, type});
  }
  for (DType type : {DType::q4_1, DType::q8_0}) benchmark({1, 1536, 576, type});
  for (DType type : {DType::q4_0, DType::q8_0}) benchmark({1, 576, 1536, type});
  for (DType type : interleaved_types) {
    for (std::int64_t rows : {1, 4, 8}) benchmark({rows, 4096, 4096, type, false, WeightLayout::interleaved8});
    benchmark({1, 576, 1536, type, false, WeightLayout::interleaved8});
  }
  for (DType type : {DType::bf16, DType::q4_0, DType::q8_0, DType::q4_k, DType::q6_k}) {
    benchmark({512, 1024, 2048, type});
  }
}

}  // namespace ingot
