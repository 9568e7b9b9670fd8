#include "image/build_products.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

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

Result<std::vector<std::string>> kernels_at(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) return std::vector{path};
  std::vector<std::string> kernels;
  for (std::filesystem::directory_iterator entry(path, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (entry->is_regular_file(problem)) kernels.push_back(entry->path().string());
  }
  if (problem) {
    return Error::of(ErrorCode::input_output, "expected to read the folder '", shortened(path),
                     "', found: ", std::string_view(problem.message()));
  }
  if (kernels.empty()) {
    return Error::of(ErrorCode::not_found, "expected kernels in '", shortened(path), "', found an empty folder");
  }
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

Result<std::vector<std::string>> find_kernels(const std::string& program) {
  const std::string folder =
      TRY(find_beside(program, {"../os/x86_64/kernels", "../lib/ingot/x86_64/kernels"}, "the kernels",
                      "build them (make build, or the target os_images), or name one with --kernel"));
  return kernels_at(folder);
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
