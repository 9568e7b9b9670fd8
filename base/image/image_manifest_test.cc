#include "base/image/image_manifest.h"

#include <gtest/gtest.h>

#include <string>

#include "base/image/boot_arguments.h"
#include "base/image/image_table.h"

namespace ingot {
namespace {

constexpr std::string_view whole =
    "ingot manifest 1\n"
    "program /bin/ingot\n"
    "argument ingot\n"
    "argument a b\\n\"c\\\\\n"
    "argument \n"
    "default-argument run\n"
    "environment HOME=/\n"
    "directory /work\n"
    "memory 268435456\n"
    "tmpfs 0\n"
    "consume /model\n"
    "file 1 91234567 0644 /model\n"
    "file 0 4194304 0755 /bin/ingot\n"
    "grant writable-executable\n"
    "grant network\n"
    "network dhcp\n"
    "network slaac\n"
    "trace syscalls\n"
    "machine-memory 536870912\n"
    "machine-cpus 2\n"
    "descriptors 65536\n";

std::string text_of(EscapedText text) {
  std::string copy(text.size(), '?');
  text.copy_to(copy.data());
  return copy;
}

std::string complaint_about(std::string_view body) {
  const std::string text = "ingot manifest 1\n" + std::string(body);
  const Result<Manifest> parsed = Manifest::parse(text);
  return parsed.ok() ? "" : std::string(parsed.error().text());
}

TEST(Manifest, EveryKeyIsRead) {
  const Result<Manifest> parsed = Manifest::parse(whole);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  const Manifest& manifest = parsed.value();
  EXPECT_TRUE(manifest.program == "/bin/ingot");
  EXPECT_TRUE(manifest.directory == "/work");
  EXPECT_EQ(manifest.memory, 268435456u);
  EXPECT_EQ(manifest.tmpfs, 0u);
  EXPECT_EQ(manifest.machine_memory, 536870912u);
  EXPECT_EQ(manifest.machine_cpus, 2u);
  EXPECT_EQ(manifest.descriptors, 65536u);
  EXPECT_EQ(manifest.arguments, 3u);
  EXPECT_EQ(manifest.default_arguments, 1u);
  EXPECT_EQ(manifest.environment, 1u);
  EXPECT_EQ(manifest.files, 2u);
  EXPECT_TRUE(manifest.traces_system_calls);
  EXPECT_TRUE(manifest.grants("writable-executable"));
  EXPECT_FALSE(manifest.grants("writable"));
  EXPECT_TRUE(manifest.consumes(EscapedText("/model")));
  EXPECT_FALSE(manifest.consumes(EscapedText("/bin/ingot")));
  ASSERT_TRUE(manifest.file("/model").has_value());
  EXPECT_EQ(manifest.file("/model")->index, 1u);
  EXPECT_EQ(manifest.file("/model")->number, 91234567u);
  EXPECT_EQ(manifest.file("/model")->mode, 0644u);
  EXPECT_FALSE(manifest.file("/mode").has_value());
}

TEST(Manifest, EscapesBecomeCharacters) {
  ManifestReader reader = Manifest::parse(whole).value().entries();
  std::vector<std::string> arguments;
  while (const auto entry = reader.next().value()) {
    if (entry->key == ManifestKey::argument) arguments.push_back(text_of(entry->text));
  }
  EXPECT_EQ(arguments, (std::vector<std::string>{"ingot", "a b\n\"c\\", ""}));
}

TEST(Manifest, ErrorsNameLineExpectedAndFound) {
  const auto same = [](std::string_view body, std::string_view expected) {
    EXPECT_EQ(complaint_about(body), std::string("manifest") + std::string(expected));
  };
  same("", ": expected a line 'program PATH', found none");
  same("progam /a\n", ", line 2: expected a key that this version knows, found 'progam'");
  same("program\n", ", line 2: expected a key, a blank and a value, found 'program'");
  same("program /a", ", line 2: expected a newline at the end of the text, found 'program /a'");
  same("program a\n", ", line 2: expected an absolute path without '.', '..' and '//', found 'a'");
  same("program /a/../b\n", ", line 2: expected an absolute path without '.', '..' and '//', found '/a/../b'");
  same("program /a/\n", ", line 2: expected an absolute path without '.', '..' and '//', found '/a/'");
  same("program /a\nprogram /b\n", ", line 3: expected 'program' once, found it again");
  same("program /a\nmemory 12k\n", ", line 3: expected a number below 2^63, found '12k'");
  same("program /a\nmemory 9223372036854775808\n",
       ", line 3: expected a number below 2^63, found '9223372036854775808'");
  for (const std::string number : {"15", "1048577", "0", "9223372036854775807"}) {
    same("program /a\ndescriptors " + number + "\n",
         ", line 3: expected a number of descriptors from 16 to 1048576, found '" + number + "'");
  }
  same("program /a\ndescriptors 16\ndescriptors 16\n", ", line 4: expected 'descriptors' once, found it again");
  same("argument \\t\n", ", line 2: expected n or a second backslash behind a backslash, found '\\t'");
  same("environment =x\n", ", line 2: expected NAME=VALUE, found '=x'");
  same("grant Network\n", ", line 2: expected a right's name of a-z, 0-9 and '-', found 'Network'");
  same("trace all\n", ", line 2: expected 'syscalls', found 'all'");
  same("file 30 1 0644 /a\n", ", line 2: expected a segment below 30, found 30");
  same("file 0 1 0648 /a\n", ", line 2: expected an octal mode up to 7777, found '0648'");
  same("program /a\nfile 0 1 0644 /a\nfile 0 1 0644 /b\n",
       ", line 4: expected a segment and a path of its own, found those of line 3");
  same("program /a\nconsume /a\n", ", line 3: expected the path of a 'file' line, found '/a'");
  EXPECT_EQ(Manifest::parse("").error().text(),
            "manifest, line 1: expected a newline at the end of the text, found ''");
  EXPECT_EQ(Manifest::parse("ingot manifest 2\n").error().text(),
            "manifest, line 1: expected 'ingot manifest 1', found 'ingot manifest 2'");
}

TEST(Manifest, ManyConsumeLinesEnd) {
  std::string body = "program /a\nfile 0 1 0644 /b\n";
  for (int line = 0; line < 100000; ++line) body += "consume /b\n";
  EXPECT_EQ(complaint_about(body), "manifest, line 34: expected 'consume' once, found it again");
}

TEST(BootArguments, SurviveTheCommandLine) {
  const std::vector<std::string> arguments = {"run",     "-p", "Once upon\ta \"time\" 100%",   "", "--",
                                              "Grüße\n", "%",  "virtio_mmio.device=512@4096:5"};
  std::string line = "quiet x=-- --";
  for (const std::string& argument : arguments) {
    line += ' ';
    encode_argument(argument, [&](char character) { line += character; });
  }
  std::vector<std::string> found;
  BootArguments reader(line);
  while (const auto argument = reader.next().value()) {
    found.emplace_back();
    argument->each([&](char character) { found.back() += character; });
    EXPECT_EQ(argument->size(), found.back().size());
  }
  EXPECT_EQ(found, arguments);
}

// Firecracker and QEMU's microvm add theirs at the end, behind the arguments.
TEST(BootArguments, WordsThatNameDevicesAreNone) {
  BootArguments reader("-- virtio_mmio.device=512@0xfeb00e00:12 run virtio_mmio.device= -x virtio_mmio.device=1:2 ");
  for (const std::string_view expected : {"run", "-x"}) {
    const std::optional<EncodedArgument> argument = reader.next().value();
    ASSERT_TRUE(argument.has_value());
    std::string text(argument->size(), '\0');
    argument->copy_to(text.data());
    EXPECT_EQ(text, expected);
  }
  EXPECT_FALSE(reader.next().value().has_value());
  EXPECT_FALSE(BootArguments("-- virtio_mmio.device=512@0xfeb00e00:12").next().value().has_value());
}

TEST(BootArguments, DamageIsAnError) {
  for (const char* line : {"-- a%", "-- %4", "-- %zz", "-- %00", "-- %%"}) {
    EXPECT_FALSE(BootArguments(line).next().ok()) << line;
  }
  EXPECT_FALSE(BootArguments("quiet --x").next().value().has_value());
}

TEST(ImageTable, IsFoundOnceOnly) {
  struct Kernel {
    char before[24] = {};
    ImageTable table;
    char after[8] = {};
  } kernel;
  EXPECT_EQ(find_image_table(std::as_bytes(std::span(&kernel, 1))).value(), 24u);
  struct Two {
    Kernel first, second;
  } two;
  EXPECT_EQ(find_image_table(std::as_bytes(std::span(&two, 1))).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(find_image_table(std::as_bytes(std::span(kernel.before))).error().code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace ingot
