// The model that the program carries, so that it has something to say before anyone gives it a file: models/tales.gguf,
// which `ingot train --preset tales` makes.
#pragma once

#include <cstddef>
#include <span>

namespace ingot {

// The file as it is, a GGUF file; part of the program, so it lives as long as that runs.
std::span<const std::byte> default_model_file();

}  // namespace ingot
