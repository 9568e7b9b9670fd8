#include "kernels/cache/copy_pages.h"

#include "kernels/contract/reference_walk.h"

namespace ingot {
namespace {

// One page, as a tensor of its own.
AnyView page_of(const AnyView& pages, std::int64_t page) {
  return AnyView(pages.data() + page * pages.byte_stride(0), pages.dtype(),
                 {pages.size(1), pages.size(2), pages.size(3)},
                 {pages.byte_stride(1), pages.byte_stride(2), pages.byte_stride(3)}, pages.place());
}

}  // namespace

void copy_pages_reference(const CopyPages::Arguments& arguments, Context&) {
  if (arguments.pages.empty()) return;
  for (std::int64_t n = 0; n < arguments.source.size(0); ++n) {
    move_reference(page_of(arguments.pages, arguments.source(n)), page_of(arguments.pages, arguments.destination(n)));
  }
}

}  // namespace ingot
