// How the rows of a cache are read, by their type: where they lie and decoded in registers, or, where a row is not
// whole vectors, through a buffer of floats. Included after hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_ATTENTION_CACHED_TOKEN_READER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_CACHED_TOKEN_READER_INL_H_
#undef INGOT_KERNELS_ATTENTION_CACHED_TOKEN_READER_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_CACHED_TOKEN_READER_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kernels/attention/cached/decode_products_coded.h"
#include "kernels/attention/cached/decode_products_fhm.h"
#include "kernels/attention/cached/decode_quads-inl.h"
#include "kernels/attention/cached/token_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// How the heads of a group lie: [head][number], or four to a vector, [quad][number][4] (decode_quads-inl.h).
enum class HeadOrder : std::uint8_t { rows, quads };
// How rows are multiplied: converted to floats in registers; or f16 by FMLAL; or also codes by SDOT.
enum class ProductWay : std::uint8_t { floats, halves, codes };
// What products take as queries.
enum class QueryKind : std::uint8_t { floats, halves, codes };

struct TokenReader {
  DotTokens* dot;
  MixTokens* mix;
  LoadToken load;  // into the buffer; null: rows are read where they lie
  bool is_coded;   // scales are gathered before
  QueryKind queries = QueryKind::floats;
};

template <class Row>
TokenReader reader_over([[maybe_unused]] HeadOrder order, LoadToken load, bool is_coded) {
#if HWY_TARGET == HWY_NEON
  if (order == HeadOrder::quads) return {dot_quads<RawRow<Row>>, mix_quads<RawRow<Row>>, load, is_coded};
#endif
  return {dot_head_group<Row>, mix_head_group<Row>, load, is_coded};
}

inline TokenReader reader_of(DType dtype, std::int64_t width, HeadOrder order, [[maybe_unused]] ProductWay way) {
  const auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(FloatTag()));
#if HWY_TARGET == HWY_NEON
  if (dtype == DType::q8_0 && way == ProductWay::codes) {
    if (order == HeadOrder::quads) return {dot_quads_coded, mix_quads_coded, nullptr, false, QueryKind::codes};
    return {dot_heads_coded, mix_heads_coded, nullptr, false, QueryKind::codes};
  }
#endif
  if (dtype == DType::q8_0) return reader_over<CodedRow>(order, nullptr, true);  // its blocks are whole vectors
  if (width % lanes != 0) return reader_over<PlainRow<float>>(order, load_of(dtype), false);
#if HWY_TARGET == HWY_NEON
  if (dtype == DType::f16 && way >= ProductWay::halves && width % 8 == 0) {
    if (order == HeadOrder::quads) return {dot_quads_fhm, mix_quads_fhm, nullptr, false, QueryKind::halves};
    return {dot_heads_fhm, mix_heads_fhm, nullptr, false, QueryKind::halves};
  }
#endif
  return dtype == DType::f32 ? reader_over<PlainRow<float>>(order, nullptr, false)
                             : reader_over<PlainRow<Half>>(order, nullptr, false);
}

// The scales of coded rows as floats, many at a time.
inline void gather_scales(TokenRows& rows, float* scales) {
  const auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(FloatTag()));
  Half halves[hwy::HWY_NAMESPACE::MaxLanes(FloatTag())];
  std::int64_t filled = 0;
  float* next = scales;
  auto flush = [&]() HWY_ATTR {
    store_from_float(load_as_float(halves), next);
    next += lanes;
    filled = 0;
  };
  for (std::int64_t t = 0; t < rows.count; ++t) {
    const auto* blocks = reinterpret_cast<const BlockQ8_0*>(rows.row[t]);
    for (std::int64_t b = 0; b < rows.blocks; ++b) {
      std::memcpy(&halves[filled++].bits, &blocks[b].scale, sizeof(Half::bits));
      if (filled == lanes) flush();
    }
  }
  if (filled > 0) flush();
  rows.scales = scales;
}

// Makes rows that were found readable. The buffer holds token_tile rows of `stride` floats, zeros behind a row's width.
inline void decode_tokens(const TokenReader& reader, const ConstCacheView& cache, float* buffer, std::int64_t stride,
                          TokenRows& rows) {
  rows.dimensions = reader.load == nullptr ? cache.width() : stride;
  if (reader.is_coded) {
    rows.blocks = cache.width() / block_of_codes;
    return gather_scales(rows, buffer);
  }
  if (reader.load == nullptr) return;
  for (std::int64_t t = 0; t < rows.count; ++t) {
    reader.load(rows.row[t], buffer + t * stride, cache.width());
    rows.row[t] = reinterpret_cast<const std::byte*>(buffer + t * stride);
  }
  std::fill(rows.row + rows.count, rows.row + TokenRows::most, rows.row[rows.count - 1]);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
