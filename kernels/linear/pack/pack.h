// Weights into an execution layout and back: what a plan does once so that products need not do it every time.
//
//   linear.pack    packed = interleaved8(rows)      (tensor/interleaved.h)
//   linear.unpack  rows = interleaved8^-1(packed)
//
// C1  rows is [N, K] of type q4_0, q8_0, q5_0, q4_k or q6_k, N a multiple of 8, with packed rows
// C2  packed has the type and shape of rows, and is contiguous
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Pack {
  static constexpr std::string_view name = "linear.pack";
  static constexpr std::string_view equation = "packed = interleaved8(rows)";
  static constexpr Backward backward = Backward::none("moves stored weights; training keeps them as rows");

  struct Arguments {
    ConstAnyView rows;
    AnyView packed;

    static constexpr auto fields() {
      return field_list(input(&Arguments::rows, "rows"), output(&Arguments::packed, "packed"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Pack>> variants();
  static void cases(CaseList<Pack>& list);
};

struct Unpack {
  static constexpr std::string_view name = "linear.unpack";
  static constexpr std::string_view equation = "rows = interleaved8^-1(packed)";
  static constexpr Backward backward = Backward::none("moves stored weights; training keeps them as rows");

  struct Arguments {
    ConstAnyView packed;
    AnyView rows;

    static constexpr auto fields() {
      return field_list(input(&Arguments::packed, "packed"), output(&Arguments::rows, "rows"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Unpack>> variants();
  static void cases(CaseList<Unpack>& list);
};

void pack_reference(const Pack::Arguments& arguments, Context& context);
void pack_threads(const Pack::Arguments& arguments, Context& context);
void unpack_reference(const Unpack::Arguments& arguments, Context& context);
void unpack_threads(const Unpack::Arguments& arguments, Context& context);

}  // namespace ingot
