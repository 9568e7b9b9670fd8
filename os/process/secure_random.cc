#include "os/process/secure_random.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

// Half of a block becomes the next key, the other half is nobody's yet.
ChaChaBlock next_block(ChaChaKey& key, std::uint32_t counter) {
  const ChaChaBlock block = chacha20_block(key, counter, {});
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = block[i];
  return block;
}

}  // namespace

void SecureRandom::start(std::uint64_t seed, Log& log) {
  if (!arch::random_word()) {
    log.warning("random: expected a CPU with RDRAND, found none: keys and addresses could be guessed");
  }
  key_.with([&](ChaChaKey& key) {
    for (std::size_t i = 0; i < key.size(); i += 2) {
      const std::uint64_t drawn = arch::random_word().value_or(arch::cycle_count()) ^ seed;
      key[i] ^= static_cast<std::uint32_t>(drawn);
      key[i + 1] ^= static_cast<std::uint32_t>(drawn >> 32);
    }
    next_block(key, 0);
  });
}

void SecureRandom::stir(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ChaChaKey more{};
    const std::size_t count = bytes.size() < sizeof more ? bytes.size() : sizeof more;
    __builtin_memcpy(more.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    key_.with([&](ChaChaKey& key) {
      for (std::size_t i = 0; i < key.size(); ++i) key[i] ^= more[i];
      next_block(key, 0);
    });
  }
}

void SecureRandom::fill(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    // A block at a time, so that a large request does not keep the lock.
    const ChaChaBlock block = key_.with([](ChaChaKey& key) { return next_block(key, 1); });
    constexpr std::size_t given = sizeof block / 2;
    const std::size_t count = bytes.size() < given ? bytes.size() : given;
    __builtin_memcpy(bytes.data(), block.data() + block.size() / 2, count);
    bytes = bytes.subspan(count);
  }
}

std::uint64_t SecureRandom::number() {
  std::uint64_t value = 0;
  fill(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace ingot::os
