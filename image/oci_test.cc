#include <gtest/gtest.h>

#include "image/fake_files.h"
#include "image/oci_image.h"
#include "image/program.h"
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

TEST(Program, LinksOfARootStayInIt) {
  const TestFolder folder;
  folder.put("root/usr/lib/real", "x");
  std::filesystem::create_symlink("/usr/lib", folder.path("root/lib"));
  std::filesystem::create_symlink("../../../../../../usr/lib/real", folder.path("root/usr/lib/up"));
  std::filesystem::create_symlink("/etc/passwd", folder.path("root/out"));
  const std::string root = folder.path("root");
  EXPECT_EQ(resolve_below(root, "/lib/up").value(), root + "/usr/lib/real");
  EXPECT_FALSE(resolve_below(root, "/out").ok());
}

TEST(Program, ForeignAndMissingAreRefused) {
  const TestFolder folder;
  FileTree tree;
  const std::string foreign = folder.put("foreign", fake_program("x", 0, elf_aarch64));
  EXPECT_NE(add_program({foreign, "/p", ""}, tree).error().text().find("found one for aarch64"), std::string::npos);
  EXPECT_EQ(add_program({folder.path("none"), "/p", ""}, tree).error().code(), ErrorCode::not_found);
}

#if defined(__x86_64__)
TEST(Program, AHostProgramBringsItsLibraries) {
  if (!std::filesystem::exists("/bin/ls")) GTEST_SKIP() << "expected /bin/ls, found none";
  FileTree tree;
  const Result<void> added = add_program({"/bin/ls", "/bin/ls", ""}, tree);
  ASSERT_TRUE(added.ok()) << added.error().text();
  EXPECT_NE(tree.at("/lib64/ld-linux-x86-64.so.2"), nullptr);
  bool has_libc = false;
  for (const auto& [path, node] : tree.nodes()) has_libc = has_libc || path.ends_with("/libc.so.6");
  EXPECT_TRUE(has_libc);
}
#endif

}  // namespace
}  // namespace ingot::image
