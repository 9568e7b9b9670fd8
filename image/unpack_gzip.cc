#include <zlib.h>

#include <algorithm>
#include <limits>

#include "image/unpack.h"

namespace ingot::image {

namespace {

constexpr int largest_window_with_gzip_header = 15 + 16;

class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(ByteStream& packed) : packed_(packed) {}
  ~GzipStream() override {
    if (is_open_) inflateEnd(&state_);
  }

  Result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      const std::string_view rest = TRY(packed_.rest());
      if (rest.empty() && is_open_ && !is_inside_) return std::size_t{0};
      if (!is_inside_) TRY(begin_member());
      const std::size_t unpacked = TRY(inflate_some(rest, into));
      if (unpacked != 0) return unpacked;
      if (rest.empty() && is_inside_) {
        return Error::of(ErrorCode::corrupt, "gzip: expected more bytes, found the end inside a member");
      }
    }
  }

 private:
  // zlib keeps an address of the state, which therefore never moves.
  Result<void> begin_member() {
    const int status = is_open_ ? inflateReset(&state_) : inflateInit2(&state_, largest_window_with_gzip_header);
    if (status != Z_OK) return Error::of(ErrorCode::out_of_memory, "gzip: expected memory to unpack with, found none");
    is_open_ = is_inside_ = true;
    return {};
  }

  Result<std::size_t> inflate_some(std::string_view rest, std::span<char> into) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    const auto room = static_cast<uInt>(std::min(into.size(), most));
    const auto given = static_cast<uInt>(std::min(rest.size(), most));
    state_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(rest.data()));  // zlib only reads it
    state_.avail_in = given;
    state_.next_out = reinterpret_cast<Bytef*>(into.data());
    state_.avail_out = room;
    const int status = inflate(&state_, Z_NO_FLUSH);
    packed_.take(given - state_.avail_in);
    if (status == Z_STREAM_END) is_inside_ = false;
    if (status == Z_STREAM_END || status == Z_OK || status == Z_BUF_ERROR) {  // the last: nothing without more bytes
      return std::size_t{room} - state_.avail_out;
    }
    if (status == Z_MEM_ERROR) return Error::of(ErrorCode::out_of_memory, "gzip: expected memory, found none");
    return Error::of(ErrorCode::corrupt, "gzip: expected sound data, found ",
                     state_.msg != nullptr ? state_.msg : "a dictionary");
  }

  StreamPieces packed_;
  z_stream state_{};
  bool is_open_ = false, is_inside_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> unpack_gzip(ByteStream& packed) { return std::make_unique<GzipStream>(packed); }

}  // namespace ingot::image
