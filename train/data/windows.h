// Where the windows of a row of tokens begin, the last of them kept for validation.
//
// Evenly: within each of the two parts windows begin `length` tokens apart, so that the last token of one is the first
// of the next and every token of a part but its first is a target exactly once; what does not fill a window at the end
// of the training part is left out.
//
// From documents: a window begins with the token that ended the document before, which is what a model sees before its
// first word, and holds as many documents as fit. The one it cuts off begins the next window, so that a document is
// always seen with its beginning; only of one that is longer than a window do more windows follow where the first ends.
#pragma once

#include <cstdint>
#include <vector>

#include "train/data/token_stream.h"

namespace ingot {

class Windows {
 public:
  // Precondition of both: 0 < length, 0 <= validation_fraction < 1.
  static Result<Windows> evenly(std::uint64_t tokens, std::uint64_t length, double validation_fraction);
  static Result<Windows> from_documents(const TokenStream& tokens, TokenId document_end, std::uint64_t length,
                                        double validation_fraction);

  std::uint64_t training() const { return training_; }
  std::uint64_t validation() const { return validation_; }
  // Their first tokens. Precondition: index < training() or validation().
  std::uint64_t training_begin(std::uint64_t index) const { return begins_.empty() ? index * length_ : begins_[index]; }
  std::uint64_t validation_begin(std::uint64_t index) const {
    return begins_.empty() ? first_validation_ + index * length_ : begins_[begins_.size() - validation_ + index];
  }

 private:
  explicit Windows(std::uint64_t length) : length_(length) {}

  std::uint64_t length_;
  std::uint64_t training_ = 0, validation_ = 0;
  std::uint64_t first_validation_ = 0;  // a token
  std::vector<std::uint64_t> begins_;   // of training, then of validation; empty: evenly
};

}  // namespace ingot
