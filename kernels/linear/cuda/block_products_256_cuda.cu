// Products with weights in blocks of 256.
#include "kernels/linear/cuda/block_chain.h"
#include "kernels/linear/cuda/block_products_cuda.h"
#include "kernels/linear/cuda/braid_spans.h"
#include "kernels/linear/cuda/products.h"
#include "kernels/linear/cuda/weight_spans.h"
#include "kernels/linear/cuda/x_spans.h"

// Budget of multiply_few_256: 255 registers, 8 bytes stack, 24 bytes spilled. Codes and scales of a span for two rows,
// 52, x, 16, and 32 sums of x; the compiler takes what there is to unpack formats, and puts six words of iq4_xs away on
// 9.0. Budget of multiply_many_256: 208 registers, 32 KiB shared. Sums of eight tiles besides, 32; their totals are in
// shared memory.
namespace ingot::device {
namespace {

// Of the four elements of a lane in a tile: sums weighed by the groups' integers.
struct Weighed {
  std::int32_t products[4] = {};
  std::int32_t codes[4] = {};
};

struct Blocks256 {
  using Parameters = BlockProducts;

  static INGOT_ON_DEVICE const DeviceProduct& product(const BlockProducts& parameters) { return parameters.product; }

  // Products of 32 elements, or of each 16 of them: the other half of a factor is zero then.
  static INGOT_ON_DEVICE void add_group(const SpanCodes (&codes)[2], const SpanScales256 (&scales)[2], const XCodes& x,
                                        unsigned group, bool sixteens, Weighed& weighed) {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if (half == 1 && !sixteens) break;
      MatrixA a = {
          {codes[0].words[group][0], codes[1].words[group][0], codes[0].words[group][1], codes[1].words[group][1]}};
      if (sixteens) {
        a.words[half == 0 ? 2 : 0] = 0;
        a.words[half == 0 ? 3 : 1] = 0;
      }
      IntegerSums products = {{0, 0, 0, 0}};
      matrix_multiply_16x8x32(products, a, {{x.words[group][0], x.words[group][1]}});
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        weighed.products[i] += products.values[i] * byte_at(scales[i / 2].group_scales, 2 * group + half);
      }
    }
  }

  static INGOT_ON_DEVICE void weigh_codes(const BlockProducts& parameters, const SpanScales256 (&scales)[2],
                                          const TokenTile& tokens, unsigned tile, std::uint32_t spans,
                                          std::uint32_t span, Weighed& weighed) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned token = tile * tile_tokens + lane_index() % 4 * 2 + i;
      if (token >= tokens.count) continue;
      const std::int32_t* const sums = parameters.sums + ((tokens.first + token) * std::uint64_t{spans} + span) * 16;
      INGOT_UNROLL
      for (unsigned group = 0; group < 16; ++group) {
        const std::int32_t sum = sums[group];
        weighed.codes[i] += sum * byte_at(scales[0].group_minimums, group);
        weighed.codes[2 + i] += sum * byte_at(scales[1].group_minimums, group);
      }
    }
  }

  template <unsigned Tiles>
  static INGOT_ON_DEVICE void add_segment(const BlockProducts& parameters, const WarpPlace& place, unsigned segment,
                                          FloatSums (&sums)[Tiles]) {
    const std::uint32_t spans = spans_of(parameters.product.depth);
    const bool sixteens = has_sixteens(parameters.type);
    const bool has_minimums =
        parameters.type != DType::q3_k && parameters.type != DType::q6_k && parameters.type != DType::iq4_xs;
    for (unsigned span = 2 * segment; span < 2 * segment + 2 && span < spans; ++span) {
      SpanCodes codes[2] = {};
      SpanScales256 scales[2] = {};
      INGOT_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const std::byte* const row = place.rows[half];
        if (row == nullptr) {
          // zeros
        } else if (parameters.is_interleaved) {
          load_braid_span(parameters.type,
                          braid_of(parameters, row) + span * std::uint64_t{braid_rows} * parameters.block_bytes,
                          codes[half], scales[half]);
        } else {
          load_span(parameters.type, row + span * std::uint64_t{parameters.block_bytes}, lane_index() % 4, codes[half],
                    scales[half]);
        }
        synchronize_warp();  // or the compiler asks for both rows at once, and has no registers for what it unpacks
      }
      INGOT_UNROLL
      for (unsigned tile = 0; tile < Tiles; ++tile) {
        if (tile * tile_tokens >= place.tokens.count) break;
        const XCodes x = load_codes(parameters, place.tokens, tile, spans, span);
        Weighed weighed;
        INGOT_UNROLL
        for (unsigned group = 0; group < span_groups; ++group) add_group(codes, scales, x, group, sixteens, weighed);
        if (has_minimums) weigh_codes(parameters, scales, place.tokens, tile, spans, span, weighed);
        INGOT_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned token = tile * tile_tokens + lane_index() % 4 * 2 + i % 2;
          if (token >= place.tokens.count) continue;
          const float x_scale = parameters.scales[(place.tokens.first + token) * std::uint64_t{spans} + span];
          const SpanScales256& row = scales[i / 2];
          sums[tile].values[i] = add_block(sums[tile].values[i], weighed.products[i], weighed.codes[i],
                                           {row.scale, -row.minimum}, x_scale);
        }
      }
    }
  }

  static INGOT_ON_DEVICE float finished(const BlockProducts&, unsigned, float sum) { return sum; }
};

// What a thread has of its tiles, over all segments so far: weights take the registers. Precondition: blocks of 256
// threads at most.
struct SharedTotals {
  float (*totals)[256];  // [tile and element][thread]

  INGOT_ON_DEVICE void begin() {
    INGOT_SHARED float of_block[4 * many_tiles][256];
    totals = of_block;
    INGOT_UNROLL
    for (unsigned i = 0; i < 4 * many_tiles; ++i) totals[i][thread_index()] = 0;
  }
  INGOT_ON_DEVICE void add_all(const FloatSums (&sums)[many_tiles]) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4 * many_tiles; ++i) {
      float& total = totals[i][thread_index()];
      total = total + sums[i / 4].values[i % 4];
    }
  }
  INGOT_ON_DEVICE float value(unsigned tile, unsigned i) const { return totals[4 * tile + i][thread_index()]; }
};

}  // namespace

INGOT_DEVICE_FUNCTION(multiply_few_256, BlockProducts, 256) { multiply_few<Blocks256>(parameters); }
INGOT_DEVICE_FUNCTION(multiply_many_256, BlockProducts, 256) { multiply_many<Blocks256, SharedTotals>(parameters); }

}  // namespace ingot::device
