#include "image/cpio_writer.h"

#include <charconv>
#include <cstdio>

#include "base/image/image_table.h"
#include "image/bytes.h"
#include "image/elf_file.h"

namespace ingot::image {

namespace {

constexpr std::string_view magic = "070701", trailer = "TRAILER!!!";
constexpr std::size_t header_bytes = 110;
constexpr std::uint32_t file_kind = 0100000, directory_kind = 0040000, link_kind = 0120000;

class Writer {
 public:
  // `alignment`: of the content in the archive. Zeros behind the path make up for what is missing.
  void add(std::string_view path, std::uint32_t mode, std::uint32_t links, std::uint64_t bytes,
           std::size_t alignment = 4) {
    const std::size_t end_of_path = archive_.size() + header_bytes + path.size() + 1;
    const std::size_t zeros = 1 + (alignment - end_of_path % alignment) % alignment;
    const auto inode = path == trailer ? 0u : ++inode_;
    const std::uint32_t fields[] = {inode,
                                    mode,
                                    0,
                                    0,
                                    links,
                                    0,
                                    static_cast<std::uint32_t>(bytes),
                                    0,
                                    0,
                                    0,
                                    0,
                                    static_cast<std::uint32_t>(path.size() + (alignment > 4 ? zeros : 1)),
                                    0};
    archive_ += magic;
    char digits[9];
    for (const std::uint32_t field : fields) {
      std::snprintf(digits, sizeof digits, "%08x", field);
      archive_ += digits;
    }
    archive_ += path;
    archive_.append(zeros, '\0');
  }
  void append(std::string_view content) { archive_ += content; }
  void pad() { archive_.resize((archive_.size() + 3) & ~std::size_t{3}); }
  std::string finish() {
    add(trailer, 0, 1, 0);
    return std::move(archive_);
  }

 private:
  std::string archive_;
  std::uint32_t inode_ = 0;
};

// Code is shown to programs where it lies, and a page of memory is a page of a file only at such a place.
Result<std::size_t> alignment_of(const Content& content) {
  constexpr std::size_t page = 4096;
  if (content.size() < page) return std::size_t{4};
  const Content front = TRY(content.part(0, elf_header_bytes));
  const std::string beginning = TRY(front.read(elf_header_bytes));
  return ElfFile::looks_like(beginning) ? page : std::size_t{4};
}

Result<void> add_node(Writer& writer, const std::string& path, const FileNode& node) {
  const std::string_view name = std::string_view(path).substr(1);
  switch (node.kind) {
    case FileNode::Kind::directory: writer.add(name, directory_kind | node.mode, 2, 0); return {};
    case FileNode::Kind::symbolic_link:
      writer.add(name, link_kind | 0777, 1, node.target.size());
      writer.append(node.target);
      writer.pad();
      return {};
    case FileNode::Kind::file: break;
  }
  if (node.content.size() > 0xffffffff) {
    return Error::of(ErrorCode::unsupported, "expected a file below 4 GiB in the archive, found ", node.content.size(),
                     " bytes in '", shortened(path), "'");
  }
  const std::size_t alignment = TRY(alignment_of(node.content));
  writer.add(name, file_kind | node.mode, 1, node.content.size(), alignment);
  TRY(node.content.each_piece([&](std::string_view piece) -> Result<void> {
    writer.append(piece);
    return {};
  }));
  writer.pad();
  return {};
}

}  // namespace

Result<std::string> write_bundle(std::string_view manifest, const FileTree& tree,
                                 const std::function<bool(const std::string& path)>& is_inside) {
  Writer writer;
  writer.add(ImageTable::manifest_path, file_kind | 0444, 1, manifest.size());
  writer.append(manifest);
  writer.pad();
  for (const auto& [path, node] : tree.nodes()) {
    if (is_inside(path)) TRY(add_node(writer, path, node));
  }
  return writer.finish();
}

Result<std::string_view> first_member(std::string_view archive, std::string_view path) {
  const std::string_view header = TRY(part_of(archive, 0, header_bytes, "an archive's header"));
  const auto field = [&](std::size_t index) {
    std::uint32_t value = 0;
    const char* digits = header.data() + magic.size() + 8 * index;
    const auto read = std::from_chars(digits, digits + 8, value, 16);
    return read.ec == std::errc() && read.ptr == digits + 8 ? std::optional(value) : std::nullopt;
  };
  const auto bytes = field(6), path_bytes = field(11);
  if (!header.starts_with(magic) || !bytes || !path_bytes) {
    return Error::of(ErrorCode::corrupt, "expected an archive in the newc form, found another header");
  }
  const std::string_view name = TRY(part_of(archive, header_bytes, *path_bytes, "a member's path"));
  if (name.size() != path.size() + 1 || !name.starts_with(path)) {
    return Error::of(ErrorCode::corrupt, "expected the first member '", path, "', found '", shortened(name), "'");
  }
  return part_of(archive, (header_bytes + *path_bytes + 3) & ~std::uint64_t{3}, *bytes, "a member");
}

}  // namespace ingot::image
