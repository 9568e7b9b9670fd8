#include "kernels/cache/family.h"

#include "kernels/cache/copy_pages.h"
#include "kernels/cache/read.h"
#include "kernels/cache/rotated_store.h"

namespace ingot {

std::span<const Operation* const> cache_operations() {
  static const Operation* const operations[] = {
      &describe_operation<StoreContiguous>(), &describe_operation<ReadContiguous>(),
      &describe_operation<StoreRing>(),       &describe_operation<ReadRing>(),
      &describe_operation<StorePaged>(),      &describe_operation<ReadPaged>(),
      &describe_operation<JointStorePaged>(), &describe_operation<RotatedStorePaged>(),
      &describe_operation<CopyPages>(),
  };
  return operations;
}

}  // namespace ingot
