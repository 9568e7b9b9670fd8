// Constraints that storing to and reading from a cache share; see the headers of the operations for their numbers.
#pragma once

#include "kernels/cache/cache_view.h"
#include "kernels/contract/constraints.h"

namespace ingot {

// C1: pages are [P, H, L, D] with L >= 1 and a packed last axis, of type f32, f16 or q8_0.
Result<void> require_pages(std::string_view operation, const ConstAnyView& pages);

// C1 to C4 for `rows` of shape [T, H, D], called `rows_name`. What tensors on a device hold is the caller's to know.
Result<void> require_places(std::string_view operation, const ConstCacheView& cache, const CachePlaces& places,
                            std::string_view rows_name, const ConstAnyView& rows);

// C5: no two rows of a call go to one slot. Preconditions: require_places succeeded, rows are not empty, and all lie on
// the host.
Result<void> require_distinct_slots(std::string_view operation, const ConstCacheView& cache, const CachePlaces& places);

}  // namespace ingot
