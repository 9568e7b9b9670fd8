// The fixed sinusoidal position table, produced or added. With angle = positions[t] base^(-2i/D):
//
//   y[t,a] = x[t,a] + sin(angle),  y[t,b] = x[t,b] + cos(angle)      for each pair (a, b) of D elements, by style
//
// x may be left out: then it counts as 0, and y is the table.
//
// C1  y is [tokens, D], D even; x, where given, has its shape
// C2  positions is [tokens]
// C3  base is finite and positive; style is half_split (sines first) or interleaved
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/position/rotation.h"

namespace ingot {

struct Sinusoidal {
  static constexpr std::string_view name = "position.sinusoidal";
  static constexpr std::string_view equation =
      "y[t,2i] = x + sin(p_t base^(-2i/D)), y[t,2i+1] = x + cos(p_t base^(-2i/D))";
  static constexpr Backward backward = Backward::none("a constant is added: the gradient of x is dy itself");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const std::int32_t> positions;
    float base = 10000;
    PairStyle style = PairStyle::interleaved;
    View<float> y;

    static constexpr auto fields() {
      return field_list(optional_input(&Arguments::x, "x"), input(&Arguments::positions, "positions"),
                        attribute(&Arguments::base, "base"), attribute(&Arguments::style, "style"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Sinusoidal>> variants();
  static void cases(CaseList<Sinusoidal>& list);
};

void sinusoidal_reference(const Sinusoidal::Arguments& arguments, Context& context);
extern const Variant<Sinusoidal> sinusoidal_cuda;

}  // namespace ingot
