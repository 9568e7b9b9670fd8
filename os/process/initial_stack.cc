#include "os/process/initial_stack.h"

namespace ingot::os {

Result<std::byte*> InitialStack::take(std::size_t bytes) {
  if (bytes > at_) {
    return Error::of(ErrorCode::out_of_range, "expected arguments and environment of at most ", room_.size(),
                     " bytes, found more");
  }
  at_ -= bytes;
  return room_.data() + at_;
}

Error InitialStack::arguments_come_first() {
  return Error::of(ErrorCode::invalid_argument, "expected arguments before the environment, found one behind");
}

Result<char*> InitialStack::take_text(std::size_t size) {
  if (text_count_ == most_texts) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_texts,
                     " arguments and environment variables, found more");
  }
  auto* place = reinterpret_cast<char*>(TRY(take(size + 1)));
  place[size] = '\0';
  texts_[text_count_++] = address_of_taken().value();
  return place;
}

Result<VirtualAddress> InitialStack::add_bytes(std::span<const std::byte> bytes) {
  const std::uint64_t end = address_of_taken().value();
  std::byte* place = TRY(take(end - (end - bytes.size()) / 16 * 16));
  __builtin_memcpy(place, bytes.data(), bytes.size());
  return address_of_taken();
}

Result<VirtualAddress> InitialStack::add_text(std::string_view text) {
  auto* place = reinterpret_cast<char*>(TRY(take(text.size() + 1)));
  __builtin_memcpy(place, text.data(), text.size());
  place[text.size()] = '\0';
  return address_of_taken();
}

Result<void> InitialStack::add_fact(AuxiliaryKey key, std::uint64_t value) {
  if (fact_count_ == most_facts) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_facts, " facts, found more");
  }
  facts_[fact_count_++] = {key, value};
  return {};
}

Result<VirtualAddress> InitialStack::finish() {
  // The count, two lists with a 0 behind each, the pairs with one of zeroes.
  const std::size_t words = 1 + text_count_ + 2 + 2 * (fact_count_ + 1);
  const std::uint64_t end = address_of_taken().value();
  const std::uint64_t begin = (end - words * 8) / 16 * 16;
  std::byte* place = TRY(take(end - begin));
  const auto put = [&place](std::uint64_t word) {
    __builtin_memcpy(place, &word, sizeof word);
    place += sizeof word;
  };
  put(argument_count_);
  for (std::size_t i = 0; i < argument_count_; ++i) put(texts_[i]);
  put(0);
  for (std::size_t i = argument_count_; i < text_count_; ++i) put(texts_[i]);
  put(0);
  for (std::size_t i = 0; i < fact_count_; ++i) {
    put(static_cast<std::uint64_t>(facts_[i].key));
    put(facts_[i].value);
  }
  put(static_cast<std::uint64_t>(AuxiliaryKey::end));
  put(0);
  return VirtualAddress(begin);
}

}  // namespace ingot::os
