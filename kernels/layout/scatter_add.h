// Rows added into a table at given indices; rows with the same index add up, in the order they are listed.
//
//   y[v, j] = base[v, j] + sum over i with indices[i] = v of x[i, j]
//
// C1  y has shape [V, D]; base, where given, too (without it, it counts as zero)
// C2  indices has rank 0 to 5, is contiguous, and every index is in [0, V)
// C3  x has indices' shape and D behind it
// C4  the last axes of x, base and y are packed; rows may lie anywhere
// In place: y may be base.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct ScatterAdd {
  static constexpr std::string_view name = "layout.scatter_add";
  static constexpr std::string_view equation = "y[v, j] = base[v, j] + sum over indices[i] = v of x[i, j]";
  static constexpr Backward backward = Backward::by("layout.scatter_add_backward");
  static constexpr std::array in_place = {InPlace{"y", "base"}};

  struct Arguments {
    View<const float> base;
    View<const float> x;
    View<const std::int32_t> indices;
    View<float> y;

    static constexpr auto fields() {
      return field_list(optional_input(&Arguments::base, "base"), input(&Arguments::x, "x"),
                        input(&Arguments::indices, "indices"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ScatterAdd>> variants();
  static void cases(CaseList<ScatterAdd>& list);
};

void scatter_add_reference(const ScatterAdd::Arguments& arguments, Context& context);
extern const SimdEntries<ScatterAdd> scatter_add_simd;
extern const Variant<ScatterAdd> scatter_add_cuda;

// The sum itself, in double, for both references that need it: see the equation above. base may be left out.
void add_rows_reference(const View<const float>& base, const View<const float>& x,
                        const View<const std::int32_t>& indices, const View<float>& y);

// Its backward: dx[i, j] = dy[indices[i], j], dbase = dy
//
// C1  dy has shape [V, D]; dbase, where given, too
// C2  indices has rank 0 to 5, is contiguous, and every index is in [0, V)
// C3  dx has indices' shape and D behind it
// C4  the last axes of dy, dx and dbase are packed; rows may lie anywhere
// In place: dbase may be dy.
struct ScatterAddBackward {
  static constexpr std::string_view name = "layout.scatter_add_backward";
  static constexpr std::string_view equation = "dx[i, j] = dy[indices[i], j], dbase = dy";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dbase", "dy"}};

  struct Arguments {
    View<const std::int32_t> indices;
    View<const float> dy;
    View<float> dx;
    View<float> dbase;

    static constexpr auto fields() {
      return field_list(input(&Arguments::indices, "indices"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dx, "dx"), optional_output(&Arguments::dbase, "dbase"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ScatterAddBackward>> variants();
  static void cases(CaseList<ScatterAddBackward>& list);
};

void scatter_add_backward_reference(const ScatterAddBackward::Arguments& arguments, Context& context);
extern const SimdEntries<ScatterAddBackward> scatter_add_backward_simd;

}  // namespace ingot
