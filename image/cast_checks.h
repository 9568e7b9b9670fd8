// What of a request no machine could run: refused before anything is written. Errors name the option that was typed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/cast.h"

namespace ingot::image {

// The output is none of the files that are read, nor in one of the folders, by whatever name.
Result<void> check_output(const std::string& output, const std::set<std::string>& read);

// The output is no file that is read, by whatever name; nothing lies where the manifest goes; processors are as many as
// the kernel uses; the folder that the program starts in is there, or the kernel makes it.
Result<void> check_request(const CastRequest& request);

// `large`: files with a segment of their own, which alone can be used up.
Result<void> check_consumed(const CastRequest& request, const std::vector<std::string>& large);

// `program`: the path of its file in the root. Its own writable segments fit into what it may have.
Result<void> check_limit(const CastRequest& request, const std::string& program);

// For those who boot, too.
Result<void> check_cpus(std::uint64_t cpus);

}  // namespace ingot::image
