// Rows of a table chosen by index: the embedding of tokens.
//
//   y[..., j] = table[indices[...], j]
//
// C1  table has shape [V, D] and is of type f32, f16, bf16 or a block format
// C2  indices has rank 0 to 5, is contiguous, and every index is in [0, V)
// C3  y has indices' shape and D behind it
// C4  the last axes of table and y are packed; rows may lie anywhere
// C5  layout is rows, or one that linear.pack makes: then table is of a type and shape that it takes for that layout,
//     and contiguous
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/contract/weight_layout.h"

namespace ingot {

struct GatherRows {
  static constexpr std::string_view name = "layout.gather_rows";
  static constexpr std::string_view equation = "y[..., j] = table[indices[...], j]";
  static constexpr Backward backward = Backward::by("layout.gather_rows_backward");

  struct Arguments {
    ConstAnyView table;
    WeightLayout layout = WeightLayout::rows;
    View<const std::int32_t> indices;
    View<float> y;

    static constexpr auto fields() {
      return field_list(weight(&Arguments::table, "table"), attribute(&Arguments::layout, "layout"),
                        input(&Arguments::indices, "indices"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GatherRows>> variants();
  static void cases(CaseList<GatherRows>& list);
};

void gather_rows_reference(const GatherRows::Arguments& arguments, Context& context);
void gather_rows_threads(const GatherRows::Arguments& arguments, Context& context);
extern const SimdEntries<GatherRows> gather_rows_simd;
extern const Variant<GatherRows> gather_rows_cuda;

// Its backward: a row of the table collects the gradients of every place it went to.
//
//   dtable[v, j] = sum over i with indices[i] = v of dy[i, j]
//
// C1  dtable has shape [V, D]
// C2  indices has rank 0 to 5, is contiguous, and every index is in [0, V)
// C3  dy has indices' shape and D behind it
// C4  the last axes of dy and dtable are packed; rows may lie anywhere
struct GatherRowsBackward {
  static constexpr std::string_view name = "layout.gather_rows_backward";
  static constexpr std::string_view equation = "dtable[v, j] = sum over indices[i] = v of dy[i, j]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const std::int32_t> indices;
    View<const float> dy;
    View<float> dtable;

    static constexpr auto fields() {
      return field_list(input(&Arguments::indices, "indices"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dtable, "dtable"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GatherRowsBackward>> variants();
  static void cases(CaseList<GatherRowsBackward>& list);
};

void gather_rows_backward_reference(const GatherRowsBackward::Arguments& arguments, Context& context);
extern const SimdEntries<GatherRowsBackward> gather_rows_backward_simd;

}  // namespace ingot
