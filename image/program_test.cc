#include "image/program.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "image/cpio_writer.h"
#include "image/fake_files.h"
#include "image/preflight.h"
#include "image/root_reader.h"

namespace ingot::image {
namespace {

// A root of another machine: nothing of the host's is in it.
struct Root {
  TestFolder folder;
  FileTree tree;

  Root() { put("/lib64/loader", {}); }
  void put(const std::string& path, const DynamicParts& parts) { folder.put("root" + path, fake_dynamic(parts)); }
  void put_text(const std::string& path, std::string_view text) { folder.put("root" + path, text); }
  std::string add(const DynamicParts& parts) {
    const Result<void> added =
        add_program({folder.put("out/program", fake_dynamic(parts)), "/bin/program", folder.path("root")}, tree);
    return added.ok() ? "" : std::string(added.error().text());
  }
  std::string parts_of(const std::string& program, const std::vector<std::string>& environment = {}) const {
    const Result<std::vector<std::string>> parts = program_parts(tree, program, environment);
    if (!parts.ok()) return std::string(parts.error().text());
    std::string list;
    for (const std::string& path : parts.value()) list += path + ' ';
    return list;
  }
};

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
  EXPECT_EQ(add_program({foreign, "/p", ""}, tree).error().text(),
            "expected a program for x86_64, found one for aarch64 at '" + foreign + "'");
  const std::string text = folder.put("text", "no program"), script = folder.put("script", "#!/bin/sh\n");
  EXPECT_EQ(add_program({text, "/text", ""}, tree).error().text(),
            "program '" + text + "': expected an ELF file, found another beginning");
  EXPECT_EQ(
      add_program({script, "/script", ""}, tree).error().text(),
      "expected an ELF file at '" + script + "', found a script for '/bin/sh': cast that, with the script as argument");
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

TEST(Program, LibrariesComeFromTheRootAndBringTheirOwn) {
  Root root;
  root.put("/usr/lib/liba.so", {.needed = {"libb.so"}});
  root.put("/usr/lib/libb.so", {});
  EXPECT_EQ(root.add({.interpreter = "/lib64/loader", .needed = {"liba.so"}}), "");
  EXPECT_EQ(root.parts_of("/bin/program"), "/bin/program /lib64/loader /usr/lib/liba.so /usr/lib/libb.so ");
}

TEST(Program, WhatIsMissingIsNamed) {
  Root without_interpreter, root;
  EXPECT_EQ(without_interpreter.add({.interpreter = "/lib64/other"}),
            "expected '/lib64/other' below '" + without_interpreter.folder.path("root") + "', found no such file");
  EXPECT_EQ(root.add({.interpreter = "/lib64/loader", .needed = {"libgone.so.1"}}),
            "expected the library 'libgone.so.1' that '" + root.folder.path("out/program") +
                "' needs, found it in none of the folders for libraries of " + root.folder.path("root"));
}

TEST(Program, OnlyTheOldKindOfRunPathIsInherited) {
  for (const bool old : {true, false}) {
    Root root;
    root.put("/opt/liba.so", {.needed = {"libb.so"}});
    root.put("/opt/libb.so", {});
    DynamicParts program{.interpreter = "/lib64/loader", .needed = {"liba.so"}};
    (old ? program.rpath : program.run_path) = "/opt";
    EXPECT_EQ(root.add(program).empty(), old);
  }
}

TEST(Program, OriginIsWhereTheProgramLies) {
  Root root;
  root.folder.put("lib/liba.so", fake_dynamic({}));  // beside out/, where the program is on this machine
  EXPECT_EQ(root.add({.interpreter = "/lib64/loader", .needed = {"liba.so"}, .run_path = "/none:$ORIGIN/../lib"}), "");
  EXPECT_EQ(root.parts_of("/bin/program"), "/bin/program /lib64/loader /lib/liba.so ");
}

TEST(Program, ConfiguredFoldersAreSearchedAndTheLoaderFindsThem) {
  Root root;
  root.put_text("/etc/ld.so.conf", "# first\ninclude ld.so.conf.d/*.conf\n");
  root.put_text("/etc/ld.so.conf.d/far.conf", "/opt/far/lib  # there\n");
  root.put_text("/etc/ld.so.conf.d/far.txt", "/opt/wrong\n");
  root.put("/opt/far/lib/liba.so", {});
  root.put("/opt/wrong/libb.so", {});
  EXPECT_EQ(root.add({.interpreter = "/lib64/loader", .needed = {"liba.so"}}), "");
  EXPECT_EQ(root.tree.resolve("/lib64/liba.so").value(), "/opt/far/lib/liba.so");
  EXPECT_NE(root.add({.interpreter = "/lib64/loader", .needed = {"libb.so"}}), "");
}

TEST(Program, FilesOfTheImageComeFirst) {
  Root root;
  root.put("/usr/lib/liba.so", {.needed = {"libgone.so"}});
  ASSERT_TRUE(root.tree.put_file("/usr/lib/liba.so", 0755, Content::of_bytes(fake_dynamic({}))).ok());
  EXPECT_EQ(root.add({.interpreter = "/lib64/loader", .needed = {"liba.so"}}), "");
}

TEST(Program, ModulesBringTheirLibrariesOrAWarning) {
  Root root;
  root.put("/usr/lib/liba.so", {});
  const std::string module = fake_dynamic({.needed = {"liba.so", "libgone.so"}});
  ASSERT_TRUE(root.tree.put_file("/modules/m.so", 0644, Content::of_bytes(module)).ok());
  ASSERT_TRUE(root.tree.put_file("/modules/damaged.so", 0644, Content::of_bytes(module.substr(0, 100))).ok());
  EXPECT_EQ(add_libraries_of_files(root.folder.path("root"), root.tree).value(),
            std::vector<std::string>{"libgone.so (for /modules/m.so)"});
  EXPECT_TRUE(root.tree.resolve("/usr/lib/liba.so").ok());
}

// An OCI image is complete, or it is refused: nothing is fetched.
TEST(Program, PartsAreThoseOfTheTree) {
  Root root;
  const auto put = [&](const std::string& path, const DynamicParts& parts) {
    ASSERT_TRUE(root.tree.put_file(path, 0755, Content::of_bytes(fake_dynamic(parts))).ok());
  };
  put("/app/program", {.interpreter = "/lib64/loader", .needed = {"liba.so"}});
  EXPECT_EQ(root.parts_of("/app/program"),
            "expected the interpreter '/lib64/loader' that '/app/program' needs, found it not in the image's root");
  put("/lib64/loader", {});
  EXPECT_EQ(
      root.parts_of("/app/program"),
      "expected the library 'liba.so' that '/app/program' needs, found it in none of the folders for libraries of "
      "the image's root");
  put("/other/liba.so", {});
  EXPECT_EQ(root.parts_of("/app/program"), "/app/program /lib64/loader /other/liba.so ");
  put("/first/liba.so", {});
  EXPECT_EQ(root.parts_of("/app/program", {"LD_LIBRARY_PATH=/first"}), "/app/program /lib64/loader /first/liba.so ");
  EXPECT_EQ(root.parts_of("/app"), "expected a program at '/app', found a folder");
}

TEST(Program, ScriptsAreRefusedWithTheirInterpreter) {
  Root root;
  ASSERT_TRUE(root.tree.put_file("/run.sh", 0755, Content::of_bytes("#!/bin/sh -e\necho\n")).ok());
  EXPECT_EQ(
      root.parts_of("/run.sh"),
      "expected an ELF file at '/run.sh', found a script for '/bin/sh -e': cast that, with the script as argument");
}

TEST(Elf, DamagedDynamicSectionsAreSurvived) {
  RandomNumbers numbers(11);
  const std::string whole = fake_dynamic({.interpreter = "/lib64/loader",
                                          .needed = {"liba.so", "libb.so"},
                                          .imports = {"printf", "write"},
                                          .run_path = "/a:/b",
                                          .rpath = "/c"});
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (std::uint64_t count = 1 + numbers.below(6); count > 0; --count) {
      damaged[numbers.below(damaged.size())] = static_cast<char>(numbers.next());
    }
    const Result<ElfFile> file = ElfFile::parse(damaged);
    if (!file.ok()) continue;
    EXPECT_TRUE(file.value().interpreter().ok() || !file.value().interpreter().error().text().empty());
    EXPECT_TRUE(file.value().libraries().ok() || !file.value().libraries().error().text().empty());
    EXPECT_TRUE(file.value().imports().ok() || !file.value().imports().error().text().empty());
  }
}

TEST(Preflight, CountsWhatLibrariesCallAndWhatIsImportedByName) {
  using std::string_literals::operator""s;
  FileTree tree;
  const auto put = [&](const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(tree.put_file(path, 0755, Content::of_bytes(bytes)).ok());
  };
  put("/program", fake_dynamic({.imports = {"printf", "ptrace", "write", "execlp"}}));
  put("/lib/liba.so", fake_program("\xb8\xa9\0\0\0\x0f\x05"s));                          // reboot
  put("/lib/libc.so.6", fake_program("\xb8\xa9\0\0\0\x0f\x05\xb8\xa5\0\0\0\x0f\x05"s));  // reboot, mount
  const MissingCalls missing = missing_calls_of(tree, {"/program", "/lib/liba.so", "/lib/libc.so.6"}).value();
  EXPECT_EQ(missing.names, (std::vector<std::string>{"execve", "ptrace", "reboot"}));
  EXPECT_EQ(missing.more_in_the_c_library, 1u);
}

TEST(Preflight, WhatCLibrariesDoWithoutIsNoneOfTheMissingCalls) {
  using std::string_literals::operator""s;
  FileTree tree;
  const std::string code =
      "\xb8\xb3\x01\0\0\x0f\x05\xb8\x4e\x01\0\0\x0f\x05\xb8\xa9\0\0\0\x0f\x05"s;  // clone3, rseq, reboot
  ASSERT_TRUE(tree.put_file("/program", 0755, Content::of_bytes(fake_program(code))).ok());
  const MissingCalls missing = missing_calls_of(tree, {"/program"}).value();
  EXPECT_EQ(missing.names, std::vector<std::string>{"reboot"});
  EXPECT_EQ(missing.tried, (std::vector<std::string>{"clone3", "rseq"}));
  ASSERT_TRUE(tree.put_file("/lib/libc.so.6", 0755, Content::of_bytes(fake_program(code))).ok());
  EXPECT_EQ(missing_calls_of(tree, {"/lib/libc.so.6"}).value().more_in_the_c_library, 1u);
}

TEST(Bundle, CodeLiesAtWholePages) {
  FileTree tree;
  const std::string code = fake_program("code", 10'000), text(10'000, 't');
  ASSERT_TRUE(tree.put_file("/a", 0644, Content::of_bytes(text)).ok());
  ASSERT_TRUE(tree.put_file("/b", 0755, Content::of_bytes(code)).ok());
  ASSERT_TRUE(tree.put_file("/c", 0755, Content::of_bytes(code + "more")).ok());
  const std::string bundle = write_bundle("manifest", tree, [](const std::string&) { return true; }).value();
  const std::size_t first = bundle.find(code), second = bundle.find(code, first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(first % 4096, 0u);
  EXPECT_EQ(second % 4096, 0u);
  EXPECT_NE(bundle.find(text) % 4096, 0u);
}

}  // namespace
}  // namespace ingot::image
