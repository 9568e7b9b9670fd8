// The ChaCha20 block function (RFC 8439, 2.3): 64 bytes that nobody can tell from chance without the key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ingot {

using ChaChaKey = std::array<std::uint32_t, 8>;
using ChaChaNonce = std::array<std::uint32_t, 3>;
using ChaChaBlock = std::array<std::uint32_t, 16>;  // its bytes are those of the words, lowest first

constexpr ChaChaBlock chacha20_block(const ChaChaKey& key, std::uint32_t counter, const ChaChaNonce& nonce) {
  const ChaChaBlock first = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,  // "expand 32-byte k"
                             key[0],     key[1],     key[2],     key[3],     key[4],   key[5],
                             key[6],     key[7],     counter,    nonce[0],   nonce[1], nonce[2]};
  ChaChaBlock block = first;
  const auto quarter_round = [&block](int a, int b, int c, int d) {
    block[a] += block[b], block[d] = std::rotl(block[d] ^ block[a], 16);
    block[c] += block[d], block[b] = std::rotl(block[b] ^ block[c], 12);
    block[a] += block[b], block[d] = std::rotl(block[d] ^ block[a], 8);
    block[c] += block[d], block[b] = std::rotl(block[b] ^ block[c], 7);
  };
  for (int round = 0; round < 10; ++round) {
    for (int column = 0; column < 4; ++column) quarter_round(column, 4 + column, 8 + column, 12 + column);
    for (int diagonal = 0; diagonal < 4; ++diagonal) {
      quarter_round(diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4, 12 + (diagonal + 3) % 4);
    }
  }
  for (std::size_t i = 0; i < block.size(); ++i) block[i] += first[i];
  return block;
}

// The example of RFC 8439, 2.3.2.
static_assert(chacha20_block({0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918,
                              0x1f1e1d1c},
                             1, {0x09000000, 0x4a000000, 0})[0] == 0xe4e7f110);

}  // namespace ingot
