// Scalar truth of storing and reading: a row at a time through the codec that defines the formats.
#include "kernels/cache/read.h"
#include "kernels/cache/store.h"
#include "tensor/block_codec.h"

namespace ingot {

void store_rows_reference(const CacheView& cache, const CachePlaces& places, const View<const float>& x) {
  if (x.empty()) return;
  for (std::int64_t t = 0; t < places.count(); ++t) {
    for (std::int64_t head = 0; head < cache.heads(); ++head) {
      encode_row(cache.pages.dtype(), &x(t, head, 0), cache.row(places.slot(cache, t), head), cache.width());
    }
  }
}

void read_rows_reference(const ConstCacheView& cache, const CachePlaces& places, const View<float>& y) {
  if (y.empty()) return;
  for (std::int64_t t = 0; t < places.count(); ++t) {
    for (std::int64_t head = 0; head < cache.heads(); ++head) {
      decode_row(cache.pages.dtype(), cache.row(places.slot(cache, t), head), &y(t, head, 0), cache.width());
    }
  }
}

}  // namespace ingot
