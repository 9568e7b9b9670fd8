// AddressText: an address as people write it: 192.0.2.1, 2001:db8::1 (RFC 5952).
#pragma once

#include <string_view>

#include "os/network/address.h"

namespace ingot::os::network {

class AddressText {
 public:
  explicit AddressText(const IpAddress& address);
  std::string_view view() const { return {text_, size_}; }

 private:
  void add(char letter) { text_[size_++] = letter; }
  void add_number(unsigned number, unsigned base);
  void add_v6(const IpAddress::V6& bytes);

  char text_[39];
  std::size_t size_ = 0;
};

template <class Text>
void describe(const AddressText& address, Text& text) {
  text.append(address.view());
}

}  // namespace ingot::os::network
