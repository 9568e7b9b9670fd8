// The manifest's text, as base/image/image_manifest.h reads it.
#pragma once

#include <string>
#include <vector>

#include "image/cast.h"

namespace ingot::image {

// `large`: the paths of the files with segments of their own, in the order of the segments.
Result<std::string> manifest_text(const CastRequest& request, const std::vector<std::string>& large,
                                  std::uint64_t machine_memory);

// A value for one line: newlines and backslashes spelled by two characters.
std::string escaped(std::string_view value);

}  // namespace ingot::image
