#include "os/network/address_text.h"

namespace ingot::os::network {

AddressText::AddressText(const IpAddress& address) {
  if (!address.is_v4()) {
    add_v6(address.bytes());
    return;
  }
  for (const std::uint8_t byte : address.as_v4()) {
    if (size_ != 0) add('.');
    add_number(byte, 10);
  }
}

void AddressText::add_number(unsigned number, unsigned base) {
  unsigned weight = 1;
  while (number / weight >= base) weight *= base;
  for (; weight != 0; weight /= base) add("0123456789abcdef"[number / weight % base]);
}

// Of several runs of zeros the longest is left out, of equal ones the first; a single one is written.
void AddressText::add_v6(const IpAddress::V6& bytes) {
  const auto group = [&](unsigned index) { return bytes[2 * index] << 8 | bytes[2 * index + 1]; };
  unsigned gap = 8, gap_length = 1;
  for (unsigned first = 0; first < 8; ++first) {
    unsigned length = 0;
    while (first + length < 8 && group(first + length) == 0) ++length;
    if (length > gap_length) gap = first, gap_length = length;
  }
  for (unsigned index = 0; index < 8; ++index) {
    if (index == gap) {
      add(':'), add(':');
      index += gap_length - 1;
      continue;
    }
    if (size_ != 0 && text_[size_ - 1] != ':') add(':');
    add_number(static_cast<unsigned>(group(index)), 16);
  }
}

}  // namespace ingot::os::network
