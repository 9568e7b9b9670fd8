// Block formats quantized and dequantized by llama.cpp: <TYPE>.blk are the blocks of input.f32 in rows of 1024, and
// <TYPE>.f32 what they stand for.
#pragma once

#include <filesystem>

#include "tests/outside/trial.h"

namespace ingot::outside {

struct BlockFormatReport {
  int formats = 0;
  std::vector<std::string> lines;
  std::vector<std::string> failures;
};

BlockFormatReport check_block_formats(const Bench& bench, const std::filesystem::path& folder);

}  // namespace ingot::outside
