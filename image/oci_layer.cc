#include "image/oci_layer.h"

#include "image/bytes.h"
#include "image/sha256.h"
#include "image/tar_reader.h"
#include "image/unpack.h"

namespace ingot::image {

namespace {

constexpr std::string_view whiteout = ".wh.", opaque = ".wh..wh..opq";
constexpr std::uint64_t stays_from_bytes = 1 << 20;

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `used` are the bytes that were taken of the limit before, and grows.
Result<void> take_of_limit(std::uint64_t bytes, std::uint64_t limit, std::uint64_t& used) {
  if (bytes > limit - used) {
    return Error::of(ErrorCode::unsupported, "expected at most ", limit, " bytes in all unpacked layers, found more");
  }
  used += bytes;
  return {};
}

// What comes out of a packed layer: counted, summed and bounded.
class MeasuredStream final : public ByteStream {
 public:
  // `used` are the bytes that other layers took of the limit, and grows.
  MeasuredStream(ByteStream& source, std::uint64_t limit, std::uint64_t& used)
      : source_(source), limit_(limit), used_(used) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = TRY(source_.read(into));
    TRY(take_of_limit(count, limit_, used_));
    sum_.add(std::string_view(into.data(), count));
    return count;
  }
  std::string finish() { return sum_.finish(); }

 private:
  ByteStream& source_;
  std::uint64_t limit_;
  std::uint64_t& used_;
  Sha256 sum_;
};

// To the end of what the digest is of, which is behind the archive's own.
Result<void> check_digest(MeasuredStream& measured, std::string_view what, const std::string& digest) {
  std::vector<char> behind_the_archive(std::size_t{64} << 10);
  while (TRY(measured.read(behind_the_archive)) != 0) {
  }
  const std::string found = measured.finish();
  if (found == digest) return {};
  return Error::of(ErrorCode::corrupt, "expected ", what, " with the digest sha256:", digest, ", found sha256:", found);
}

Result<std::vector<TarEntry>> read_packed(const Layer& layer, std::uint64_t limit, std::uint64_t& used) {
  const std::unique_ptr<ByteStream> packed = TRY(layer.content.open());
  const std::unique_ptr<ByteStream> unpacked =
      layer.packing == Packing::gzip ? unpack_gzip(*packed) : unpack_zstd(*packed);
  MeasuredStream measured(*unpacked, limit, used);
  std::vector<TarEntry> entries = TRY(read_tar(measured));
  TRY(check_digest(measured, "an unpacked layer", layer.unpacked_digest));
  return entries;
}

// Small files are held in memory, where the image's bundle will be; large ones stay, with a digest that holds until
// they are written. Nobody can change either between this look and the image.
Result<std::vector<TarEntry>> read_plain(const Layer& layer, std::uint64_t limit, std::uint64_t& used) {
  const std::unique_ptr<ByteStream> bytes = TRY(layer.content.open());
  std::uint64_t seen = 0;
  MeasuredStream measured(*bytes, layer.content.size(), seen);
  Result<std::vector<TarEntry>> entries = read_tar(
      measured, layer.content, stays_from_bytes, [&](std::uint64_t held) { return take_of_limit(held, limit, used); });
  TRY(check_digest(measured, "content",
                   layer.unpacked_digest));  // of changed bytes, what the archive lacks says little
  return entries;
}

// What a layer removes is of the layers below it, wherever in the archive it says so.
Result<void> remove_entries(const std::vector<TarEntry>& entries, FileTree& root) {
  for (const TarEntry& entry : entries) {
    const std::string path = TRY(normal_path(entry.path));
    const std::string_view name = name_in(path);
    const std::string folder(parent_of(path));
    if (name == opaque) {
      TRY(root.remove_below(folder));
    } else if (name.starts_with(whiteout)) {
      const std::string_view removed = name.substr(whiteout.size());
      if (removed.empty() || removed == "." || removed == "..") {
        return Error::of(ErrorCode::corrupt, "expected a name to remove, found '", shortened(path), "'");
      }
      TRY(root.remove(folder + '/' + std::string(removed)));
    }
  }
  return {};
}

Result<void> put_entry(const TarEntry& entry, FileTree& root) {
  const std::string path = TRY(normal_path(entry.path));
  if (name_in(path).starts_with(whiteout)) return {};
  switch (entry.kind) {
    case TarEntry::Kind::directory: return root.put(path, {FileNode::Kind::directory, entry.mode & 07777, {}, {}});
    case TarEntry::Kind::symbolic_link: return root.put(path, {FileNode::Kind::symbolic_link, 0777, {}, entry.target});
    case TarEntry::Kind::hard_link: {
      const std::string target_path = TRY(normal_path(entry.target));
      const FileNode* target = TRY(root.find(target_path));
      if (target == nullptr || target->kind == FileNode::Kind::directory) {
        return Error::of(ErrorCode::corrupt, "expected a hard link to a file of the layer, found '",
                         shortened(entry.path), "' to '", shortened(entry.target), "'");
      }
      return root.put(path, FileNode(*target));
    }
    case TarEntry::Kind::file: return root.put_file(path, entry.mode & 07777, entry.content);
    case TarEntry::Kind::device: return {};  // and pipes: the kernel brings its own
  }
  return {};
}

}  // namespace

Result<void> LayerReader::apply(const Layer& layer, FileTree& root) {
  const std::vector<TarEntry> entries = layer.packing == Packing::none
                                            ? TRY(read_plain(layer, limits_.unpacked_bytes, unpacked_bytes_))
                                            : TRY(read_packed(layer, limits_.unpacked_bytes, unpacked_bytes_));
  TRY(remove_entries(entries, root));
  for (const TarEntry& entry : entries) {
    TRY(put_entry(entry, root));
    if (root.nodes().size() > limits_.nodes) {
      return Error::of(ErrorCode::unsupported, "expected at most ", limits_.nodes,
                       " files, links and folders in all layers, found more");
    }
  }
  return {};
}

}  // namespace ingot::image
