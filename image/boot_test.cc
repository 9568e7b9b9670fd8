#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "image/emulator_button.h"
#include "image/fake_images.h"

namespace ingot::image {
namespace {

TEST(Boot, TheMachineHasWhatIsGranted) {
  const TestFolder folder;
  CastRequest cast_request = small_request(folder);
  cast_request.kernels = {folder.put("kernel", fake_kernel(1, {GrantNote("pci")}))};
  cast_request.rights = {"pci"};
  ASSERT_TRUE(cast(cast_request).ok());
  BootRequest request;
  request.image = folder.path("an,image");
  const std::string words = joined(emulator_words(request, plan_boot(request).value(), {}).value());
  EXPECT_NE(words.find("-machine\nq35\n"), std::string::npos) << words;
}

TEST(Boot, ALoaderBringsAnInitrdThatFits) {
  const TestFolder folder;
  ASSERT_TRUE(cast(small_request(folder)).ok());
  BootRequest request;
  request.image = folder.path("an,image");
  request.initrd = folder.put("an,initrd", std::string(5 << 20, 'k'));
  EXPECT_NE(words_of(request).find("-initrd\n" + request.initrd + '\n'), std::string::npos);
  request.memory = 12 << 20;
  EXPECT_NE(words_of(request).find("MiB of memory for the image and the kernel, found 12 MiB"), std::string::npos);
  request.initrd = folder.path("none");
  EXPECT_NE(words_of(request).find("No such file"), std::string::npos);
}

TEST(Boot, TheMachineIsTheOneThatWasAskedFor) {
  const TestFolder folder;
  CastRequest cast_request = small_request(folder);
  cast_request.kernels = {folder.put("kernel", fake_kernel(1, {GrantNote("pci")}))};
  cast_request.rights = {"pci"};
  ASSERT_TRUE(cast(cast_request).ok());
  BootRequest request;
  request.image = folder.path("an,image");
  request.machine = "microvm";
  EXPECT_NE(words_of(request).find("--machine: expected q35 for an image with 'grant pci', found microvm"),
            std::string::npos);
  ASSERT_TRUE(cast(small_request(folder)).ok());
  request.machine = "q35";
  EXPECT_NE(words_of(request).find("-machine\nq35\n"), std::string::npos);
}

// An image whose program may use an accelerator, and a request to boot it with one.
struct AcceleratedBoot {
  explicit AcceleratedBoot(std::vector<std::string> rights = {"accelerator"}) {
    CastRequest casting = small_request(folder);
    casting.kernels = {folder.put("kernel", fake_kernel(1, {GrantNote("accelerator"), GrantNote("pci")}))};
    casting.rights = std::move(rights);
    casting.machine_cpus = 1;
    EXPECT_TRUE(cast(casting).ok());
    request.image = casting.output;
    request.accelerator = [](std::uint64_t) -> Result<AcceleratorEnds> { std::abort(); };  // who plans makes none
  }
  TestFolder folder;
  BootRequest request;
};

TEST(Boot, AnAcceleratorSharesTheMachinesMemory) {
  AcceleratedBoot boot;
  boot.request.memory = (100 << 20) + 1;
  const std::string words = words_of(boot.request);
  for (const char* expected :
       {"-machine\nmicrovm,pcie=on,memory-backend=memory\n", "-m\n101M\n",
        "-object\nmemory-backend-file,id=memory,share=on,mem-path=/proc/self/fd/33,size=101M\n",
        "-chardev\nsocket,id=accelerator,fd=32\n", "-device\nivshmem-doorbell,chardev=accelerator,vectors=2\n",
        "-accel\ntcg\n", "-smp\n1\n"}) {
    EXPECT_NE(words.find(expected), std::string::npos) << expected << words;
  }
  boot.request.machine = "q35";  // which has PCI anyway
  EXPECT_NE(words_of(boot.request).find("-machine\nq35,memory-backend=memory\n"), std::string::npos);
  AcceleratedBoot with_pci({"accelerator", "pci"});
  EXPECT_NE(words_of(with_pci.request).find("-machine\nq35,memory-backend=memory\n"), std::string::npos);
}

TEST(Boot, AnAcceleratorIsGrantedAndAskedFor) {
  AcceleratedBoot boot;
  boot.request.accelerator = {};
  std::string words = words_of(boot.request);
  EXPECT_NE(words.find("`ingot boot IMAGE --device accelerator` starts one"), std::string::npos) << words;
  AcceleratedBoot not_granted(std::vector<std::string>{});
  words = words_of(not_granted.request);
  EXPECT_NE(words.find("--device: expected an image that was cast with --grant accelerator"), std::string::npos)
      << words;
  not_granted.request.accelerator = {};
  words = words_of(not_granted.request);
  EXPECT_EQ(words.find("memory-backend"), std::string::npos) << words;
}

// A guest's fences are kept only where several of its processors run side by side.
TEST(Boot, AnAcceleratorFindsStoresInTheirOrder) {
  AcceleratedBoot boot;
  const std::string words = words_of(boot.request, {.reorders_stores = true});
  EXPECT_NE(words.find("-accel\ntcg,thread=multi\n"), std::string::npos) << words;
  EXPECT_NE(words.find("-smp\n2\n"), std::string::npos) << words;
  boot.request.cpus = 3;
  EXPECT_NE(words_of(boot.request, {.reorders_stores = true}).find("-smp\n3\n"), std::string::npos);
  boot.request.counts_instructions = true;
  const EmulatorPlan plan = plan_boot(boot.request).value();
  EXPECT_FALSE(emulator_words(boot.request, plan, {.reorders_stores = true}).ok());
  EXPECT_TRUE(emulator_words(boot.request, plan, {}).ok());
  // Of a machine without one nothing changes.
  AcceleratedBoot none(std::vector<std::string>{});
  none.request.accelerator = {};
  EXPECT_NE(words_of(none.request, {.reorders_stores = true}).find("-accel\ntcg\n"), std::string::npos);
}

TEST(Boot, TheEmulatorListensToItsButton) {
  const TestFolder folder;
  ASSERT_TRUE(cast(small_request(folder)).ok());
  BootRequest request;
  request.image = folder.path("an,image");
  EmulatorHost host;
  EXPECT_EQ(words_of(request, host).find("-mon"), std::string::npos);
  host.button = 31;
  EXPECT_NE(words_of(request, host).find("-chardev\nsocket,id=button,fd=31\n-mon\nchardev=button,mode=control\n"),
            std::string::npos);
  const EmulatorButton button = EmulatorButton::create().value();
  button.press();
  char text[200] = {};
  ASSERT_GT(::read(button.emulators_end(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, R"({"execute":"qmp_capabilities"}{"execute":"system_powerdown"})");
}

TEST(Boot, AnImageIsStartedAsItWasCast) {
  const TestFolder folder;
  ASSERT_TRUE(cast(small_request(folder)).ok());
  BootRequest request;
  request.image = folder.path("an,image");
  request.arguments = {"run", "-p", "Once upon", ""};
  const EmulatorPlan plan = plan_boot(request).value();
  EXPECT_EQ(plan.memory, 200u << 20);
  EXPECT_EQ(plan.cpus, 3u);
  const std::string words = joined(emulator_words(request, plan, {.has_kvm = true}).value());
  for (const char* expected : {"-machine\nmicrovm\n", "-accel\nkvm\n", "-m\n200M\n", "-smp\n3\n", "an,image\n",
                               "-append\ndebug-exit -- run -p Once%20upon %\n"}) {
    EXPECT_NE(words.find(expected), std::string::npos) << expected << words;
  }
  EXPECT_EQ(words.find("-mon"), std::string::npos);
  request.counts_instructions = true;  // KVM cannot count
  const std::string counted = joined(emulator_words(request, plan, {.has_kvm = true, .has_terminal = true}).value());
  EXPECT_NE(counted.find("-accel\ntcg\n"), std::string::npos);
  EXPECT_NE(counted.find("-icount\n"), std::string::npos);
  EXPECT_NE(counted.find("-mon\n"), std::string::npos);
  request.arguments = {std::string(3000, 'x')};
  EXPECT_FALSE(emulator_words(request, plan, {}).ok());
}

TEST(Boot, NoMoreProcessorsThanTheKernelUses) {
  const TestFolder folder;
  CastRequest casting = small_request(folder);
  casting.machine_cpus = 30;
  ASSERT_TRUE(cast(casting).ok());
  BootRequest request;
  request.image = casting.output;
  request.cpus = 64;
  EXPECT_TRUE(plan_boot(request).ok());
  request.cpus = 256;
  EXPECT_EQ(plan_boot(request).error().text(),
            "--cpus: expected 1 to 64 processors, as many as the kernel uses, found 256");
  // An image may have been cast by another version.
  request.cpus.reset();
  std::string bytes = folder.get("an,image");
  bytes.replace(bytes.find("machine-cpus 30"), 15, "machine-cpus 99");
  request.image = folder.put("older", bytes);
  EXPECT_EQ(plan_boot(request).error().text(),
            "the image's manifest: expected 1 to 64 processors, as many as the kernel uses, found 99");
}

TEST(Boot, NoLessMemoryThanTheImageTakes) {
  const TestFolder folder;
  CastRequest casting = small_request(folder);
  ASSERT_TRUE(casting.root.put_file("/large", 0644, Content::of_bytes(std::string(9 << 20, 'l'))).ok());
  ASSERT_TRUE(cast(casting).ok());
  BootRequest request;
  request.image = casting.output;
  request.memory = 18 << 20;
  EXPECT_EQ(plan_boot(request).error().text(),
            "--memory: expected at least 19 MiB of memory for the image and the kernel, found 18 MiB");
  request.memory = 19 << 20;
  EXPECT_TRUE(plan_boot(request).ok());
}

TEST(Boot, DisksGoThroughFirmware) {
  const TestFolder folder;
  CastRequest casting = small_request(folder);
  casting.loader = folder.put("loader", "MZ");
  casting.format = ImageFormat::disk;
  ASSERT_TRUE(cast(casting).ok());
  BootRequest request;
  request.image = casting.output;
  const EmulatorPlan plan = plan_boot(request).value();
  EXPECT_EQ(plan.format, ImageFormat::disk);
  const std::string words =
      joined(emulator_words(request, plan, {.firmware = "/code", .firmware_variables = "/v"}).value());
  EXPECT_NE(words.find("-machine\nq35\n"), std::string::npos);
  EXPECT_NE(words.find("snapshot=on,file=" + folder.path("an,,image")), std::string::npos);
  EXPECT_EQ(words.find("-fw_cfg"), std::string::npos);
  request.arguments = {"run", "a, b"};
  const std::string asked = joined(emulator_words(request, plan, {}).value());
  EXPECT_NE(asked.find("-fw_cfg\nname=opt/ingot/command-line,string=-- run a,,%20b\n"), std::string::npos) << asked;
  request.options = {"poison"};
  EXPECT_NE(plan_boot(request).error().text().find("cast it with --option"), std::string::npos);
  request.options.clear();
  request.machine = "microvm";
  EXPECT_NE(plan_boot(request).error().text().find("whose firmware needs q35"), std::string::npos);
  request.machine.clear();
  request.initrd = folder.path("loader");
  EXPECT_NE(plan_boot(request).error().text().find("whose loader brings its own"), std::string::npos);
  request.initrd.clear();
  // What such an image was granted is not looked at.
  request.network.ports = {parse_published_port("8080:80").value()};
  EXPECT_NE(words_of(request).find("virtio-net-pci"), std::string::npos);
}

TEST(Boot, OtherFilesAreNoImages) {
  const TestFolder folder;
  BootRequest request;
  request.image = folder.put("text", "hello");
  EXPECT_FALSE(plan_boot(request).ok());
  request.image = folder.put("kernel", fake_kernel());  // never cast
  EXPECT_NE(plan_boot(request).error().text().find("found no filled table"), std::string::npos);
  request.image = folder.path("none");
  EXPECT_EQ(plan_boot(request).error().code(), ErrorCode::not_found);
}

TEST(KernelLog, TheLastExitLineCounts) {
  KernelLog log;
  log.add("ingot: starting\nexit 3\nprogram: exit 5\nexi");
  EXPECT_EQ(log.exit_code(), 3);
  log.add("t 42\r\nexit 4x\nexit 300\nexit -1\n");
  EXPECT_EQ(log.exit_code(), 42);
  for (int line = 0; line < 100; ++line) log.add("line\n");
  EXPECT_EQ(log.last_lines().size(), 64u);
}

TEST(KernelLog, TellsWhenTheButtonIsListenedTo) {
  KernelLog log;
  log.add("warning: power button: expected fixed registers\n");
  EXPECT_FALSE(log.has_button());
  log.add("power button: ready\n");
  EXPECT_TRUE(log.has_button());
}

TEST(KernelLog, APanicThatCannotSwitchOffIsTheEnd) {
  KernelLog log;
  log.add("ingot: starting\npanic: boot: out of memory\npanic: second part\n");
  EXPECT_EQ(log.panic(), "panic: boot: out of memory");
  log.add("  | warning: power: expected to be off, found the machine running: halted\n");
  EXPECT_FALSE(log.has_halted()) << "a line of before, repeated";
  log.add("warning: power: expected to be off, found the machine running: halted\n");
  EXPECT_TRUE(log.has_halted());
}

TEST(Process, EndsWhereItsReaderHasEnough) {
  std::string seen;
  ProcessRequest request;
  request.words = {"sh", "-c", "echo one >&2; echo halted >&2; exec sleep 3600"};
  request.channels.push_back({2, [&](std::string_view piece) { seen += piece; }});
  request.has_enough = [&] { return seen.ends_with("halted\n"); };
  const ProcessEnd end = run_process(request).value();
  EXPECT_EQ(end.status, 128 + 15);
  EXPECT_EQ(seen, "one\nhalted\n");
}

// Told to end while `script` runs, each time that it says something on its standard error.
struct ToldToEnd {
  int status = 0, asked = 0;
};
ToldToEnd run_told_to_end(const std::string& script) {
  ToldToEnd told;
  ProcessRequest request;
  request.words = {"sh", "-c", script};
  request.channels.push_back({2, [&](std::string_view) { ::kill(::getpid(), SIGTERM); }});
  request.asked_to_end = [&](int times) {
    told.asked = times;
    if (times == 1) ::kill(::getpid(), SIGINT);
  };
  told.status = run_process(request).value().status;
  return told;
}

TEST(Process, IsAskedToEndThenToldThenKilled) {
  const ToldToEnd told = run_told_to_end("echo ready >&2; exec sleep 3600");
  EXPECT_EQ(told.asked, 2);
  EXPECT_EQ(told.status, 128 + 15);
  const ToldToEnd killed = run_told_to_end("trap 'echo deaf >&2' TERM; echo ready >&2; while :; do sleep 0.1; done");
  EXPECT_EQ(killed.asked, 3);
  EXPECT_EQ(killed.status, 128 + 9);
}

TEST(Process, MayFinishWhenItIsAskedToEnd) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ProcessRequest request;
  request.words = {"sh", "-c", "echo ready >&2; read line <&9; exit 7"};
  request.channels.push_back({2, [&](std::string_view) { ::kill(::getpid(), SIGTERM); }});
  request.inherited = {{ends[0], 9}};
  request.asked_to_end = [&](int) { ASSERT_EQ(::write(ends[1], "end\n", 4), 4); };
  request.has_own_group = true;
  EXPECT_EQ(run_process(request).value().status, 7);
  for (const int end : ends) ::close(end);
}

TEST(KernelLog, ErrorsOfTheKernelAreKeptApart) {
  KernelLog log;
  log.add("ingot: started\nerror: program: expected a folder, found none\nnot an error: 1\nexit 127\n");
  for (int line = 0; line < 100; ++line) log.add("line\n");
  ASSERT_EQ(log.errors().size(), 1u);
  EXPECT_EQ(log.errors()[0], "error: program: expected a folder, found none");
}

TEST(KernelLog, ErrorsOfSeveralLinesAreKeptWhole) {
  KernelLog log;
  log.add(
      "  no error\nerror: manifest: expected a grant, found\n  'accelerator', which this\n  has not\nexit 127\n  x\n");
  ASSERT_EQ(log.errors().size(), 1u);
  EXPECT_EQ(log.errors()[0], "error: manifest: expected a grant, found 'accelerator', which this has not");
}

}  // namespace
}  // namespace ingot::image
