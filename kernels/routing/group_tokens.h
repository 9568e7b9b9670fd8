// Groups tokens by expert, so that each expert's matrix product runs over one block of rows: a stable counting sort.
//
//   choice c = t k + j is token t's j-th expert, indices[t,j]
//   permutation lists the choices by expert, and in rising order within an expert: slot s holds choice permutation[s]
//   expert e owns the slots offsets[e] .. offsets[e+1] - 1
//
// C1  indices has shape [T, k] with k >= 1 and T k < 2^31
// C2  offsets has shape [E + 1] with E >= 1
// C3  permutation has shape [T k]
// C4  every index lies in [0, E)
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct GroupTokens {
  static constexpr std::string_view name = "routing.group_tokens";
  static constexpr std::string_view equation =
      "permutation = stable order of choices t k + j by indices[t,j], offsets[e] = choices of experts below e";
  static constexpr Backward backward = Backward::none("integers in, integers out");

  struct Arguments {
    View<const std::int32_t> indices;
    View<std::int32_t> permutation;
    View<std::int32_t> offsets;

    static constexpr auto fields() {
      return field_list(input(&Arguments::indices, "indices"), output(&Arguments::permutation, "permutation"),
                        output(&Arguments::offsets, "offsets"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GroupTokens>> variants();
  static void cases(CaseList<GroupTokens>& list);
};

void group_tokens_reference(const GroupTokens::Arguments& arguments, Context& context);
extern const Variant<GroupTokens> group_tokens_cuda;

}  // namespace ingot
