// Runs a fuzz target without libFuzzer: on inputs drawn from a seed, for a number of rounds. It lets the sanitizer
// build of the tests fuzz what would take too long to build a second time with coverage instrumentation.
//
//   arguments_random [ROUNDS [SEED]]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argument_count, char** arguments) {
  const long rounds = argument_count > 1 ? std::atol(arguments[1]) : 10000;
  const std::uint64_t seed = argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  std::vector<std::uint8_t> input(64);
  for (long round = 0; round < rounds; ++round) {
    std::uint64_t state = seed * 1000003 + static_cast<std::uint64_t>(round);
    for (std::uint8_t& byte : input) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<std::uint8_t>(state >> 56);
    }
    if (argument_count > 3) std::fprintf(stderr, "round %ld\n", round);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%ld rounds from seed %llu\n", rounds, static_cast<unsigned long long>(seed));
}
