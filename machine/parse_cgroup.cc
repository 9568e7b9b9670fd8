// Where a process's cgroup limits are written. Three things vary: the hierarchy's version, where it is mounted, and
// whether the mount shows the whole tree or, inside a container, only a part of it (mountinfo's root field).
#include "machine/parse.h"

namespace ingot {
namespace {

bool lists(std::string_view comma_separated, std::string_view name) {
  while (!comma_separated.empty()) {
    if (take_until(comma_separated, ',') == name) return true;
  }
  return false;
}

struct Mount {
  CgroupVersion version;
  std::string_view root, point;
};

// proc(5), /proc/self/mountinfo: "36 35 98:0 /root /mount/point options [optional]* - type source super-options".
std::optional<Mount> cgroup_mount(std::string_view line, std::string_view controller) {
  std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view front = line.substr(0, dash);
  std::string_view back = line.substr(dash + 3);
  for (int skipped = 0; skipped < 3; ++skipped) take_until(front, ' ');
  std::string_view root = take_until(front, ' ');
  std::string_view point = take_until(front, ' ');
  std::string_view type = take_until(back, ' ');
  take_until(back, ' ');
  if (type == "cgroup2") return Mount{CgroupVersion::v2, root, point};
  if (type == "cgroup" && lists(back, controller)) return Mount{CgroupVersion::v1, root, point};
  return std::nullopt;
}

// proc(5), /proc/self/cgroup: "4:cpu,cpuacct:/path" for a v1 hierarchy, "0::/path" for v2.
std::optional<std::string_view> own_path(std::string_view cgroups, CgroupVersion version, std::string_view controller) {
  while (!cgroups.empty()) {
    std::string_view line = take_until(cgroups, '\n');
    std::string_view number = take_until(line, ':');
    std::string_view controllers = take_until(line, ':');
    bool matches = version == CgroupVersion::v2 ? number == "0" && controllers.empty() : lists(controllers, controller);
    if (matches) return line;
  }
  return std::nullopt;
}

// The path below the mount point, or the mount point itself where the mount does not show our own directory.
std::string_view below_root(std::string_view path, std::string_view root) {
  if (root == "/") root = {};
  if (!path.starts_with(root)) return {};
  path.remove_prefix(root.size());
  bool inside = path.starts_with('/') && path != "/" && path.find("/..") == std::string_view::npos;
  return inside ? path : std::string_view{};
}

}  // namespace

std::vector<CgroupDirectory> cgroup_directories(std::string_view cgroups, std::string_view mounts,
                                                std::string_view controller) {
  std::vector<CgroupDirectory> directories;
  while (!mounts.empty()) {
    std::optional<Mount> mount = cgroup_mount(take_until(mounts, '\n'), controller);
    if (!mount) continue;
    std::optional<std::string_view> path = own_path(cgroups, mount->version, controller);
    if (!path) continue;
    std::string_view below = below_root(*path, mount->root);
    // From our own directory to the mount: the tightest limit on the way binds.
    while (true) {
      directories.push_back({mount->version, std::string(mount->point) + std::string(below)});
      if (below.empty()) break;
      below = below.substr(0, below.rfind('/'));
    }
  }
  return directories;
}

}  // namespace ingot
