#include "os/file/path_walk.h"

namespace ingot::os {

void PathWalk::free_text() {
  if (text_ != nullptr) root_.volume().heap().free(text_, text_bytes_, 1);
  text_ = nullptr;
}

Answer<void> PathWalk::step_up() {
  Directory* here = current_->as_directory();
  if (here == &root_ || here == &real_root_) return {};
  if (here->parent() == nullptr) return Errno::enoent;  // it was removed while somebody stood in it
  current_ = Reference<Node>(*here->parent());
  return {};
}

// The path is now the link's, then the rest.
Answer<void> PathWalk::follow(Node& link, std::string_view rest) {
  if (++links_ > most_links_) return Errno::eloop;
  Reference<Node> destination = TRY(link.destination());
  if (destination) {
    current_ = std::move(destination);
    path_ = rest;
    return {};
  }
  Allocator& heap = root_.volume().heap();
  constexpr std::size_t room = most_path_bytes + 1;
  char* text = static_cast<char*>(TRY(heap.allocate(room, 1)));
  const Answer<std::size_t> target = link.read_link({text, room});
  const std::size_t letters = target.ok() ? target.value() : 0;
  Answer<void> fits;
  if (!target.ok()) fits = target.error();
  if (target.ok() && letters == 0) fits = Errno::enoent;
  if (target.ok() && letters + rest.size() > most_path_bytes) fits = Errno::enametoolong;
  if (!fits.ok()) {
    heap.free(text, room, 1);
    return fits.error();
  }
  if (!rest.empty()) __builtin_memcpy(text + letters, rest.data(), rest.size());  // it begins with a slash
  free_text();
  text_ = text;
  text_bytes_ = room;
  path_ = {text, letters + rest.size()};
  if (path_.starts_with('/')) current_ = Reference<Node>(root_);
  return {};
}

Answer<void> PathWalk::run(std::string_view path, Last last) {
  if (path.empty()) return Errno::enoent;
  if (path.size() > most_path_bytes) return Errno::enametoolong;
  const bool wants_parent = last == Last::parent || last == Last::parent_of_followed;
  const bool follows = last == Last::followed || last == Last::parent_of_followed;
  path_ = path;
  current_ = Reference<Node>(path.starts_with('/') ? root_ : from_);
  while (true) {
    const std::size_t begin = path_.find_first_not_of('/');
    if (begin == std::string_view::npos) {  // the end; after slashes only a directory may stand
      if (!path_.empty() && current_->as_directory() == nullptr) return Errno::enotdir;
      name_ = {};
      return {};
    }
    path_.remove_prefix(begin);
    const std::string_view name = path_.substr(0, path_.find('/'));
    std::string_view rest = path_;
    rest.remove_prefix(name.size());
    const bool is_last = rest.find_first_not_of('/') == std::string_view::npos;

    Directory* here = current_->as_directory();
    if (here == nullptr) return Errno::enotdir;
    if (name.size() > most_name_bytes) return Errno::enametoolong;
    if (is_last && wants_parent) {
      name_ = name;
      ends_in_slash_ = !rest.empty();
      if (!follows || ends_in_slash_ || name == "." || name == "..") return {};
      const Answer<Reference<Node>> child = here->find(name);
      if (!child.ok() || child.value()->kind() != FileKind::symbolic_link) return {};
      TRY(follow(*child.value(), rest));
      continue;
    }
    if (name == ".") {
      path_ = rest;
    } else if (name == "..") {
      path_ = rest;
      TRY(step_up());
    } else {
      Reference<Node> child = TRY(here->find(name));
      if (child->kind() == FileKind::symbolic_link && (!is_last || follows || !rest.empty())) {
        TRY(follow(*child, rest));
      } else {
        current_ = std::move(child);
        path_ = rest;
      }
    }
  }
}

}  // namespace ingot::os
