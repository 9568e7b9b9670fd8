// Learned position embedding: a row of a table added to each token.
//
//   y[t,:] = x[t,:] + table[positions[t],:]
//
// C1  x is [tokens, D] and y has its shape; table is [P, D]
// C2  the last axes of x, table and y are packed
// C3  positions is [tokens] with entries in [0, P)
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Learned {
  static constexpr std::string_view name = "position.learned";
  static constexpr std::string_view equation = "y[t,:] = x[t,:] + table[positions[t],:]";
  static constexpr Backward backward = Backward::by("position.learned_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const float> table;
    View<const std::int32_t> positions;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::table, "table"),
                        input(&Arguments::positions, "positions"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Learned>> variants();
  static void cases(CaseList<Learned>& list);
};

void learned_reference(const Learned::Arguments& arguments, Context& context);
extern const SimdEntries<Learned> learned_simd;
extern const Variant<Learned> learned_cuda;

// Its backward. Rows that several tokens share are summed in the order of the tokens; rows of no token are 0.
//
//   dx = dy,  dtable[n,:] = sum over t with positions[t] = n of dy[t,:]
//
// C1  dy is [tokens, D], dx, where given, has its shape; dtable is [P, D]; last axes are packed
// C2  positions is [tokens] with entries in [0, P)
// In place: dx may be dy.
struct LearnedBackward {
  static constexpr std::string_view name = "position.learned_backward";
  static constexpr std::string_view equation = "dx = dy, dtable[n,:] = sum over positions[t] = n of dy[t,:]";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const std::int32_t> positions;
    View<const float> dy;
    View<float> dtable;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::positions, "positions"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dtable, "dtable"), optional_output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LearnedBackward>> variants();
  static void cases(CaseList<LearnedBackward>& list);
};

void learned_backward_reference(const LearnedBackward::Arguments& arguments, Context& context);

}  // namespace ingot
