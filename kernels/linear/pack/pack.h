// Weights into an execution layout and back: what a plan does once so that products need not do it every time.
//
//   linear.pack    packed = layout(rows)
//   linear.unpack  rows = layout^-1(packed)
//
// C1  layout is interleaved8 (tensor/interleaved.h) or planes16 (tensor/planes.h); rows is [N, K] with packed rows:
//     interleaved8 takes q4_0, q8_0, q5_0, q4_k and q6_k with N a multiple of 8, planes16 these and q5_k with N a
//     multiple of 16 and K of 256
// C2  packed has the type and shape of rows, and is contiguous
#pragma once

#include "kernels/contract/contract.h"
#include "tensor/interleaved.h"

namespace ingot {

struct Pack {
  static constexpr std::string_view name = "linear.pack";
  static constexpr std::string_view equation = "packed = layout(rows)";
  static constexpr Backward backward = Backward::none("moves stored weights; training keeps them as rows");

  struct Arguments {
    ConstAnyView rows;
    WeightLayout layout = WeightLayout::interleaved8;
    AnyView packed;

    static constexpr auto fields() {
      return field_list(input(&Arguments::rows, "rows"), attribute(&Arguments::layout, "layout"),
                        output(&Arguments::packed, "packed"));
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
  static constexpr std::string_view equation = "rows = layout^-1(packed)";
  static constexpr Backward backward = Backward::none("moves stored weights; training keeps them as rows");

  struct Arguments {
    ConstAnyView packed;
    WeightLayout layout = WeightLayout::interleaved8;
    AnyView rows;

    static constexpr auto fields() {
      return field_list(input(&Arguments::packed, "packed"), attribute(&Arguments::layout, "layout"),
                        output(&Arguments::rows, "rows"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Unpack>> variants();
  static void cases(CaseList<Unpack>& list);
};

extern const Variant<Pack> pack_cuda;      // cuda/pack_cuda.cc
extern const Variant<Unpack> unpack_cuda;  // cuda/unpack_cuda.cc
void pack_reference(const Pack::Arguments& arguments, Context& context);
void pack_threads(const Pack::Arguments& arguments, Context& context);
void unpack_reference(const Unpack::Arguments& arguments, Context& context);
void unpack_threads(const Unpack::Arguments& arguments, Context& context);

}  // namespace ingot
