// Codes: a tensor of 8-bit integers whose sign is known at run time.
#pragma once

#include "tensor/any_view.h"
#include "tests/outside/buffer.h"

namespace ingot::outside {

class Codes {
 public:
  Codes(const HostTensor& tensor, const std::string& dtype) : is_signed_(dtype == "i8") {
    if (is_signed_) {
      signed_ = Buffer<std::int8_t>(tensor);
    } else {
      unsigned_ = Buffer<std::uint8_t>(tensor);
    }
  }
  Codes(const Sizes& shape, const std::string& dtype) : is_signed_(dtype == "i8") {
    if (is_signed_) {
      signed_ = Buffer<std::int8_t>(shape);
    } else {
      unsigned_ = Buffer<std::uint8_t>(shape);
    }
  }

  AnyView view() { return is_signed_ ? AnyView(signed_.view()) : AnyView(unsigned_.view()); }
  std::vector<double> values() const { return is_signed_ ? signed_.values() : unsigned_.values(); }

 private:
  bool is_signed_;
  Buffer<std::int8_t> signed_;
  Buffer<std::uint8_t> unsigned_;
};

}  // namespace ingot::outside
