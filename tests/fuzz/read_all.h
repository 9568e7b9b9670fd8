// Touches every byte that a model file shows, so that a sanitizer sees what lies outside.
#pragma once

#include <cstdlib>

#include "model/files/metadata.h"
#include "model/files/stored_tensor.h"

namespace ingot {

inline void read_all(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (std::byte byte : bytes) sum += static_cast<unsigned>(byte);
  volatile unsigned kept = sum;
  (void)kept;
}

inline void read_all(const Metadata& metadata) {
  for (const Metadata::Entry& entry : metadata.entries()) {
    read_all(std::as_bytes(std::span(entry.key)));
    read_all(entry.value.bytes);
    (void)metadata.number(entry.key).ok();
    const Result<TextList> texts = metadata.text_list(entry.key);
    if (texts.ok()) {
      for (std::string_view text : texts.value()) read_all(std::as_bytes(std::span(text)));
    }
    const Result<ScalarList> numbers = metadata.number_list(entry.key);
    for (std::size_t index = 0; numbers.ok() && index < numbers.value().size(); ++index) {
      volatile double kept = numbers.value().number(index);
      (void)kept;
    }
    if (metadata.find(entry.key) != &entry.value) std::abort();
  }
}

inline void read_all(const StoredTensors& tensors) {
  for (const StoredTensor& tensor : tensors.all()) {
    if (!check_well_formed(tensor.view).ok() || !tensor.view.is_contiguous()) std::abort();
    const DType dtype = tensor.view.dtype();
    const std::int64_t size = tensor.view.count() / block_elements(dtype) * block_bytes(dtype);
    read_all(std::span(tensor.view.data(), static_cast<std::size_t>(size)));
  }
}

}  // namespace ingot
