// What each token reads as, in one block of memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/description.h"

namespace ingot {

class Pieces {
 public:
  explicit Pieces(const TokenizerDescription& description);

  // Precondition: 0 <= id < the size of the vocabulary.
  std::string_view operator[](TokenId id) const {
    const auto index = static_cast<std::size_t>(id);
    return std::string_view(bytes_).substr(begins_[index], begins_[index + 1] - begins_[index]);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> begins_{0};
};

}  // namespace ingot
