// What copy_words_cuda.cu's functions take: both sides see it.
#pragma once

#include <cstdint>

namespace ingot {

struct CopyWords {
  const std::uint32_t* from;
  std::uint32_t* to;
  std::uint32_t count;
  std::uint32_t add;  // to each word
};

}  // namespace ingot
