#include "train/data/windows.h"

#include <algorithm>

namespace ingot {
namespace {

Result<void> require_tokens(std::uint64_t size, std::uint64_t length, bool validates) {
  const std::uint64_t least = (validates ? 2 : 1) * (length + 1);
  if (size >= least) return {};
  return Error::of(ErrorCode::invalid_argument, "training data: expected at least ", least, " tokens (",
                   validates ? "a window for training and one for validation" : "one window", " of length ", length,
                   " and one more), found ", size);
}

// Positions that hold the token, and the first of all.
std::vector<std::uint64_t> document_begins(const TokenStream& tokens, TokenId document_end) {
  constexpr std::uint64_t piece = 1 << 16;
  std::vector<TokenId> ids(std::min(piece, tokens.size()));
  std::vector<std::uint64_t> begins = {0};
  for (std::uint64_t first = 0; first < tokens.size(); first += piece) {
    const std::span<TokenId> now(ids.data(), static_cast<std::size_t>(std::min(piece, tokens.size() - first)));
    tokens.copy(first, now);
    for (std::size_t index = 0; index < now.size(); ++index) {
      if (now[index] == document_end && first + index > 0) begins.push_back(first + index);
    }
  }
  return begins;
}

}  // namespace

Result<Windows> Windows::evenly(std::uint64_t tokens, std::uint64_t length, double validation_fraction) {
  const bool validates = validation_fraction > 0;
  TRY(require_tokens(tokens, length, validates));
  Windows windows(length);
  std::uint64_t training_tokens = tokens;
  if (validates) {
    // As many as still leave one for training, which takes a token more than `length` of its own.
    const std::uint64_t most = (tokens - (length + 1) - 1) / length;
    const auto wanted = static_cast<std::uint64_t>(validation_fraction * static_cast<double>((tokens - 1) / length));
    windows.validation_ = std::clamp<std::uint64_t>(wanted, 1, most);
    training_tokens = tokens - (windows.validation_ * length + 1);
  }
  windows.first_validation_ = training_tokens;
  windows.training_ = (training_tokens - 1) / length;
  return windows;
}

Result<Windows> Windows::from_documents(const TokenStream& tokens, TokenId document_end, std::uint64_t length,
                                        double validation_fraction) {
  const bool validates = validation_fraction > 0;
  TRY(require_tokens(tokens.size(), length, validates));
  const std::vector<std::uint64_t> documents = document_begins(tokens, document_end);
  Windows windows(length);
  std::vector<std::uint64_t>& begins = windows.begins_;
  for (std::uint64_t begin = 0; begin + length < tokens.size();) {
    begins.push_back(begin);
    // The last document that begins inside of the window, or where the window ends.
    const auto behind = std::upper_bound(documents.begin(), documents.end(), begin + length);
    const std::uint64_t last = *(behind - 1);
    begin = last > begin ? last : begin + length;
  }
  if (!validates) {
    windows.training_ = begins.size();
    return windows;
  }
  const auto wanted = static_cast<std::uint64_t>(validation_fraction * static_cast<double>(begins.size()));
  windows.validation_ = std::max<std::uint64_t>(wanted, 1);
  const std::uint64_t first = begins[begins.size() - windows.validation_];
  // Training ends before the first token of validation.
  const auto reaching = [&](std::uint64_t begin) { return begin + length >= first; };
  const auto kept = std::find_if(begins.begin(), begins.end(), reaching);
  begins.erase(kept, begins.end() - static_cast<std::ptrdiff_t>(windows.validation_));
  windows.training_ = begins.size() - windows.validation_;
  if (windows.training_ > 0) return windows;
  return Error::of(ErrorCode::invalid_argument,
                   "training data: expected documents for a window of training beside those of validation, found ",
                   documents.size(), " documents in ", tokens.size(), " tokens");
}

}  // namespace ingot
