// Every block that says that it is a tar's header gets the sum that it should have: a fuzzer would not find it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ingot {

inline void mend_tar_sums(std::string& tar) {
  constexpr std::size_t block_bytes = 512, sum_at = 148, sum_bytes = 8;
  for (std::size_t block = 0; block + block_bytes <= tar.size(); block += block_bytes) {
    if (std::string_view(tar).substr(block + 257, 5) != "ustar") continue;
    tar.replace(block + sum_at, sum_bytes, sum_bytes, ' ');
    unsigned sum = 0;
    for (std::size_t index = 0; index < block_bytes; ++index) sum += static_cast<unsigned char>(tar[block + index]);
    char digits[sum_bytes];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    tar.replace(block + sum_at, sizeof digits - 1, digits, sizeof digits - 1);
  }
}

}  // namespace ingot
