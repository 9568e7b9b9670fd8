// Products with weights in blocks of 32.
#include "kernels/linear/cuda/block_chain.h"
#include "kernels/linear/cuda/block_products_cuda.h"
#include "kernels/linear/cuda/braid_spans.h"
#include "kernels/linear/cuda/products.h"
#include "kernels/linear/cuda/weight_spans.h"
#include "kernels/linear/cuda/x_spans.h"

// Budget of multiply_few_32: 168 registers. Codes and scales of a span for two rows, 48, and x, 32; formats unpack
// beside. Budget of multiply_many_32: 240 registers. And sums and totals of eight tiles, 64.
namespace ingot::device {
namespace {

struct Blocks32 {
  using Parameters = BlockProducts;

  static INGOT_ON_DEVICE const DeviceProduct& product(const BlockProducts& parameters) { return parameters.product; }

  struct XScales {
    float scales[2][span_groups];
    std::int32_t sums[2][span_groups];
  };

  // Of tokens 2 t and 2 t + 1 of a tile.
  static INGOT_ON_DEVICE XScales load_scales(const BlockProducts& parameters, const TokenTile& tokens, unsigned tile,
                                             std::uint32_t spans, std::uint32_t span, bool has_bases) {
    XScales x = {};
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned token = tile * tile_tokens + lane_index() % 4 * 2 + i;
      if (token >= tokens.count) continue;
      const std::uint64_t place = (tokens.first + token) * std::uint64_t{spans} + span;
      load_floats(x.scales[i], parameters.scales + place * span_groups);
      if (has_bases) load_pair_sums(x.sums[i], parameters.sums + place * 16);
    }
    return x;
  }

  template <unsigned Tiles>
  static INGOT_ON_DEVICE void add_segment(const BlockProducts& parameters, const WarpPlace& place, unsigned segment,
                                          FloatSums (&sums)[Tiles]) {
    const std::uint32_t depth = parameters.product.depth;
    const std::uint32_t spans = spans_of(depth);
    const bool has_bases = parameters.type == DType::q4_1 || parameters.type == DType::q5_1;
    for (unsigned span = 2 * segment; span < 2 * segment + 2 && span < spans; ++span) {
      const unsigned left = (depth - span * span_elements) / 32;
      const unsigned groups = left < span_groups ? left : span_groups;
      SpanCodes codes[2];
      SpanScales32 scales[2];
      INGOT_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const std::byte* const row = place.rows[half];
        // A row that is not there has no groups, and nothing is counted from it.
        const unsigned there = row == nullptr ? 0 : groups;
        const std::uint64_t before = row == nullptr ? 0 : span * std::uint64_t{span_groups} * parameters.block_bytes;
        if (parameters.is_interleaved) {
          load_braid_span(parameters.type, braid_of(parameters, row) + before * braid_rows, there, codes[half],
                          scales[half]);
        } else {
          load_span(parameters.type, row + before, there, lane_index() % 4, codes[half], scales[half]);
        }
      }
      INGOT_UNROLL
      for (unsigned tile = 0; tile < Tiles; ++tile) {
        if (tile * tile_tokens >= place.tokens.count) break;
        const XCodes x = load_codes(parameters, place.tokens, tile, spans, span);
        const XScales x_scales = load_scales(parameters, place.tokens, tile, spans, span, has_bases);
        INGOT_UNROLL
        for (unsigned group = 0; group < span_groups; ++group) {
          if (group >= groups) break;
          IntegerSums products = {{0, 0, 0, 0}};
          matrix_multiply_16x8x32(products,
                                  {{codes[0].words[group][0], codes[1].words[group][0], codes[0].words[group][1],
                                    codes[1].words[group][1]}},
                                  {{x.words[group][0], x.words[group][1]}});
          INGOT_UNROLL
          for (unsigned i = 0; i < 4; ++i) {
            const SpanScales32& row = scales[i / 2];
            sums[tile].values[i] = add_block(sums[tile].values[i], products.values[i], x_scales.sums[i % 2][group],
                                             {row.scales[group], row.bases[group]}, x_scales.scales[i % 2][group]);
          }
        }
      }
    }
  }

  static INGOT_ON_DEVICE float finished(const BlockProducts&, unsigned, float sum) { return sum; }
};

}  // namespace

INGOT_DEVICE_FUNCTION(multiply_few_32, BlockProducts, 256) { multiply_few<Blocks32>(parameters); }
INGOT_DEVICE_FUNCTION(multiply_many_32, BlockProducts, 256) { multiply_many<Blocks32>(parameters); }

}  // namespace ingot::device
