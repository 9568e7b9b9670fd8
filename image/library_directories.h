// Where a loader looks for libraries: the order that ld.so(8) describes.
#pragma once

#include <string>
#include <vector>

#include "image/root_reader.h"

namespace ingot::image {

// Debian's order, then what other distributions have.
inline constexpr const char* usual_library_directories[] = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"};

// The directories that /etc/ld.so.conf names, with the files that it includes.
std::vector<std::string> configured_library_directories(const RootReader& root);

// "a:b" -> a, b; empty ones are left out.
std::vector<std::string> split_paths(const std::string& list);

}  // namespace ingot::image
