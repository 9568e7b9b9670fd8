// Unicode normalization forms (UAX #15) over code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace ingot {

enum class NormalizationForm : std::uint8_t { nfc, nfd, nfkc, nfkd };

std::vector<CodePoint> normalized(const std::vector<CodePoint>& code_points, NormalizationForm form);

// Bytes that are no UTF-8 stand where they stood: only the text between them is normalized.
std::string normalized(std::string_view text, NormalizationForm form);

}  // namespace ingot
