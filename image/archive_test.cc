#include <gtest/gtest.h>

#include "base/image/image_table.h"
#include "base/random.h"
#include "image/cpio_writer.h"
#include "image/fake_files.h"
#include "image/oci_image.h"
#include "image/tar_reader.h"

namespace ingot::image {
namespace {

std::string text_at(const FileTree& tree, std::string_view path) {
  const FileNode* node = tree.at(path);
  if (node == nullptr) return "(nothing)";
  if (node->kind == FileNode::Kind::directory) return "(directory)";
  return node->kind == FileNode::Kind::symbolic_link ? "-> " + node->target : node->content.read(1 << 20).value();
}

void apply(FileTree& tree, const std::vector<TarMember>& members) {
  const Result<void> applied = apply_layer(Content::of_bytes(fake_tar(members)), tree);
  ASSERT_TRUE(applied.ok()) << applied.error().text();
}

TEST(FileTree, PathsAreNormal) {
  EXPECT_EQ(normal_path("a//./b/").value(), "/a/b");
  EXPECT_EQ(normal_path("").value(), "/");
  EXPECT_FALSE(normal_path("/a/../b").ok());
  EXPECT_FALSE(normal_path(std::string("a\0b", 3)).ok());
  EXPECT_FALSE(normal_path(std::string(5000, 'a')).ok());
}

TEST(FileTree, LinksAreFollowedInside) {
  FileTree tree;
  apply(tree, {{"usr/bin", '5', ""},
               {"bin", '2', "usr/bin"},
               {"bin/sh", '0', "shell"},
               {"etc/up", '2', "../../../usr"},
               {"round", '2', "/round"}});
  EXPECT_EQ(text_at(tree, "/usr/bin/sh"), "shell");
  EXPECT_EQ(tree.resolve("/etc/up/bin/sh").value(), "/usr/bin/sh");
  EXPECT_EQ(tree.resolve("/bin/none").error().code(), ErrorCode::not_found);
  EXPECT_EQ(tree.resolve("/round").error().code(), ErrorCode::corrupt);
}

TEST(Layer, WhiteoutsRemoveWhatIsBelow) {
  FileTree tree;
  apply(tree, {{"etc/a", '0', "1"}, {"etc/b", '0', "2"}, {"var/deep/x", '0', "3"}, {"opt/old", '0', "4"}});
  apply(tree, {{"etc/.wh.a", '0', ""}, {"opt/new", '0', "5"}, {"opt/.wh..wh..opq", '0', ""}, {".wh.var", '0', ""}});
  EXPECT_EQ(text_at(tree, "/etc/a"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/etc/b"), "2");
  EXPECT_EQ(text_at(tree, "/var/deep/x"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/opt/old"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/opt/new"), "5");
}

TEST(Layer, KindsReplaceEachOther) {
  FileTree tree;
  apply(tree, {{"x/y", '0', "1"}, {"z", '0', "2"}, {"h", '1', "z"}, {"dev/null", '3', ""}});
  EXPECT_EQ(text_at(tree, "/h"), "2");
  EXPECT_EQ(text_at(tree, "/dev/null"), "(nothing)");
  apply(tree, {{"x", '0', "file now"}, {"z", '5', ""}});
  EXPECT_EQ(text_at(tree, "/x"), "file now");
  EXPECT_EQ(text_at(tree, "/x/y"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/z"), "(directory)");
}

TEST(Layer, NamesThatLeaveTheRootAreErrors) {
  FileTree tree;
  EXPECT_FALSE(apply_layer(Content::of_bytes(fake_tar({{"../etc/passwd", '0', "x"}})), tree).ok());
  EXPECT_FALSE(apply_layer(Content::of_bytes(fake_tar({{"h", '1', "../../etc/passwd"}})), tree).ok());
}

TEST(Tar, LongNamesOfPaxAndGnu) {
  const std::string long_name = std::string(150, 'n') + "/file";
  const std::string record = " path=" + long_name + "\n";
  const std::string tar = fake_tar({{"pax", 'x', std::to_string(record.size() + 3) + record},
                                    {"short", '0', "by pax"},
                                    {"@LongLink", 'L', long_name + "2"},
                                    {"short", '0', "by gnu"},
                                    {"short", '0', "neither"}});
  const std::vector<TarEntry> entries = read_tar(Content::of_bytes(tar)).value();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].path, long_name);
  EXPECT_EQ(entries[1].path, long_name + "2");
  EXPECT_EQ(entries[2].path, "short");
  EXPECT_EQ(entries[1].content.read(100).value(), "by gnu");
}

TEST(Tar, DamageIsSurvived) {
  const std::string whole = fake_tar({{"pax", 'x', "19 path=somewhere0\n"}, {"a", '0', "text"}, {"b", '2', "a"}});
  RandomNumbers numbers(11);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (std::uint64_t count = 1 + numbers.below(4); count > 0; --count) {
      damaged[numbers.below(damaged.size())] = static_cast<char>(numbers.next());
    }
    damaged.resize(numbers.below(damaged.size() + 1));
    FileTree tree;
    const Result<void> applied = apply_layer(Content::of_bytes(damaged), tree);
    EXPECT_TRUE(applied.ok() || !applied.error().text().empty());
  }
}

TEST(Bundle, IsAnArchiveWithTheManifestFirst) {
  FileTree tree;
  ASSERT_TRUE(tree.put_file("/a/large", 0644, Content::of_bytes("not inside")).ok());
  ASSERT_TRUE(tree.put_file("/a/small", 0755, Content::of_bytes("xyz")).ok());
  ASSERT_TRUE(tree.put("/link", {FileNode::Kind::symbolic_link, 0777, {}, "a/small"}).ok());
  const std::string bundle =
      write_bundle("the manifest", tree, [](const std::string& path) { return path != "/a/large"; }).value();
  EXPECT_EQ(first_member(bundle, ImageTable::manifest_path).value(), "the manifest");
  EXPECT_FALSE(first_member(bundle, "other").ok());
  EXPECT_FALSE(first_member(bundle.substr(0, 100), ImageTable::manifest_path).ok());
  EXPECT_EQ(bundle.find("not inside"), std::string::npos);
  // The entry of /a/small, field by field: third inode, mode 0100755, one link, no time, three bytes.
  const std::size_t at = bundle.find("07070100000003000081ed0000000000000000000000010000000000000003");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(bundle.substr(at + 110, 12), std::string("a/small\0\0\0xyz", 13).substr(0, 12));
  EXPECT_EQ(bundle.size() % 4, 0u);
}

}  // namespace
}  // namespace ingot::image
