#include "image/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <set>

#include "image/bytes.h"
#include "image/elf_file.h"

namespace ingot::image {

namespace {

// Debian's order, then what other distributions have.
constexpr const char* usual_directories[] = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
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

Result<void> check_machine(const ElfFile& file, const std::string& path) {
  if (file.machine() == elf_x86_64) return {};
  return Error::of(ErrorCode::unsupported, "expected a program for x86_64, found one for ",
                   std::string_view(machine_name(file.machine())), " in '", shortened(path), "'");
}

// A file that is needed: where it is on the host, and where the loader will look for it.
struct Needed {
  std::string host, destination;
};

class Collector {
 public:
  Collector(const ProgramSource& source, FileTree& tree) : source_(source), tree_(tree) {}

  Result<void> run() {
    TRY(add({source_.path, source_.destination}));
    while (!waiting_.empty()) {
      const Needed next = std::move(waiting_.front());
      waiting_.pop_front();
      TRY(add(next));
    }
    return {};
  }

 private:
  Result<void> add(const Needed& needed) {
    if (!added_.insert(needed.destination).second) return {};
    const Content content = TRY(Content::of_file(needed.host));
    const std::string bytes = TRY(content.read(largest_elf_file));
    const Result<ElfFile> parsed = ElfFile::parse(bytes);
    if (!parsed.ok()) return parsed.error().within("'", shortened(needed.host), "'");
    const ElfFile& file = parsed.value();
    TRY(check_machine(file, needed.host));
    TRY(tree_.put_file(needed.destination, mode_of(needed.host) | 0111, content));
    const std::optional<std::string> interpreter = TRY(file.interpreter());
    const ElfFile::Libraries libraries = TRY(file.libraries());
    if (!interpreter && libraries.needed.empty()) return {};
    if (source_.root.empty() && !host_agrees()) {
      return Error::of(ErrorCode::unsupported,
                       "expected --root with a root of x86_64 for a dynamic program on this machine, found none: '",
                       shortened(needed.host), "'");
    }
    if (interpreter) waiting_.push_back({TRY(resolve_below(source_.root, *interpreter)), *interpreter});
    for (const std::string& library : libraries.needed) TRY(find(library, libraries.directories, needed));
    return {};
  }

  Result<void> find(const std::string& library, const std::vector<std::string>& run_paths, const Needed& user) {
    if (library.find('/') != std::string::npos) {
      waiting_.push_back({TRY(resolve_below(source_.root, library)), library});
      return {};
    }
    constexpr std::string_view origin = "$ORIGIN", origin_in_braces = "${ORIGIN}";
    for (const std::string& directory : run_paths) {
      const std::string_view word = directory.starts_with(origin) ? origin : origin_in_braces;
      if (directory.starts_with(word)) {
        const std::string rest = directory.substr(word.size());
        const std::string host = std::filesystem::path(user.host).parent_path().string() + rest + '/' + library;
        const std::filesystem::path place = std::string(parent_of(user.destination)) + rest + '/' + library;
        if (::access(host.c_str(), R_OK) == 0) {
          waiting_.push_back({host, place.lexically_normal().string()});
          return {};
        }
      } else if (take_from(directory, library)) {
        return {};
      }
    }
    for (const char* directory : usual_directories) {
      if (take_from(directory, library)) return {};
    }
    return Error::of(ErrorCode::not_found, "expected the library '", shortened(library), "' that '",
                     shortened(user.destination), "' needs, found it in none of the usual folders of ",
                     source_.root.empty() ? std::string_view("this machine") : std::string_view(source_.root));
  }

  bool take_from(const std::string& directory, const std::string& library) {
    const std::string place = directory + '/' + library;
    const Result<std::string> host = resolve_below(source_.root, place);
    if (!host.ok()) return false;
    waiting_.push_back({host.value(), place});
    return true;
  }

  const ProgramSource& source_;
  FileTree& tree_;
  std::deque<Needed> waiting_;
  std::set<std::string> added_;
};

}  // namespace

Result<std::string> resolve_below(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  std::deque<std::string> rest;
  for (const fs::path& name : fs::path(path).relative_path()) rest.push_back(name.string());
  fs::path place = "/";
  std::error_code problem;
  for (int links = 0; !rest.empty();) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      place = place.parent_path();
      continue;
    }
    const fs::path next = place / name;
    const fs::path target = fs::read_symlink(fs::path(root + next.string()), problem);
    if (problem) {  // not a link
      place = next;
      continue;
    }
    if (++links > 40) return Error::of(ErrorCode::corrupt, "expected an end of links, found none at '", path, "'");
    if (target.is_absolute()) place = "/";
    std::deque<std::string> names;
    for (const fs::path& part : target.relative_path()) names.push_back(part.string());
    rest.insert(rest.begin(), names.begin(), names.end());
  }
  const std::string found = root + place.string();
  if (fs::exists(found, problem)) return found;
  return Error::of(ErrorCode::not_found, "expected '", shortened(path), "' below '",
                   shortened(root.empty() ? "/" : root), "', found no such file");
}

Result<void> add_program(const ProgramSource& source, FileTree& tree) { return Collector(source, tree).run(); }

}  // namespace ingot::image
