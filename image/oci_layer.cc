// Layers as the OCI image specification (layer.md) has them.
#include "image/bytes.h"
#include "image/oci_image.h"
#include "image/tar_reader.h"

namespace ingot::image {

namespace {

constexpr std::string_view whiteout = ".wh.", opaque = ".wh..wh..opq";

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Result<void> apply_entry(const TarEntry& entry, FileTree& root) {
  const std::string path = TRY(normal_path(entry.path));
  switch (entry.kind) {
    case TarEntry::Kind::directory: return root.put(path, {FileNode::Kind::directory, entry.mode & 07777, {}, {}});
    case TarEntry::Kind::symbolic_link: return root.put(path, {FileNode::Kind::symbolic_link, 0777, {}, entry.target});
    case TarEntry::Kind::hard_link: {
      const std::string target_path = TRY(normal_path(entry.target));
      const FileNode* target = root.at(target_path);
      if (target == nullptr || target->kind == FileNode::Kind::directory) {
        return Error::of(ErrorCode::corrupt, "expected a hard link to a file of the layer, found '",
                         shortened(entry.path), "' to '", shortened(entry.target), "'");
      }
      return root.put(path, FileNode(*target));
    }
    case TarEntry::Kind::file: return root.put_file(path, entry.mode & 07777, entry.content);
    case TarEntry::Kind::other: return {};  // devices and pipes: the kernel brings its own
  }
  return {};
}

}  // namespace

Result<void> apply_layer(const Content& tar, FileTree& root) {
  const std::vector<TarEntry> entries = TRY(read_tar(tar));
  // What a layer removes is of the layers below it, wherever in the archive it says so.
  for (const TarEntry& entry : entries) {
    const std::string path = TRY(normal_path(entry.path));
    const std::string_view name = name_in(path);
    const std::string folder(parent_of(path));
    if (name == opaque) {
      root.remove_below(folder);
    } else if (name.starts_with(whiteout)) {
      const std::string removed = (folder == "/" ? "" : folder) + '/' + std::string(name.substr(whiteout.size()));
      if (removed.back() != '/') root.remove(removed);
    }
  }
  for (const TarEntry& entry : entries) {
    if (name_in(entry.path).starts_with(whiteout)) continue;
    const Result<void> applied = apply_entry(entry, root);
    if (!applied.ok()) return applied.error().within("layer");
  }
  return {};
}

}  // namespace ingot::image
