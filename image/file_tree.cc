#include "image/file_tree.h"

#include <deque>

#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr std::size_t longest_path = 4095;  // Linux's PATH_MAX without its zero
constexpr int most_links = 40;              // Linux's limit, too

// Names of a path, '.' and empty ones left out.
std::deque<std::string> names_of(std::string_view path) {
  std::deque<std::string> names;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (!name.empty() && name != ".") names.emplace_back(name);
  }
  return names;
}

Error bad_path(std::string_view path) {
  return Error::of(ErrorCode::corrupt, "expected a path of at most ", longest_path,
                   " characters without zeros, found '", shortened(path), "'");
}

}  // namespace

Result<std::string> normal_path(std::string_view path) {
  if (path.size() > longest_path || path.find('\0') != std::string_view::npos) return bad_path(path);
  std::string normal;
  for (const std::string& name : names_of(path)) {
    if (name == "..") {
      return Error::of(ErrorCode::corrupt, "expected a path without '..', found '", shortened(path), "'");
    }
    normal += '/' + name;
  }
  return normal.empty() ? std::string("/") : normal;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

const FileNode* FileTree::at(std::string_view path) const {
  static const FileNode root{FileNode::Kind::directory, 0755, {}, {}};
  if (path == "/") return &root;
  const auto found = nodes_.find(std::string(path));
  return found == nodes_.end() ? nullptr : &found->second;
}

Result<const FileNode*> FileTree::find(std::string_view path) const { return at(TRY(follow(path, false))); }

// What does not exist is no link: it stays as it is.
Result<std::string> FileTree::follow(std::string_view path, bool last_too) const {
  std::deque<std::string> rest = names_of(path);
  std::string place;
  for (int links = 0; !rest.empty();) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == "..") {
      place = place.substr(0, place.rfind('/') == std::string::npos ? 0 : place.rfind('/'));
      continue;
    }
    std::string next = place;
    next += '/';
    next += name;
    if (next.size() > longest_path) return bad_path(path);
    const FileNode* node = at(next);
    const bool is_link = node != nullptr && node->kind == FileNode::Kind::symbolic_link;
    if (!is_link || (rest.empty() && !last_too)) {
      place = next;
      continue;
    }
    if (++links > most_links) {
      return Error::of(ErrorCode::corrupt, "expected at most ", most_links, " links on the way, found more at '",
                       shortened(path), "'");
    }
    if (node->target.starts_with('/')) place.clear();
    std::deque<std::string> target = names_of(node->target);
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  return place.empty() ? std::string("/") : place;
}

Result<std::string> FileTree::resolve(std::string_view path) const {
  const std::string place = TRY(follow(path, true));
  if (at(place) != nullptr) return place;
  return Error::of(ErrorCode::not_found, "expected '", shortened(path), "' in the image's root, found no such path");
}

Result<void> FileTree::put(std::string_view path, FileNode node) {
  const std::string normal = TRY(normal_path(path));
  if (normal == "/") return {};  // archives name the root itself; it is always there
  if (node.target.size() > longest_path) return bad_path(node.target).within("link '", shortened(path), "'");
  const std::string place = TRY(follow(normal, false));
  if (place == "/")
    return Error::of(ErrorCode::corrupt, "expected a path below the root, found '", shortened(path), "'");
  for (std::size_t slash = place.find('/', 1); slash != std::string::npos; slash = place.find('/', slash + 1)) {
    const auto [above, added] = nodes_.try_emplace(place.substr(0, slash));
    if (added || above->second.kind != FileNode::Kind::directory) {
      above->second = FileNode{FileNode::Kind::directory, 0755, {}, {}};
    }
  }
  if (node.kind != FileNode::Kind::directory) erase_below(place);
  nodes_[place] = std::move(node);
  return {};
}

Result<void> FileTree::put_file(std::string_view path, std::uint32_t mode, Content content) {
  return put(path, FileNode{FileNode::Kind::file, mode, std::move(content), {}});
}

Result<void> FileTree::put_new_file(std::string_view path, std::uint32_t mode, Content content, std::string_view what) {
  const std::string normal = TRY(normal_path(path));
  for (std::size_t slash = 0; slash != std::string::npos;) {
    slash = normal.find('/', slash + 1);
    const std::string_view place = std::string_view(normal).substr(0, slash);
    const FileNode* node = TRY(find(place));
    if (node == nullptr || (slash != std::string::npos && node->kind != FileNode::Kind::file)) continue;
    return Error::of(ErrorCode::invalid_argument, "expected '", shortened(normal), "' to be free for ", what,
                     ", found something else at '", shortened(place), "': --file puts it elsewhere");
  }
  return put_file(normal, mode, std::move(content));
}

void FileTree::erase_below(const std::string& place) {
  const std::string prefix = place == "/" ? "/" : place + '/';
  auto node = nodes_.lower_bound(prefix);
  while (node != nodes_.end() && node->first.starts_with(prefix)) node = nodes_.erase(node);
}

Result<void> FileTree::remove_below(std::string_view path) {
  erase_below(TRY(follow(path, true)));
  return {};
}

Result<void> FileTree::remove(std::string_view path) {
  const std::string place = TRY(follow(path, false));
  erase_below(place);
  nodes_.erase(place);
  return {};
}

}  // namespace ingot::image
