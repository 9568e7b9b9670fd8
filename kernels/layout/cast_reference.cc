#include "kernels/layout/cast.h"

#include "kernels/contract/reference_walk.h"
#include "kernels/layout/convert_element.h"

namespace ingot {
namespace {

void cast_elements(const ConstAnyView& x, const AnyView& y) {
  with_element_type(x.dtype(), [&]<class From>() {
    with_element_type(y.dtype(), [&]<class To>() {
      for_each_pair(x, y, [](const std::byte* source, std::byte* target) {
        From value;
        std::memcpy(&value, source, sizeof(value));
        const To converted = convert_element<To>(value);
        std::memcpy(target, &converted, sizeof(converted));
      });
    });
  });
}

}  // namespace

void cast_reference(const Cast::Arguments& arguments, Context&) { cast_elements(arguments.x, arguments.y); }

void cast_backward_reference(const CastBackward::Arguments& arguments, Context&) {
  cast_elements(arguments.dy, arguments.dx);
}

}  // namespace ingot
