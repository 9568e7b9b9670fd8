// The model that the program carries, so that it has something to say before anyone gives it a file: models/tales.gguf,
// which `ingot train --preset tales` makes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ingot {

// The file as it is, a GGUF file; part of the program, so it lives as long as that runs.
std::span<const std::byte> default_model_file();

// What stands for it where a path could stand.
inline constexpr std::string_view default_model_name = "built-in:tales";

// How its tale begins where nobody asks for one. Among the openings of its grammar one after which no choice is close:
// the most likely tale is the same by AVX-512, AVX2, SSE4 and NEON, whose sums differ in their last bits.
inline constexpr std::string_view default_opening = "\nOnce there was a thoughtful cook named Ralf.";

}  // namespace ingot
