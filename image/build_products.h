// What the build made beside the running program: the kernel, the engine for the guest, the UEFI loader.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ingot::image {

// The kernels at a place: the file itself, or all files of a folder, by name.
Result<std::vector<std::string>> kernels_at(const std::string& path);

// The path of the program that runs.
Result<std::string> running_program();

// Beside `program` as the build leaves them, or as an installation does; errors say what to build.
Result<std::vector<std::string>> find_kernels(const std::string& program);
Result<std::string> find_uefi_loader(const std::string& program);
// The engine as a static program for x86_64: on such a machine the running program itself.
Result<std::string> find_engine(const std::string& program);

}  // namespace ingot::image
