// Packed bytes as a stream of what they hold: gzip by zlib, zstd by libzstd. How much comes out is for the reader to
// bound; how much memory it takes on the way is bounded here.
#pragma once

#include <memory>

#include "image/byte_stream.h"

namespace ingot::image {

// The largest window of zstd: a frame may ask for gigabytes of it.
constexpr int most_zstd_window_bits = 27;

// Members (frames) may follow each other. Sums and lengths that they carry are checked; a stream that ends inside one
// is an error. `packed` outlives the stream.
std::unique_ptr<ByteStream> unpack_gzip(ByteStream& packed);
std::unique_ptr<ByteStream> unpack_zstd(ByteStream& packed);

}  // namespace ingot::image
