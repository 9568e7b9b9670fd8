// SHA-256 (FIPS 180-4), which names the parts of an OCI image.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::image {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // 64 hexadecimal digits. The object is spent then.
  std::string finish();

 private:
  void add_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;
  std::uint64_t bytes_ = 0;
};

inline std::string digest_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.finish();
}

}  // namespace ingot::image
