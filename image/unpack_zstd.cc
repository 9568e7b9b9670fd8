#include <zstd.h>
#include <zstd_errors.h>

#include "image/unpack.h"

namespace ingot::image {

namespace {

class ZstdStream final : public ByteStream {
 public:
  explicit ZstdStream(ByteStream& packed) : packed_(packed), state_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    if (state_ == nullptr) return;
    is_bounded_ = ZSTD_isError(ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, most_zstd_window_bits)) == 0;
  }

  Result<std::size_t> read(std::span<char> into) override {
    if (!is_bounded_) return Error::of(ErrorCode::out_of_memory, "zstd: expected memory to unpack with, found none");
    for (;;) {
      const std::string_view rest = TRY(packed_.rest());
      if (rest.empty() && has_begun_ && !is_inside_) return std::size_t{0};
      ZSTD_inBuffer input{rest.data(), rest.size(), 0};
      ZSTD_outBuffer output{into.data(), into.size(), 0};
      const std::size_t status = ZSTD_decompressStream(state_.get(), &output, &input);
      if (ZSTD_isError(status) != 0) return problem(status);
      packed_.take(input.pos);
      has_begun_ = true;
      is_inside_ = status != 0;
      if (output.pos != 0) return output.pos;
      if (rest.empty() && is_inside_) {
        return Error::of(ErrorCode::corrupt, "zstd: expected more bytes, found the end inside a frame");
      }
    }
  }

 private:
  static Error problem(std::size_t status) {
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return Error::of(ErrorCode::unsupported, "zstd: expected a window of at most ",
                         (1 << most_zstd_window_bits) >> 20, " MiB, found a larger one");
      case ZSTD_error_memory_allocation:
        return Error::of(ErrorCode::out_of_memory, "zstd: expected memory for the window, found none");
      default:
        return Error::of(ErrorCode::corrupt, "zstd: expected sound data, found an error: ", ZSTD_getErrorName(status));
    }
  }

  StreamPieces packed_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> state_;
  bool is_bounded_ = false, has_begun_ = false, is_inside_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> unpack_zstd(ByteStream& packed) { return std::make_unique<ZstdStream>(packed); }

}  // namespace ingot::image
