#include "image/oci_image.h"

#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>

#include "image/bytes.h"
#include "image/sha256.h"
#include "image/tar_reader.h"

namespace ingot::image {

namespace {

using Json = nlohmann::json;
constexpr std::uint64_t longest_document = 4 << 20;
constexpr int deepest_index = 4;

Error not_as_described(std::string_view what, std::string_view found) {
  return Error::of(ErrorCode::corrupt, "expected ", what, ", found ", found);
}

// The 64 digits of a digest, the only kind that is read.
Result<std::string> digits_of(const std::string& digest) {
  constexpr std::string_view prefix = "sha256:";
  std::string digits = digest.substr(std::min(digest.size(), prefix.size()));
  if (digest.starts_with(prefix) && digits.size() == 64 &&
      digits.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return digits;
  }
  return Error::of(ErrorCode::unsupported, "expected a digest 'sha256:' and 64 hexadecimal digits, found '",
                   shortened(digest), "'");
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The layout's files by their names, from a folder or from a tar.
class Layout {
 public:
  static Layout of_folder(const std::string& path) {
    Layout layout;
    layout.folder_ = path;
    return layout;
  }
  static Result<Layout> of_archive(const Content& tar) {
    constexpr std::string_view gzip_magic = "\x1f\x8b";
    if (tar.size() >= gzip_magic.size()) {
      const Content start = TRY(tar.part(0, gzip_magic.size()));
      const std::string magic = TRY(start.read(gzip_magic.size()));
      if (magic == gzip_magic) {
        return Error::of(ErrorCode::unsupported,
                         "expected a tar or a folder, found a file that is packed with gzip: unpack it first");
      }
    }
    Layout layout;
    std::vector<TarEntry> entries = TRY(read_tar(tar));
    for (TarEntry& entry : entries) {
      if (entry.kind != TarEntry::Kind::file) continue;
      const std::string name = TRY(normal_path(entry.path));
      layout.members_[name.substr(1)] = std::move(entry.content);
    }
    return layout;
  }

  Result<Content> file(const std::string& name) const {
    if (!folder_.empty()) return Content::of_file(folder_ + '/' + name);
    const auto found = members_.find(name);
    if (found != members_.end()) return Content(found->second);
    return Error::of(ErrorCode::not_found, "expected '", shortened(name), "' in the archive, found no such member");
  }

  // The blob that a descriptor names, of the size that it says.
  Result<Content> sized_blob(const Json& descriptor) const {
    const std::string digits = TRY(digits_of(text_of(descriptor, "digest")));
    const auto size = descriptor.find("size");
    if (size == descriptor.end() || !size->is_number_unsigned()) {
      return not_as_described("a size in bytes beside each digest", "none");
    }
    const Content content = TRY(file("blobs/sha256/" + digits));
    if (content.size() != size->get<std::uint64_t>()) {
      return Error::of(ErrorCode::corrupt, "expected ", size->get<std::uint64_t>(), " bytes as sha256:", digits,
                       ", found ", content.size());
    }
    return content;
  }

  // The same, checked against its digest as well, and again whenever it is read.
  Result<Content> blob(const Json& descriptor) const {
    const std::string digits = TRY(digits_of(text_of(descriptor, "digest")));
    const Content content = TRY(sized_blob(descriptor));
    Sha256 sum;
    TRY(content.each_piece([&](std::string_view piece) -> Result<void> {
      sum.add(piece);
      return {};
    }));
    const std::string found = sum.finish();
    if (found == digits) return content.with_digest(digits);
    return Error::of(ErrorCode::corrupt, "expected content with the digest sha256:", digits, ", found sha256:", found);
  }

  Result<Json> document(const Content& content, std::string_view what) const {
    const std::string text = TRY(content.read(longest_document));
    Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_object()) return parsed;
    return Error::of(ErrorCode::corrupt, "expected a JSON object as ", what, ", found something else");
  }

 private:
  std::string folder_;
  std::map<std::string, Content> members_;
};

// The texts of an array; nothing where there is none.
Result<std::vector<std::string>> texts_of(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return texts;
  if (!found->is_array()) return Error::of(ErrorCode::corrupt, "expected a list as '", key, "', found another value");
  for (const Json& item : *found) {
    if (!item.is_string()) {
      return Error::of(ErrorCode::corrupt, "expected texts in '", key, "', found another value");
    }
    texts.push_back(item.get<std::string>());
    if (texts.back().find('\0') != std::string::npos) {
      return Error::of(ErrorCode::corrupt, "expected texts without zeros in '", key, "', found one");
    }
  }
  return texts;
}

bool is_ours(const Json& descriptor) {
  const auto platform = descriptor.find("platform");
  if (platform == descriptor.end() || !platform->is_object()) return true;  // an index of one image says nothing
  return text_of(*platform, "os") == "linux" && text_of(*platform, "architecture") == "amd64";
}

// From an index to the manifest of the image for our platform; an index may name indexes.
Result<Json> find_manifest(const Layout& layout, const Json& index, int depth) {
  const auto list = index.find("manifests");
  if (list == index.end() || !list->is_array() || depth == deepest_index) {
    return Error::of(ErrorCode::corrupt, "expected 'manifests' in the index, found none, or indexes without end");
  }
  for (const Json& descriptor : *list) {
    if (!descriptor.is_object() || !is_ours(descriptor)) continue;
    const Content content = TRY(layout.blob(descriptor));
    Json document = TRY(layout.document(content, "manifest"));
    if (document.contains("manifests")) return find_manifest(layout, document, depth + 1);
    return document;
  }
  return Error::of(ErrorCode::not_found, "expected an image for linux/amd64 among ", list->size(), ", found none");
}

Result<Packing> packing_of(const std::string& type) {
  if (type.ends_with(".tar")) return Packing::none;
  if (type.ends_with(".tar+gzip") || type.ends_with(".tar.gzip")) return Packing::gzip;  // the second is Docker's
  if (type.ends_with(".tar+zstd") || type.ends_with(".tar.zstd")) return Packing::zstd;
  return Error::of(ErrorCode::unsupported, "expected a layer as tar, tar+gzip or tar+zstd, found '", shortened(type),
                   "'");
}

Result<Layer> read_layer(const Layout& layout, const Json& descriptor, const std::string& unpacked_digest) {
  if (!descriptor.is_object()) return not_as_described("an object as a layer", "another value");
  Layer layer;
  layer.packing = TRY(packing_of(text_of(descriptor, "mediaType")));
  layer.unpacked_digest = TRY(digits_of(unpacked_digest));
  if (layer.packing == Packing::none && text_of(descriptor, "digest") != unpacked_digest) {
    return Error::of(ErrorCode::corrupt, "expected a layer that is not packed to have one digest, found '",
                     shortened(text_of(descriptor, "digest")), "' and '", unpacked_digest, "' in the config");
  }
  // What is not packed is read once, and its digest is taken as it is.
  layer.content = TRY(layer.packing == Packing::none ? layout.sized_blob(descriptor) : layout.blob(descriptor));
  return layer;
}

Result<void> read_layers(const Layout& layout, const Json& manifest, const Json& config, const LayerLimits& limits,
                         FileTree& root) {
  const auto layers = manifest.find("layers");
  if (layers == manifest.end() || !layers->is_array()) {
    return not_as_described("'layers' in the image's manifest", "none");
  }
  const auto unpacked = config.find("rootfs");
  if (unpacked == config.end() || !unpacked->is_object()) return not_as_described("'rootfs' in the config", "none");
  const std::vector<std::string> digests = TRY(texts_of(*unpacked, "diff_ids"));
  if (digests.size() != layers->size()) {
    return Error::of(ErrorCode::corrupt, "expected a digest in 'diff_ids' for each of ", layers->size(),
                     " layers, found ", digests.size());
  }
  LayerReader reader(limits);
  for (std::size_t index = 0; index < digests.size(); ++index) {
    const Result<Layer> layer = read_layer(layout, (*layers)[index], digests[index]);
    if (!layer.ok()) return layer.error().within("layer ", index + 1);
    const Result<void> applied = reader.apply(layer.value(), root);
    if (!applied.ok()) return applied.error().within("layer ", index + 1);
  }
  return {};
}

Result<OciImage> read_layout(const Layout& layout, const Content& index_content, const LayerLimits& limits) {
  const Json index = TRY(layout.document(index_content, "index.json"));
  const Json manifest = TRY(find_manifest(layout, index, 0));
  const auto described = manifest.find("config");
  if (described == manifest.end() || !described->is_object()) {
    return not_as_described("'config' in the image's manifest", "none");
  }
  const Content config_content = TRY(layout.blob(*described));
  const Json config = TRY(layout.document(config_content, "config"));
  const std::string architecture = text_of(config, "architecture");
  if (!architecture.empty() && architecture != "amd64") {
    return Error::of(ErrorCode::unsupported, "expected an image for amd64, found one for ", shortened(architecture));
  }
  OciImage image;
  TRY(read_layers(layout, manifest, config, limits, image.root));
  const auto settings = config.find("config");
  if (settings == config.end() || !settings->is_object()) return image;
  image.entrypoint = TRY(texts_of(*settings, "Entrypoint"));
  image.command = TRY(texts_of(*settings, "Cmd"));
  image.environment = TRY(texts_of(*settings, "Env"));
  for (const std::string& entry : image.environment) {
    if (entry.find('=') != std::string::npos && !entry.starts_with('=')) continue;
    return Error::of(ErrorCode::corrupt, "expected NAME=VALUE in the config's 'Env', found '", shortened(entry), "'");
  }
  const std::string directory = text_of(*settings, "WorkingDir");
  if (directory.empty()) return image;
  image.directory = TRY(normal_path(directory));
  // No layer need hold it: whoever runs an image makes it.
  if (TRY(image.root.find(image.directory)) == nullptr) {
    TRY(image.root.put(image.directory, {FileNode::Kind::directory, 0755, {}, {}}));
  }
  return image;
}

Result<OciImage> read_layout(const Layout& layout, std::string_view name, const LayerLimits& limits) {
  const Result<Content> index = layout.file("index.json");
  if (index.ok()) return read_layout(layout, index.value(), limits);
  if (layout.file("manifest.json").ok()) {
    return Error::of(ErrorCode::unsupported,
                     "expected an OCI layout (a folder or tar with index.json), found what `docker save` wrote before "
                     "Docker 25 (manifest.json alone) in '",
                     shortened(name),
                     "': save it with Docker 25 or newer, or convert it: skopeo copy docker-archive:", shortened(name),
                     " oci:FOLDER");
  }
  return Error::of(index.error().code(), "expected an OCI layout (a folder or tar with index.json), found none in '",
                   shortened(name), "'");
}

}  // namespace

Result<OciImage> read_oci_image(const std::string& path, const LayerLimits& limits) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return read_layout(Layout::of_folder(path), path, limits);
  }
  const Content tar = TRY(Content::of_file(path));
  return read_layout(TRY(Layout::of_archive(tar)), path, limits);
}

Result<OciImage> read_oci_archive(const Content& tar, const LayerLimits& limits) {
  return read_layout(TRY(Layout::of_archive(tar)), "the archive", limits);
}

}  // namespace ingot::image
