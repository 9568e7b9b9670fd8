#include <gtest/gtest.h>

#include "image/fake_files.h"
#include "image/oci_image.h"
#include "image/sha256.h"

namespace ingot::image {
namespace {

std::string digest_of(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.finish();
}

// A layout of two layers, as the specification's tools would write it.
class LayoutFolder {
 public:
  std::string put_blob(std::string_view content) {
    const std::string digest = digest_of(content);
    blobs_.push_back({"blobs/sha256/" + digest, '0', std::string(content)});
    return R"("digest":"sha256:)" + digest + R"(","size":)" + std::to_string(content.size());
  }
  void finish(const std::string& platform = R"({"os":"linux","architecture":"amd64"})") {
    const std::string lower = put_blob(fake_tar({{"app/program", '0', fake_program(), 0755}, {"app/old", '0', "x"}}));
    const std::string upper = put_blob(fake_tar({{"app/.wh.old", '0', ""}, {"app/new", '0', "y"}}));
    const std::string config =
        put_blob(R"({"architecture":"amd64","os":"linux","config":{"Entrypoint":["/app/program"],)"
                 R"("Cmd":["a b","c"],"Env":["PATH=/bin","X=1"],"WorkingDir":"/app/"}})");
    const std::string type = R"("mediaType":"application/vnd.oci.image.layer.v1.tar",)";
    const std::string manifest = put_blob(R"({"schemaVersion":2,"config":{)" + config + R"(},"layers":[{)" + type +
                                          lower + "},{" + type + upper + "}]}");
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

TEST(Oci, FolderAndTarSayTheSame) {
  LayoutFolder layout;
  layout.finish();
  for (const std::string& path : {layout.write_folder(), layout.write_tar()}) {
    const Result<OciImage> read = read_oci_image(path);
    ASSERT_TRUE(read.ok()) << read.error().text();
    const OciImage& image = read.value();
    EXPECT_EQ(image.entrypoint, std::vector<std::string>{"/app/program"});
    EXPECT_EQ(image.command, (std::vector<std::string>{"a b", "c"}));
    EXPECT_EQ(image.environment, (std::vector<std::string>{"PATH=/bin", "X=1"}));
    EXPECT_EQ(image.directory, "/app");
    EXPECT_NE(image.root.at("/app/program"), nullptr);
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

TEST(Oci, OtherPlatformsAndOtherFilesAreRefused) {
  LayoutFolder layout;
  layout.finish(R"({"os":"windows","architecture":"amd64"})");
  EXPECT_EQ(read_oci_image(layout.write_folder()).error().text(),
            "expected an image for linux/amd64 among 2, found none");
  EXPECT_FALSE(read_oci_image(layout.folder().put("x/index.json", "[1, 2")).ok());
  EXPECT_FALSE(read_oci_image(layout.folder().path("x")).ok());
  EXPECT_FALSE(read_oci_image(layout.folder().path("none")).ok());
  layout.folder().put("y/index.json", R"({"manifests":[{"digest":"sha256:../../../../etc/passwd"}]})");
  EXPECT_EQ(read_oci_image(layout.folder().path("y")).error().code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace ingot::image
