// Shapes that cross every tile edge: one query, lengths around tiles, odd head sizes; every rule alone and together.
#pragma once

#include "kernels/attention/sdpa/sdpa.h"
#include "kernels/attention/softmax/softmax_cases.h"

namespace ingot {

// One attention call, before it is anything's arguments. Sequences lie [B, H, S, D], or [B, S, H, D] seen transposed.
struct SdpaShape {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t dimensions = 1;
  std::int64_t value_dimensions = 1;
  MaskKind mask_kind = MaskKind::full;
  std::int64_t query_offset = 0;
  std::int64_t window = 0;
  float softcap = 0;
  Shape mask = {};  // rank 0: none
  bool alibi = false;
  bool sinks = false;
  bool heads_inside = false;
};

inline View<float> sdpa_tensor(CaseBuilder& builder, const SdpaShape& shape, std::int64_t heads, std::int64_t length,
                               std::int64_t width, bool is_output) {
  auto one = [&](const Shape& sizes) { return is_output ? builder.blank(sizes) : builder.filled(sizes); };
  if (!shape.heads_inside) return one({shape.batches, heads, length, width});
  return one({shape.batches, length, heads, width}).transposed(1, 2).value();
}

inline void fill_sdpa_inputs(CaseBuilder& builder, const SdpaShape& shape, SdpaInputs& a) {
  a.q = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.dimensions, false);
  a.k = sdpa_tensor(builder, shape, shape.key_heads, shape.keys, shape.dimensions, false);
  a.v = sdpa_tensor(builder, shape, shape.key_heads, shape.keys, shape.value_dimensions, false);
  if (shape.mask.rank() > 0) a.mask = mask_with_holes(builder, shape.mask);
  if (shape.alibi) a.alibi_slopes = builder.filled({shape.heads}, Fill::uniform(0.01, 0.5));
  if (shape.sinks) a.sinks = builder.filled({shape.heads}, Fill::uniform(-1, 2));
  a.scale = 1 / std::sqrt(static_cast<float>(shape.dimensions));
  a.mask_kind = shape.mask_kind;
  a.window = shape.window;
  a.softcap = shape.softcap;
  a.query_offset = shape.query_offset;
}

inline auto sdpa_case(const SdpaShape& shape) {
  return [shape](CaseBuilder& builder) {
    SdpaArguments a;
    fill_sdpa_inputs(builder, shape, a);
    a.y = sdpa_tensor(builder, shape, shape.heads, shape.queries, shape.value_dimensions, true);
    a.log_sum_exp = builder.blank({shape.batches, shape.heads, shape.queries});
    return a;
  };
}

// Calls take(name, shape) for every set of rules; used forward and backward.
template <class Take>
void for_each_sdpa_shape(Take&& take) {
  const MaskKind causal = MaskKind::causal;
  const MaskKind full = MaskKind::full;
  take("every rule", SdpaShape{2, 4, 2, 7, 19, 10, 13, causal, 12, 9, 5.0f, {7, 19}, true, true, false});
  take("plain", SdpaShape{2, 3, 3, 5, 11, 16, 16});
  take("one query, one key", SdpaShape{2, 2, 1, 1, 1, 3, 5});
  take("causal prefix, grouped, heads inside",
       SdpaShape{1, 6, 2, 9, 23, 32, 32, causal, 14, 0, 0, {}, false, false, true});
  take("tile edges", SdpaShape{1, 2, 1, 65, 131, 33, 17, causal, 66});
  take("causal, first queries see nothing", SdpaShape{1, 2, 2, 12, 9, 8, 8, causal, -4});
  take("window both ways", SdpaShape{1, 2, 2, 40, 40, 8, 24, full, 0, 7});
  take("window that sees nothing", SdpaShape{1, 1, 1, 3, 8, 4, 4, causal, 20, 5});
  take("softcap", SdpaShape{1, 2, 2, 6, 70, 64, 64, full, 0, 0, 30.0f});
  take("mask per head and key", SdpaShape{2, 3, 1, 4, 18, 8, 8, full, 0, 0, 0, {3, 1, 18}});
  take("mask of one column", SdpaShape{1, 2, 1, 5, 18, 8, 8, full, 0, 0, 0, {5, 1}});
  take("alibi both ways", SdpaShape{1, 4, 4, 9, 17, 8, 8, full, 3, 0, 0, {}, true});
  take("sinks, multi-query", SdpaShape{1, 5, 1, 3, 20, 16, 8, causal, 17, 0, 0, {}, false, true});
  take("no keys, sinks", SdpaShape{1, 2, 2, 3, 0, 8, 8, full, 0, 0, 0, {}, false, true});
  take("no queries", SdpaShape{1, 2, 2, 0, 4, 8, 8});
}

template <class Op>
void list_sdpa_cases(CaseList<Op>& list) {
  for_each_sdpa_shape([&](const char* name, const SdpaShape& shape) { list.parity(name, sdpa_case(shape)); });
  const MaskKind causal = MaskKind::causal;
  list.gradient("plain", sdpa_case({1, 1, 1, 2, 3, 3, 2}));
  list.gradient("grouped, causal, softcap",
                sdpa_case({1, 2, 1, 2, 3, 2, 3, causal, 1, 0, 2.0f, {}, false, false, true}));
  list.gradient("mask, alibi, sinks, window",
                sdpa_case({1, 2, 2, 3, 3, 2, 2, MaskKind::full, 0, 2, 0, {3, 3}, true, true}));
  list.benchmark("prefill 512, 32 heads of 128, 8 key heads", sdpa_case({1, 32, 8, 512, 512, 128, 128, causal}));
  list.benchmark("prefill 2048, 8 heads of 64", sdpa_case({1, 8, 8, 2048, 2048, 64, 64, causal}));
}

inline void Sdpa::cases(CaseList<Sdpa>& list) { list_sdpa_cases(list); }
inline void Streaming::cases(CaseList<Streaming>& list) { list_sdpa_cases(list); }

}  // namespace ingot
