#include "image/cast_checks.h"

#include <algorithm>
#include <filesystem>

#include "base/image/kernel_directories.h"
#include "base/image/machine_limits.h"
#include "base/image/network_settings.h"
#include "base/units.h"
#include "image/bytes.h"
#include "image/elf_file.h"

namespace ingot::image {

namespace {

namespace fs = std::filesystem;

// Whether `path` lies below the folder, at whatever depth.
bool is_inside(const fs::path& path, const std::string& folder) {
  std::error_code problem;
  // Of a link both: where it stands, and where it leads.
  for (const fs::path& file : {path, fs::canonical(path, problem)}) {
    fs::path above = fs::canonical(fs::absolute(file, problem).parent_path(), problem);
    for (; !fs::equivalent(above, folder, problem); above = above.parent_path()) {
      if (!above.has_relative_path()) break;
    }
    if (fs::equivalent(above, folder, problem)) return true;
  }
  return false;
}

std::set<std::string> read_by(const CastRequest& request) {
  std::set<std::string> read(request.kernels.begin(), request.kernels.end());
  read.insert(request.sources.begin(), request.sources.end());
  read.insert(request.loader);
  for (const auto& [path, node] : request.root.nodes()) read.insert(node.content.host_path());
  return read;
}

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

// A cast that fails leaves what was there before, but one that succeeds takes its place.
Result<void> check_output(const std::string& output, const std::set<std::string>& read) {
  std::error_code problem;
  if (!fs::exists(output, problem)) return {};
  for (const std::string& path : read) {
    const bool is_folder = fs::is_directory(path, problem);
    if (!(is_folder ? is_inside(output, path) : fs::equivalent(path, output, problem))) continue;
    return Error::of(ErrorCode::invalid_argument, "output: expected another file than what is read, found '",
                     shortened(output), "'");
  }
  return {};
}

Result<void> check_request(const CastRequest& request) {
  TRY(check_output(request.output, read_by(request)));
  TRY(check_root(request.root));
  if (request.machine_cpus) {
    const Result<void> cpus = check_cpus(*request.machine_cpus);
    if (!cpus.ok()) return cpus.error().within("--cpus");
  }
  NetworkSettings settings;
  for (const std::string& line : request.network) {
    const Result<void> added = settings.add(line);
    if (!added.ok()) return added.error().within("--address");
  }
  const Result<void> directory = check_directory(request);
  if (!directory.ok()) return directory.error().within("--directory");
  return {};
}

Result<void> check_limit(const CastRequest& request, const std::string& program) {
  constexpr std::uint64_t page_bytes = 4096, largest_program = std::uint64_t{2} << 30;
  if (!request.memory_limit) return {};
  const std::string bytes = TRY(request.root.at(program)->content.read(largest_program));
  const ElfFile file = TRY(ElfFile::parse(bytes));
  std::uint64_t least = page_bytes;  // of its stack
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != ElfSegment::load || (segment.flags & ElfSegment::write) == 0) continue;
    least += align_up(segment.virtual_address % page_bytes + segment.memory_bytes, page_bytes);
  }
  if (*request.memory_limit >= least) return {};
  return Error::of(ErrorCode::out_of_memory, "--limit: expected at least the ", least >> 10,
                   " KiB that the program starts with, found ", *request.memory_limit, " bytes");
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
