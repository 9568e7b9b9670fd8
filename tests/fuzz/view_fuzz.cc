// Whatever shape and strides it is asked for, a checked view touches only its storage, and so does every view of it.
#include <vector>

#include "tensor/view.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;

namespace {

Extents take_extents(ByteSource& source, int rank) {
  Extents extents;
  for (int axis = 0; axis < rank; ++axis) {
    const bool is_wild = source.take<std::uint8_t>() % 8 == 0;
    extents.push_back(is_wild ? source.take<std::int64_t>() : source.take_between(-2, 12));
  }
  return extents;
}

// Reads every element; the sanitizer watches the bounds.
float sum_of(const View<float>& view) {
  if (view.empty()) return 0;
  if (view.rank() == 0) return view();
  float sum = 0;
  for (std::int64_t index = 0; index < view.size(0); ++index) sum += sum_of(view[index]);
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  std::vector<float> storage(static_cast<std::size_t>(source.take_between(0, 64)), 1.0f);
  const int rank = static_cast<int>(source.take_between(0, max_rank));
  const Shape shape = take_extents(source, rank);
  const Strides strides = take_extents(source, rank);
  Result<View<float>> made = source.take_between(0, 1) == 0
                                 ? View<float>::over(storage, shape)
                                 : View<float>::over(storage, shape, strides, source.take_between(0, 70));
  // A view may have many elements of few addresses (broadcast); reading millions of them proves nothing more.
  for (int step = 0; made.ok() && made.value().count() < 2000 && step < 6; ++step) {
    const View<float>& view = made.value();
    volatile float sum = sum_of(view);
    (void)sum;
    switch (source.take_between(0, 4)) {
      case 0:
        made =
            view.transposed(static_cast<int>(source.take_between(-1, 6)), static_cast<int>(source.take_between(-1, 6)));
        break;
      case 1:
        made = view.slice(static_cast<int>(source.take_between(-1, 6)), source.take_between(-2, 20),
                          source.take_between(-2, 20), source.take_between(-1, 4));
        break;
      case 2:
        made = view.broadcast_to(take_extents(source, static_cast<int>(source.take_between(0, max_rank))));
        if (made.ok() && !offset_range(made.value().shape(), made.value().strides()).ok()) return 0;
        break;
      case 3: made = view.reshaped(take_extents(source, static_cast<int>(source.take_between(0, max_rank)))); break;
      default: made = view.windows(source.take_between(-1, 12), source.take_between(-1, 5)); break;
    }
  }
  return 0;
}
