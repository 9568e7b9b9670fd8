#include "image/build_products.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "image/bytes.h"

namespace ingot::image {

namespace {

Result<std::string> find_beside(const std::string& program, const std::vector<std::string>& places,
                                std::string_view what, std::string_view remedy) {
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  for (const std::string& place : places) {
    const std::filesystem::path candidate = (folder / place).lexically_normal();
    if (::access(candidate.c_str(), R_OK) == 0) return candidate.string();
  }
  const std::string first = (folder / places.front()).lexically_normal().string();
  return Error::of(ErrorCode::not_found, "expected ", what, " at '", shortened(first), "', found none: ", remedy);
}

}  // namespace

Result<std::string> running_program() {
  std::error_code problem;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) return path.string();
  return Error::of(ErrorCode::input_output, "expected /proc/self/exe to name the running program, found no such link");
}

Result<std::string> find_kernel(const std::string& program) {
  return find_beside(program, {"../os/x86_64/ingot-os", "../lib/ingot/x86_64/ingot-os"}, "the kernel",
                     "build it (make build, or the target os_images), or name it with --kernel");
}

Result<std::string> find_uefi_loader(const std::string& program) {
  return find_beside(program, {"../os/x86_64/BOOTX64.EFI", "../lib/ingot/x86_64/BOOTX64.EFI"}, "the UEFI loader",
                     "build it (make build, or the target os_images), or name it with --loader");
}

Result<std::string> find_engine(const std::string& program) {
#if defined(__x86_64__)
  return program;
#else
  return find_beside(program, {"../cross-x86_64/bin/ingot", "../lib/ingot/x86_64/ingot"}, "the engine for x86_64",
                     "build it (make build), or name it with --engine");
#endif
}

}  // namespace ingot::image
