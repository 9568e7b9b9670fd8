#include "image/cast_checks.h"

#include <algorithm>

#include "base/image/kernel_directories.h"
#include "base/image/machine_limits.h"
#include "image/bytes.h"

namespace ingot::image {

namespace {

Result<void> check_root(const FileTree& root) {
  if (root.at("/ingot") == nullptr) return {};
  return Error::of(ErrorCode::invalid_argument,
                   "expected nothing at '/ingot' in the image's root, where the manifest lies, found a file or folder");
}

// The root as the program will see it, as far as its folders go.
Result<FileTree> with_kernel_directories(FileTree root, bool has_tmpfs) {
  const auto add = [&](std::string_view path) { return root.put(path, {FileNode::Kind::directory, 0755, {}, {}}); };
  for (const std::string_view path : {kernel_directory::devices, kernel_directory::processes, kernel_directory::machine,
                                      kernel_directory::settings}) {
    TRY(add(path));
  }
  if (!has_tmpfs) return root;
  TRY(add(kernel_directory::shared_memory));
  for (const std::string_view path : kernel_directory::writable) TRY(add(path));
  return root;
}

// Which of them these hold is the kernel's own matter.
bool is_of_the_kernel(std::string_view path) {
  for (const std::string_view folder : {kernel_directory::processes, kernel_directory::machine}) {
    if (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/') return true;
  }
  return false;
}

Result<void> check_directory(const CastRequest& request) {
  if (request.directory == "/") return {};
  const std::string path = TRY(normal_path(request.directory));
  if (is_of_the_kernel(path)) return {};
  Result<std::string> found = request.root.resolve(path);
  if (found.ok() && request.root.at(found.value())->kind == FileNode::Kind::directory) return {};
  if (found.ok()) {
    return Error::of(ErrorCode::invalid_argument, "expected a folder for the program to start in, found a file at '",
                     shortened(path), "'");
  }
  const FileTree seen = TRY(with_kernel_directories(request.root, request.tmpfs.has_value()));
  if (seen.resolve(path).ok()) return {};
  const FileTree writable = TRY(with_kernel_directories(request.root, true));
  if (writable.resolve(path).ok()) {
    return Error::of(ErrorCode::not_found,
                     "expected a folder of the image for the program to start in, found none at '", shortened(path),
                     "': --tmpfs makes it");
  }
  return Error::of(ErrorCode::not_found, "expected a folder of the image for the program to start in, found none at '",
                   shortened(path), "': --file FOLDER=", shortened(path), " makes it");
}

}  // namespace

Result<void> check_cpus(std::uint64_t cpus) {
  if (cpus >= 1 && cpus <= most_machine_cpus) return {};
  return Error::of(ErrorCode::unsupported, "expected 1 to ", most_machine_cpus,
                   " processors, as many as the kernel uses, found ", cpus);
}

Result<void> check_request(const CastRequest& request) {
  TRY(check_root(request.root));
  if (request.machine_cpus) {
    const Result<void> cpus = check_cpus(*request.machine_cpus);
    if (!cpus.ok()) return cpus.error().within("--cpus");
  }
  const Result<void> directory = check_directory(request);
  if (!directory.ok()) return directory.error().within("--directory");
  return {};
}

Result<void> check_consumed(const CastRequest& request, const std::vector<std::string>& large) {
  for (const std::string& path : request.consumed) {
    const Result<std::string> normal = normal_path(path);
    if (normal.ok() && std::find(large.begin(), large.end(), normal.value()) != large.end()) continue;
    std::string names;
    for (const std::string& name : large) names += (names.empty() ? "" : ", ") + name;
    return Error::of(ErrorCode::not_found, "--consume: expected the path of a file of ", segment_from_bytes >> 20,
                     " MiB or more in the image (", names.empty() ? "it has none" : shortened(names), "), found '",
                     shortened(path), "'");
  }
  return {};
}

}  // namespace ingot::image
