#include <gtest/gtest.h>

#include "image/cast.h"
#include "image/fake_files.h"
#include "image/fake_packing.h"
#include "image/oci_image.h"
#include "image/sha256.h"

namespace ingot::image {
namespace {

std::string type_of(Packing packing) {
  const std::string tar = "application/vnd.oci.image.layer.v1.tar";
  return packing == Packing::gzip ? tar + "+gzip" : packing == Packing::zstd ? tar + "+zstd" : tar;
}

std::string packed_as(Packing packing, const std::string& tar) {
  return packing == Packing::gzip ? gzip_of(tar) : packing == Packing::zstd ? zstd_of(tar) : tar;
}

// A layout of two layers, as the specification's tools would write it.
class LayoutFolder {
 public:
  struct FakeLayer {
    std::string content, type, digest_in_config;
  };

  std::string put_blob(std::string_view content) {
    const std::string digest = digest_of(content);
    blobs_.push_back({"blobs/sha256/" + digest, '0', std::string(content)});
    return R"("digest":"sha256:)" + digest + R"(","size":)" + std::to_string(content.size());
  }
  static FakeLayer layer_of(const std::string& tar, Packing packing = Packing::none) {
    return {packed_as(packing, tar), type_of(packing), "sha256:" + digest_of(tar)};
  }
  static std::vector<FakeLayer> usual_layers(Packing packing = Packing::none) {
    return {layer_of(fake_tar({{"app/program", '0', fake_program(), 0755}, {"app/old", '0', "x"}}), packing),
            layer_of(fake_tar({{"app/.wh.old", '0', ""}, {"app/new", '0', "y"}}), packing)};
  }
  void finish(const std::vector<FakeLayer>& layers = usual_layers(),
              const std::string& platform = R"({"os":"linux","architecture":"amd64"})",
              const std::string& variable = "X=1") {
    std::string described, digests;
    for (const FakeLayer& layer : layers) {
      const std::string comma = described.empty() ? "" : ",";
      described += comma + R"({"mediaType":")" + layer.type + "\"," + put_blob(layer.content) + "}";
      if (!layer.digest_in_config.empty()) digests += comma + '"' + layer.digest_in_config + '"';
    }
    const std::string config =
        put_blob(R"({"architecture":"amd64","os":"linux","config":{"Entrypoint":["/app/program"],)"
                 R"("Cmd":["a b","c"],"Env":["PATH=/bin",")" +
                 variable +
                 R"("],"WorkingDir":"/app/"},)"
                 R"("rootfs":{"type":"layers","diff_ids":[)" +
                 digests + "]}}");
    const std::string manifest =
        put_blob(R"({"schemaVersion":2,"config":{)" + config + R"(},"layers":[)" + described + "]}");
    blobs_.push_back({"index.json", '0',
                      R"({"schemaVersion":2,"manifests":[{"platform":{"os":"linux","architecture":"arm64"},)"
                      R"("digest":"sha256:00","size":1},{"platform":)" +
                          platform + "," + manifest + "}]}"});
    blobs_.push_back({"oci-layout", '0', R"({"imageLayoutVersion":"1.0.0"})"});
  }
  std::string write_folder() {
    for (const TarMember& blob : blobs_) folder_.put("layout/" + blob.path, blob.content);
    return folder_.path("layout");
  }
  std::string write_tar() { return folder_.put("layout.tar", fake_tar(blobs_)); }
  std::vector<TarMember>& blobs() { return blobs_; }
  const TestFolder& folder() const { return folder_; }

 private:
  TestFolder folder_;
  std::vector<TarMember> blobs_;
};

// What reading a layout with these layers says.
std::string problem_of(const std::vector<LayoutFolder::FakeLayer>& layers, const LayerLimits& limits = {}) {
  LayoutFolder layout;
  layout.finish(layers);
  const Result<OciImage> read = read_oci_archive(Content::of_bytes(fake_tar(layout.blobs())), limits);
  return read.ok() ? "none" : std::string(read.error().text());
}

class OciPacking : public ::testing::TestWithParam<Packing> {};
INSTANTIATE_TEST_SUITE_P(Each, OciPacking, ::testing::Values(Packing::none, Packing::gzip, Packing::zstd));

TEST_P(OciPacking, FolderAndTarSayTheSame) {
  LayoutFolder layout;
  layout.finish(LayoutFolder::usual_layers(GetParam()));
  for (const std::string& path : {layout.write_folder(), layout.write_tar()}) {
    const Result<OciImage> read = read_oci_image(path);
    ASSERT_TRUE(read.ok()) << read.error().text();
    const OciImage& image = read.value();
    EXPECT_EQ(image.entrypoint, std::vector<std::string>{"/app/program"});
    EXPECT_EQ(image.command, (std::vector<std::string>{"a b", "c"}));
    EXPECT_EQ(image.environment, (std::vector<std::string>{"PATH=/bin", "X=1"}));
    EXPECT_EQ(image.directory, "/app");
    ASSERT_NE(image.root.at("/app/program"), nullptr);
    EXPECT_EQ(image.root.at("/app/program")->content.read(1 << 20).value(), fake_program());
    EXPECT_NE(image.root.at("/app/new"), nullptr);
    EXPECT_EQ(image.root.at("/app/old"), nullptr);
  }
}

TEST(Oci, ChangedContentIsRefused) {
  LayoutFolder layout;
  layout.finish();
  layout.blobs()[1].content[600] ^= 1;  // inside the upper layer
  const Result<OciImage> read = read_oci_image(layout.write_folder());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text().find("expected content with the digest sha256:"), std::string::npos);
}

// Whoever changes the layout behind the check cannot change the image. A file of two pieces, and one that is large.
TEST(Oci, WhatIsCheckedIsWhatIsWritten) {
  constexpr std::size_t large_bytes = std::size_t{3} << 20;
  LayoutFolder layout;
  layout.finish({LayoutFolder::layer_of(fake_tar(
      {{"program", '0', fake_program("code", 100'000), 0755}, {"large", '0', std::string(large_bytes, 'l')}}))});
  const std::string folder = layout.write_folder(), blob = folder + '/' + layout.blobs()[0].path;
  OciImage image = read_oci_image(folder).value();
  EXPECT_EQ(image.root.at("/large")->content.read(large_bytes).value(), std::string(large_bytes, 'l'));
  std::fstream(blob, std::ios::in | std::ios::out | std::ios::binary).seekp(50'000) << "changed";
  EXPECT_EQ(image.root.at("/program")->content.read(large_bytes).value(), fake_program("code", 100'000));
  EXPECT_TRUE(image.root.at("/large")->content.read(large_bytes).ok());
  std::fstream(blob, std::ios::in | std::ios::out | std::ios::binary).seekp(2'000'000) << "changed";
  CastRequest request;
  request.kernels = {layout.folder().put("kernel", fake_kernel())};
  request.output = layout.folder().path("image");
  request.program = "/program";
  request.root = std::move(image.root);
  const Result<CastReport> report = cast(request);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text().find("that were there when its digest was checked, found others"), std::string::npos)
      << report.error().text();
  EXPECT_FALSE(std::filesystem::exists(request.output));
}

TEST(Oci, AnotherSizeIsRefused) {
  LayoutFolder layout;
  layout.finish();
  std::string& lower = layout.blobs()[0].content;
  const std::string expected = "expected " + std::to_string(lower.size()) + " bytes as sha256:";
  lower += '\0';
  const Result<OciImage> read = read_oci_image(layout.write_folder());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text().find(expected), std::string::npos) << read.error().text();
}

TEST(Oci, ADescriptorWithoutASizeIsRefused) {
  const TestFolder folder;
  for (const char* size : {"", R"(,"size":-1)", R"(,"size":"2")", R"(,"size":1.5)"}) {
    folder.put("index.json", R"({"manifests":[{"digest":"sha256:)" + digest_of("{}") + '"' + size + "}]}");
    folder.put("blobs/sha256/" + digest_of("{}"), "{}");
    EXPECT_EQ(read_oci_image(folder.path("")).error().text(),
              "expected a size in bytes beside each digest, found none");
  }
}

TEST_P(OciPacking, AnotherDigestInTheConfigIsRefused) {
  std::vector<LayoutFolder::FakeLayer> layers = LayoutFolder::usual_layers(GetParam());
  layers[1].digest_in_config = layers[0].digest_in_config;
  EXPECT_NE(problem_of(layers).find("layer 2: expected a"), std::string::npos) << problem_of(layers);
  layers[1].digest_in_config.clear();
  EXPECT_EQ(problem_of(layers), "expected a digest in 'diff_ids' for each of 2 layers, found 1");
}

TEST(Oci, BytesBehindTheArchiveAreOfTheDigest) {
  std::vector<LayoutFolder::FakeLayer> layers = LayoutFolder::usual_layers(Packing::gzip);
  layers[0].content += gzip_of("more");
  EXPECT_NE(problem_of(layers).find("layer 1: expected an unpacked layer with the digest"), std::string::npos);
}

// Size and digest are those of what is there, so that only the packing can tell.
TEST(Oci, ATruncatedLayerIsRefused) {
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    std::vector<LayoutFolder::FakeLayer> layers = LayoutFolder::usual_layers(packing);
    layers[1].content.resize(layers[1].content.size() - 5);
    EXPECT_NE(problem_of(layers).find("expected more bytes, found the end inside a"), std::string::npos);
  }
  std::vector<LayoutFolder::FakeLayer> layers = LayoutFolder::usual_layers();
  layers[1] = LayoutFolder::layer_of(layers[1].content.substr(0, 700));
  EXPECT_NE(problem_of(layers).find("layer 2: tar, entry 2: expected 512 bytes, found the end after 188"),
            std::string::npos)
      << problem_of(layers);
}

// Megabytes of nothing, packed to a few hundred bytes. The limit is of all layers together.
TEST(Oci, WhatLayersUnpackToIsBounded) {
  const std::string tar = fake_tar({{"zeros", '0', std::string(std::size_t{4} << 20, '\0')}});
  const LayerLimits limits{.unpacked_bytes = std::uint64_t{6} << 20};
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    const LayoutFolder::FakeLayer layer = LayoutFolder::layer_of(tar, packing);
    EXPECT_EQ(problem_of({layer}, limits), "none");
    EXPECT_EQ(problem_of({layer, layer}, limits),
              "layer 2: tar, entry 1: expected at most 6291456 bytes in all unpacked layers, found more");
    LayoutFolder::FakeLayer behind = LayoutFolder::layer_of(fake_tar({}) + tar, packing);
    EXPECT_EQ(problem_of({layer, behind}, limits),
              "layer 2: expected at most 6291456 bytes in all unpacked layers, found more");
  }
  EXPECT_EQ(problem_of({LayoutFolder::layer_of(tar)}, {.unpacked_bytes = 0}), "none") << "it stays where it is";
  // Small files of a layer that is not packed are held in memory, too.
  const std::string small = fake_tar({{"small", '0', std::string(1000, 's')}});
  EXPECT_EQ(problem_of({LayoutFolder::layer_of(small), LayoutFolder::layer_of(small)}, {.unpacked_bytes = 2000}),
            "none");
  EXPECT_EQ(problem_of({LayoutFolder::layer_of(small), LayoutFolder::layer_of(small)}, {.unpacked_bytes = 1999}),
            "layer 2: tar, entry 1: expected at most 1999 bytes in all unpacked layers, found more");
}

TEST(Oci, AZstdLayerWithAHugeWindowIsRefused) {
  EXPECT_EQ(problem_of({{zstd_with_a_huge_window(), type_of(Packing::zstd), "sha256:" + digest_of("")}}),
            "layer 1: tar, entry 1: zstd: expected a window of at most 128 MiB, found a larger one");
}

TEST(Oci, AnUnknownPackingIsRefused) {
  std::vector<LayoutFolder::FakeLayer> layers = LayoutFolder::usual_layers();
  layers[0].type += "+xz";
  EXPECT_NE(problem_of(layers).find("layer 1: expected a layer as tar, tar+gzip or tar+zstd, found"),
            std::string::npos);
}

TEST(Oci, OtherPlatformsAndOtherFilesAreRefused) {
  LayoutFolder layout;
  layout.finish(LayoutFolder::usual_layers(), R"({"os":"windows","architecture":"amd64"})");
  EXPECT_EQ(read_oci_image(layout.write_folder()).error().text(),
            "expected an image for linux/amd64 among 2, found none");
  EXPECT_FALSE(read_oci_image(layout.folder().put("x/index.json", "[1, 2")).ok());
  EXPECT_FALSE(read_oci_image(layout.folder().path("x")).ok());
  EXPECT_FALSE(read_oci_image(layout.folder().path("none")).ok());
  layout.folder().put("y/index.json", R"({"manifests":[{"digest":"sha256:../../../../etc/passwd"}]})");
  EXPECT_EQ(read_oci_image(layout.folder().path("y")).error().code(), ErrorCode::unsupported);
}

TEST(OciImage, TheFolderThatAProgramBeginsInIsMade) {
  LayoutFolder layout;
  layout.finish({LayoutFolder::layer_of(fake_tar({{"bin/program", '0', fake_program(), 0755}}))});
  const Result<OciImage> image = read_oci_image(layout.write_folder());
  ASSERT_TRUE(image.ok()) << image.error().text();
  const Result<const FileNode*> made = image.value().root.find("/app");
  ASSERT_TRUE(made.ok() && made.value() != nullptr);
  EXPECT_EQ(made.value()->kind, FileNode::Kind::directory);
}

TEST(OciImage, WhatDockerSavedBefore25IsRefusedByItsName) {
  const TestFolder folder;
  folder.put("saved/manifest.json", "[]");
  const std::string tar = folder.put("saved.tar", fake_tar({{"manifest.json", '0', "[]"}}));
  for (const std::string& path : {folder.path("saved"), tar}) {
    const Result<OciImage> image = read_oci_image(path);
    ASSERT_FALSE(image.ok());
    EXPECT_NE(image.error().text().find("found what `docker save` wrote before Docker 25 (manifest.json alone)"),
              std::string::npos)
        << image.error().text();
    EXPECT_NE(image.error().text().find("skopeo copy docker-archive:"), std::string::npos);
  }
}

TEST(OciImage, AnEnvironmentWithoutAValueIsRefusedByItsName) {
  LayoutFolder layout;
  layout.finish(LayoutFolder::usual_layers(), R"({"os":"linux","architecture":"amd64"})", "GREET");
  const Result<OciImage> image = read_oci_image(layout.write_folder());
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().text(), "expected NAME=VALUE in the config's 'Env', found 'GREET'");
}

TEST(OciImage, APackedArchiveIsRefusedByItsName) {
  LayoutFolder layout;
  const std::string packed = layout.folder().put("layout.tgz", gzip_of(fake_tar({{"index.json", '0', "{}"}})));
  const Result<OciImage> image = read_oci_image(packed);
  ASSERT_FALSE(image.ok());
  EXPECT_NE(image.error().text().find("packed with gzip: unpack it first"), std::string::npos) << image.error().text();
}

}  // namespace
}  // namespace ingot::image
