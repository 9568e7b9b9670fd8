#include "image/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "image/bytes.h"
#include "image/elf_file.h"
#include "image/library_directories.h"
#include "image/root_reader.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t largest_elf_file = std::uint64_t{2} << 30;

bool host_agrees() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

std::uint32_t mode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & 0111) != 0 ? 0755 : 0644;
}

// A file that a program is made of.
struct Part {
  std::string path;                    // in the image
  std::string host;                    // where it was fetched from; empty: it was in the image
  std::vector<std::string> inherited;  // DT_RPATH of those that asked for it
};

// As whoever casts knows it.
std::string_view given_name(const Part& part) { return part.host.empty() ? part.path : part.host; }

Result<void> check_machine(const ElfFile& file, const Part& part) {
  if (file.machine() == elf_x86_64) return {};
  return Error::of(ErrorCode::unsupported, "expected a program for x86_64, found one for ",
                   std::string_view(machine_name(file.machine())), " at '", shortened(given_name(part)), "'");
}

// Follows what files name, from one to the next.
class Walk {
 public:
  enum class IfMissing : std::uint8_t { refuse, note };

  explicit Walk(const FileTree& tree) : tree_(tree), configured_(configured_library_directories(reader_of(tree))) {}
  // What is not in the tree is fetched from below `root`.
  Walk(FileTree& tree, const std::string& root) : tree_(tree), writable_(&tree), root_(root) {
    configured_ = configured_library_directories(reader_of_folder(root));
  }

  void use_environment(const std::vector<std::string>& environment) {
    constexpr std::string_view name = "LD_LIBRARY_PATH=";
    for (const std::string& entry : environment) {
      if (entry.starts_with(name)) environment_ = split_paths(entry.substr(name.size()));
    }
  }
  void begin_at(Part part) { waiting_.push_back(std::move(part)); }
  Result<void> run(IfMissing if_missing) {
    if_missing_ = if_missing;
    while (!waiting_.empty()) {
      const Part next = std::move(waiting_.front());
      waiting_.pop_front();
      TRY(visit(next));
    }
    return {};
  }

  const std::vector<std::string>& paths() const { return paths_; }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  Result<void> visit(const Part& part) {
    const std::string path = TRY(tree_.resolve(part.path));
    if (!seen_.insert(path).second) return {};
    const std::string bytes = TRY(tree_.at(path)->content.read(largest_elf_file));
    const Result<ElfFile> parsed = ElfFile::parse(bytes);
    if (!parsed.ok() && if_missing_ == IfMissing::note) return {};  // a file that only looks like one
    if (bytes.starts_with("#!")) {
      return Error::of(ErrorCode::unsupported, "expected an ELF file at '", shortened(given_name(part)),
                       "', found a script for '", shortened(bytes.substr(2, bytes.find('\n') - 2)),
                       "': cast that, with the script as argument");
    }
    if (!parsed.ok()) return parsed.error().within("program '", shortened(given_name(part)), "'");
    const ElfFile& file = parsed.value();
    TRY(check_machine(file, part));
    paths_.push_back(path);
    const std::optional<std::string> interpreter = TRY(file.interpreter());
    const ElfFile::Libraries libraries = TRY(file.libraries());
    if (interpreter && if_missing_ == IfMissing::refuse) TRY(need_interpreter(*interpreter, part));
    for (const std::string& library : libraries.needed) TRY(need_library(library, libraries, part));
    return {};
  }

  Result<void> check_host(const Part& user) const {
    if (writable_ == nullptr || !root_.empty() || host_agrees()) return {};
    return Error::of(ErrorCode::unsupported,
                     "expected --root with a root of x86_64 for a dynamic program on this machine, found none: '",
                     shortened(given_name(user)), "'");
  }

  Result<void> need_interpreter(const std::string& interpreter, const Part& user) {
    if (!tree_.resolve(interpreter).ok()) {
      TRY(check_host(user));
      std::string host;
      if (writable_ != nullptr) host = TRY(resolve_below(root_, interpreter));
      if (host.empty() || !fetch(interpreter, host, {})) {
        return Error::of(ErrorCode::not_found, "expected the interpreter '", shortened(interpreter), "' that '",
                         shortened(given_name(user)), "' needs, found it not in the image's root");
      }
      loader_directory_ = std::string(parent_of(std::string_view(host).substr(root_.size())));
      return {};
    }
    waiting_.push_back({interpreter, {}, {}});
    return {};
  }

  Result<void> need_library(const std::string& library, const ElfFile::Libraries& libraries, const Part& user) {
    std::vector<std::string> inherited = user.inherited;
    if (libraries.run_path.empty()) inherited.insert(inherited.begin(), libraries.rpath.begin(), libraries.rpath.end());
    if (library.find('/') != std::string::npos) {
      if (take(std::string(parent_of(library)), library.substr(library.rfind('/') + 1), user, inherited)) return {};
    } else {
      std::vector<std::string> directories;
      const auto add = [&](const auto& more) { directories.insert(directories.end(), more.begin(), more.end()); };
      if (libraries.run_path.empty()) add(inherited);
      add(environment_);
      add(libraries.run_path);
      add(std::vector<std::string>(std::begin(usual_library_directories), std::end(usual_library_directories)));
      for (const std::string& directory : directories) {
        if (take(directory, library, user, inherited)) return {};
      }
      for (const std::string& directory : configured_) {
        if (!take(directory, library, user, inherited)) continue;
        return link_to(directory, library);
      }
      // A loader may know more places: whatever its configuration is, the file is there for it.
      if (writable_ == nullptr && take_anywhere(library, inherited)) return {};
    }
    TRY(check_host(user));
    if (if_missing_ == IfMissing::note) {
      missing_.push_back(library + " (for " + user.path + ')');
      return {};
    }
    const std::string where = writable_ == nullptr ? "the image's root" : root_.empty() ? "this machine" : root_;
    return Error::of(ErrorCode::not_found, "expected the library '", shortened(library), "' that '",
                     shortened(given_name(user)), "' needs, found it in none of the folders for libraries of ",
                     std::string_view(where));
  }

  bool take(const std::string& directory, const std::string& library, const Part& user,
            const std::vector<std::string>& inherited) {
    std::string place = directory + '/' + library, host;
    for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
      if (!directory.starts_with(origin)) continue;
      const std::string rest = directory.substr(origin.size()) + '/' + library;
      const std::filesystem::path below = std::string(parent_of(user.path)) + rest;
      place = below.lexically_normal().string();
      if (!user.host.empty()) host = std::filesystem::path(user.host).parent_path().string() + rest;
    }
    if (tree_.resolve(place).ok()) {
      waiting_.push_back({place, {}, inherited});
      return true;
    }
    if (writable_ == nullptr || (root_.empty() && !host_agrees())) return false;
    if (host.empty()) {
      const Result<std::string> found = resolve_below(root_, place);
      if (!found.ok()) return false;
      host = found.value();
    }
    return ::access(host.c_str(), R_OK) == 0 && fetch(place, host, inherited);
  }

  bool take_anywhere(const std::string& library, const std::vector<std::string>& inherited) {
    for (const auto& [path, node] : tree_.nodes()) {
      if (!path.ends_with('/' + library) || node.kind == FileNode::Kind::directory) continue;
      waiting_.push_back({path, {}, inherited});
      return true;
    }
    return false;
  }

  bool fetch(const std::string& place, const std::string& host, const std::vector<std::string>& inherited) {
    const Result<Content> content = Content::of_file(host);
    if (!content.ok() || !writable_->put_file(place, mode_of(host) | 0111, content.value()).ok()) return false;
    waiting_.push_back({place, host, inherited});
    return true;
  }

  // The loader finds those directories by a cache that the image does not have: a link where it looks anyway.
  Result<void> link_to(const std::string& directory, const std::string& library) {
    if (writable_ == nullptr || loader_directory_.empty()) return {};
    return writable_->put(loader_directory_ + '/' + library,
                          {FileNode::Kind::symbolic_link, 0777, {}, directory + '/' + library});
  }

  const FileTree& tree_;
  FileTree* writable_ = nullptr;
  std::string root_;
  std::vector<std::string> configured_, environment_;
  std::string loader_directory_;
  IfMissing if_missing_ = IfMissing::refuse;
  std::deque<Part> waiting_;
  std::set<std::string> seen_;
  std::vector<std::string> paths_, missing_;
};

bool is_shared_object(const FileNode& node) {
  constexpr std::uint64_t looked_at = elf_header_bytes;
  if (node.kind != FileNode::Kind::file || node.content.size() < looked_at) return false;
  const Result<Content> part = node.content.part(0, looked_at);
  if (!part.ok()) return false;
  const Result<std::string> header = part.value().read(looked_at);
  constexpr std::size_t place_of_type = 16, place_of_machine = 18;
  constexpr std::uint16_t shared = 3;
  return header.ok() && ElfFile::looks_like(header.value()) &&
         number_at<std::uint16_t>(header.value(), place_of_type) == shared &&
         number_at<std::uint16_t>(header.value(), place_of_machine) == elf_x86_64;
}

}  // namespace

Result<void> add_program(const ProgramSource& source, FileTree& tree) {
  const Content content = TRY(Content::of_file(source.path));
  TRY(tree.put_new_file(source.destination, mode_of(source.path) | 0111, content, "the program"));
  Walk walk(tree, source.root);
  walk.begin_at({source.destination, source.path, {}});
  return walk.run(Walk::IfMissing::refuse);
}

Result<std::vector<std::string>> add_libraries_of_files(const std::string& root, FileTree& tree) {
  if (root.empty() && !host_agrees()) return std::vector<std::string>();
  Walk walk(tree, root);
  for (const auto& [path, node] : tree.nodes()) {
    if (is_shared_object(node)) walk.begin_at({path, {}, {}});
  }
  TRY(walk.run(Walk::IfMissing::note));
  return walk.missing();
}

Result<std::vector<std::string>> program_parts(const FileTree& tree, const std::string& program,
                                               const std::vector<std::string>& environment) {
  const std::string path = TRY(tree.resolve(program));
  if (tree.at(path)->kind != FileNode::Kind::file) {
    return Error::of(ErrorCode::invalid_argument, "expected a program at '", shortened(path), "', found a folder");
  }
  Walk walk(tree);
  walk.use_environment(environment);
  walk.begin_at({program, {}, {}});
  TRY(walk.run(Walk::IfMissing::refuse));
  return walk.paths();
}

}  // namespace ingot::image
