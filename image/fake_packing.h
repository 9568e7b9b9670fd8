// Packed bytes for tests and fuzzers.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace ingot::image {

inline std::string gzip_of(std::string_view text) {
  z_stream state{};
  if (deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string packed(deflateBound(&state, text.size()), '\0');
  state.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));  // zlib only reads it
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&state, Z_FINISH) != Z_STREAM_END) std::abort();
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

inline std::string zstd_of(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// A frame that asks for a window of 2 GiB: its header, and one empty last block.
inline std::string zstd_with_a_huge_window() { return {"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9}; }

}  // namespace ingot::image
