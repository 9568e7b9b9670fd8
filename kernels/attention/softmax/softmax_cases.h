// Shapes around every vector length; masks with -infinity in them, rows that see nothing, sinks; in place.
#pragma once

#include <limits>

#include "kernels/attention/softmax/softmax.h"

namespace ingot {

// A mask as attention has it: biases, and here and there -infinity.
inline View<float> mask_with_holes(CaseBuilder& builder, const Shape& shape) {
  const View<float> mask = builder.filled(shape, Fill::uniform(-2, 2));
  if (mask.empty()) return mask;
  for (std::int64_t index = 0; index < mask.count(); index += 3) {
    std::int64_t offset = 0;
    std::int64_t rest = index;
    for (int axis = mask.rank() - 1; axis >= 0; --axis) {
      offset += rest % mask.size(axis) * mask.stride(axis);
      rest /= mask.size(axis);
    }
    mask.data()[offset] = -std::numeric_limits<float>::infinity();
  }
  return mask;
}

inline void Softmax::cases(CaseList<Softmax>& list) {
  struct Options {
    Shape shape;
    Shape mask;  // rank 0: none
    Shape sinks;
    MaskKind mask_kind = MaskKind::full;
    std::int64_t query_offset = 0;
  };
  auto made = [](Options options, bool in_place = false) {
    return [options, in_place](CaseBuilder& builder) {
      Arguments a;
      const View<float> x = builder.filled(options.shape);
      a.x = x;
      if (options.mask.rank() > 0) a.mask = mask_with_holes(builder, options.mask);
      if (options.sinks.rank() > 0) a.sinks = builder.filled(options.sinks, Fill::uniform(-1, 2));
      a.scale = options.mask.rank() > 0 ? 0.5f : 1.0f;
      a.mask_kind = options.mask_kind;
      a.query_offset = options.query_offset;
      a.y = in_place ? x : builder.blank(options.shape);
      a.log_sum_exp = builder.blank(shape_of_rows(options.shape), Packing::contiguous);
      return a;
    };
  };
  list.parity("scores with mask, sinks, causal", made({{2, 3, 5, 19}, {5, 19}, {3, 1}, MaskKind::causal, 14}));
  for (std::int64_t width : {1, 3, 7, 16, 33, 67, 129, 1000, 1301, 8206}) {
    list.parity("rows 3 width " + std::to_string(width), made({{3, width}, {}, {}}));
  }
  for (const Shape shape : {Shape{2, 2052}, Shape{2, 5000}, Shape{2, 13000}, Shape{1, 40000}, Shape{1, 41000}}) {
    list.parity("long rows of " + std::to_string(shape.last()), made({shape, {}, {}}));
  }
  list.parity("one row of rank 1", made({{65}, {}, {}}));
  list.parity("causal, first rows see nothing", made({{2, 9, 9}, {}, {}, MaskKind::causal, -3}));
  list.parity("causal prefix", made({{2, 4, 21}, {}, {}, MaskKind::causal, 17}));
  list.parity("mask of one column", made({{4, 35}, {4, 1}, {}}));
  list.parity("mask per key", made({{2, 3, 35}, {35}, {}}));
  list.parity("a sink per row", made({{3, 34}, {}, {3}}));
  list.parity("no rows", made({{0, 8}, {}, {}}));
  list.parity("no columns", made({{3, 0}, {}, {3}}));
  list.parity("in place", made({{5, 37}, {}, {}}, true));
  list.gradient("2 x 5", made({{2, 5}, {}, {}}));
  list.gradient("mask, sinks, causal", made({{2, 2, 3}, {2, 3}, {2, 1}, MaskKind::causal, 1}));
  list.benchmark("4096 x 1024", made({{4096, 1024}, {}, {}}));
  list.benchmark("32 x 512 x 512 causal", made({{32, 512, 512}, {}, {}, MaskKind::causal}));
  list.benchmark("65536 x 1024", made({{65536, 1024}, {}, {}}));
  list.benchmark("16384 x 4096", made({{16384, 4096}, {}, {}}));
  list.benchmark("2048 x 32768", made({{2048, 32768}, {}, {}}));
}

inline void SoftmaxBackward::cases(CaseList<SoftmaxBackward>& list) {
  auto made = [](Shape shape, Shape sinks, bool in_place = false) {
    return [shape, sinks, in_place](CaseBuilder& builder) {
      Arguments a;
      a.y = builder.filled(shape, Fill::uniform(0, 1));
      const View<float> dy = builder.filled(shape);
      a.dy = dy;
      a.scale = 0.7f;
      a.dx = in_place ? dy : builder.blank(shape);
      if (sinks.rank() > 0) {
        a.sinks = builder.filled(sinks, Fill::uniform(-1, 1));
        a.log_sum_exp = builder.filled(shape_of_rows(shape), Fill::uniform(1, 2), Packing::contiguous);
        a.dsinks = builder.blank(sinks);
      }
      return a;
    };
  };
  list.parity("with sinks", made({2, 3, 4, 21}, {3, 1}));
  for (std::int64_t width : {1, 3, 16, 33, 129}) {
    list.parity("rows 3 width " + std::to_string(width), made({3, width}, {}));
  }
  list.parity("many rows with a sink each", made({40, 24}, {40}));
  list.parity("no rows", made({0, 8}, {}));
  list.parity("no columns", made({4, 0}, {4}));
  list.parity("in place", made({5, 37}, {}, true));
  list.benchmark("4096 x 1024", made({4096, 1024}, {}));
}

}  // namespace ingot
