#include "tests/network/fragments.h"

#include <utility>

#include "os/network/wire/checksum.h"

namespace ingot::network_scripts {
namespace {

constexpr std::uint16_t more_fragments_v4 = 0x2000;
constexpr std::uint8_t fragment_header = 44;  // the next header's number, of IPv6

void put(Bytes& bytes, std::size_t at, std::size_t number) {
  bytes[at] = static_cast<std::uint8_t>(number >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(number);
}

}  // namespace

Bytes fragment_of(std::span<const std::uint8_t> packet, const FragmentPlace& place) {
  const bool is_v4 = packet[0] >> 4 == 4;
  const std::size_t header = is_v4 ? 20 : 40;
  Bytes piece(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(header));
  if (is_v4) {
    put(piece, 4, place.mark);
    put(piece, 6, place.begin / 8 | (place.has_more ? more_fragments_v4 : 0));
  } else {
    const std::uint8_t next = std::exchange(piece[6], fragment_header);
    piece.insert(piece.end(), {next, 0, 0, 0, 0, 0, 0, place.mark});
    put(piece, header + 2, place.begin | (place.has_more ? 1 : 0));
  }
  const auto body = packet.subspan(header + place.begin, place.length);
  piece.insert(piece.end(), body.begin(), body.end());
  put(piece, is_v4 ? 2 : 4, is_v4 ? piece.size() : piece.size() - header);
  if (is_v4) {
    put(piece, 10, 0);
    os::network::Checksum sum;
    sum.add(std::as_bytes(std::span(piece).first(header)));
    put(piece, 10, std::uint16_t{sum.result()});
  }
  return piece;
}

}  // namespace ingot::network_scripts
