// A counting sort that needs no memory of its own: while choices are placed, offsets[e] is the next free slot of expert
// e, and so ends as the first slot of expert e + 1; one shift puts it back.
#include "kernels/routing/group_tokens.h"

namespace ingot {

void group_tokens_reference(const GroupTokens::Arguments& a, Context&) {
  const std::int64_t experts = a.offsets.size(0) - 1;
  const std::int64_t per_token = a.indices.size(1);
  for (std::int64_t e = 0; e <= experts; ++e) a.offsets(e) = 0;
  for (std::int64_t token = 0; token < a.indices.size(0); ++token) {
    for (std::int64_t j = 0; j < per_token; ++j) ++a.offsets(a.indices(token, j) + 1);
  }
  for (std::int64_t e = 0; e < experts; ++e) a.offsets(e + 1) += a.offsets(e);
  for (std::int64_t token = 0; token < a.indices.size(0); ++token) {
    for (std::int64_t j = 0; j < per_token; ++j) {
      a.permutation(a.offsets(a.indices(token, j))++) = static_cast<std::int32_t>(token * per_token + j);
    }
  }
  for (std::int64_t e = experts; e > 0; --e) a.offsets(e) = a.offsets(e - 1);
  a.offsets(0) = 0;
}

}  // namespace ingot
