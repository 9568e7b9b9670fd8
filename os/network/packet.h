// A packet on its way in, and one on its way out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/network/byte_chain.h"

namespace ingot::os::network {

// From a link. The logic above takes headers off the front; what is left becomes a socket's without being copied.
struct Received {
  explicit Received(ByteChain chain) : bytes(std::move(chain)) {}

  ByteChain bytes;
  // Whether somebody who can be believed has looked at the checksum of the transport: the device, or nobody between the
  // sender and us (loopback). IP's own header is always looked at here.
  bool transport_verified = false;
  // Of a packet that the device joined from several: how many bytes each carried. 0: it is one.
  std::uint16_t segment_bytes = 0;
};

// To a link. Headers grow from the transport's to the front; the payload stays where it is, part of a chain that the
// link may refer to until its device has read it.
class Outgoing {
 public:
  static constexpr std::size_t header_capacity = 144;  // Ethernet, IPv6 with a fragment's header, TCP with all options

  // Room before what is there already. Precondition: it fits.
  template <class Header>
  Header& push_header() {
    begin_ -= sizeof(Header);
    return *reinterpret_cast<Header*>(header_.data() + begin_);
  }
  std::span<std::byte> push_bytes(std::size_t count) {
    begin_ -= count;
    return std::span(header_).subspan(begin_, count);
  }
  std::span<std::byte> header() { return std::span(header_).subspan(begin_); }
  std::span<const std::byte> header() const { return std::span(header_).subspan(begin_); }

  const ByteChain* chain = nullptr;  // none: there are headers only
  std::uint64_t payload_begin = 0;   // in the chain
  std::uint32_t payload_bytes = 0;
  std::uint64_t bytes() const { return header().size() + payload_bytes; }

  // The transport's checksum is left to the device: from there, counted from the end of all headers, to the packet's
  // end; its field holds the sum of the pseudo-header. 0: it is done.
  std::uint16_t checksum_from_end = 0;  // where the transport's header begins, before the end of the headers
  std::uint16_t checksum_field = 0;     // within that header
  // The device cuts the payload into segments of so many bytes and repeats the headers. 0: it goes as it is.
  std::uint16_t segment_bytes = 0;

 private:
  std::array<std::byte, header_capacity> header_;  // not cleared: only what was pushed is read
  std::size_t begin_ = header_capacity;
};

}  // namespace ingot::os::network
