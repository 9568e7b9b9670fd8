#include "image/sha256.h"

#include <bit>

namespace ingot::image {

namespace {

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr std::size_t block_bytes = 64;

}  // namespace

void Sha256::add_block(const unsigned char* block) {
  std::uint32_t words[64];
  for (int i = 0; i < 16; ++i) {
    words[i] = static_cast<std::uint32_t>(block[4 * i]) << 24 | static_cast<std::uint32_t>(block[4 * i + 1]) << 16 |
               static_cast<std::uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t early = words[i - 15], late = words[i - 2];
    const std::uint32_t small0 = std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3);
    const std::uint32_t small1 = std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10);
    words[i] = words[i - 16] + small0 + words[i - 7] + small1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t large1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t first = h + large1 + ((e & f) ^ (~e & g)) + constants[i] + words[i];
    const std::uint32_t large0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t second = large0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const std::uint32_t changed[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[static_cast<std::size_t>(i)] += changed[i];
}

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!rest_.empty()) {
    const std::size_t taken = std::min(block_bytes - rest_.size(), bytes.size());
    rest_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (rest_.size() < block_bytes) return;
    add_block(reinterpret_cast<const unsigned char*>(rest_.data()));
    rest_.clear();
  }
  while (bytes.size() >= block_bytes) {
    add_block(reinterpret_cast<const unsigned char*>(bytes.data()));
    bytes.remove_prefix(block_bytes);
  }
  rest_ = bytes;
}

std::string Sha256::finish() {
  const std::uint64_t bits = bytes_ * 8;
  std::string padding(1, '\x80');
  padding.resize((2 * block_bytes - 8 - 1 - bytes_ % block_bytes) % block_bytes + 1);
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
  add(padding);
  std::string digits;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  }
  return digits;
}

}  // namespace ingot::image
