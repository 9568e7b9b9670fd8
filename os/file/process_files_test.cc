// The tree as a program sees it: /proc, /sys, /dev, /tmp and the image together.
#include "os/file/channels/event_file.h"
#include "os/file/channels/pipe.h"
#include "os/file/process_files_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

TEST_F(ProcessTree, HasTheImageAndItsLargeFiles) {
  EXPECT_EQ(get("/bin/tool"), "#!tool");
  EXPECT_EQ(get("/model"), "words");
  EXPECT_EQ(get("/ingot/manifest"), "ENOENT");
  EXPECT_EQ(get("/etc/group"), "mine:x:0:\n");
  EXPECT_TRUE(holds(get("/etc/passwd"), "root:x:0:0"));
}

TEST_F(ProcessTree, WhatALoaderBringsReplacesSmallFilesAndNoLargeOnes) {
  EXPECT_EQ(get("/etc/motto"), "brought");
  EXPECT_EQ(get("/etc/key"), "key");
  EXPECT_EQ(get("/etc/group"), "mine:x:0:\n");
  EXPECT_EQ(get("/model"), "words");
  EXPECT_EQ(get("/initrd"), "file");
}

TEST_F(ProcessTree, CanBeWrittenWhereItSaysSo) {
  EXPECT_EQ(put("/tmp/x", "temporary"), "ok");
  EXPECT_EQ(get("/tmp/x"), "temporary");
  EXPECT_EQ(put("/dev/shm/y", "shared"), "ok");
  EXPECT_TRUE(files.tree().rename(files.tree().root(), "/tmp/x", files.tree().root(), "/dev/shm/x", 0).ok());
  EXPECT_EQ(put("/x", "x"), "EROFS");
  EXPECT_EQ(put("/proc/x", "x"), "EROFS");
  EXPECT_EQ(put("/proc/cpuinfo", "x"), "EROFS");
  EXPECT_EQ(put("/dev/x", "x"), "EROFS");
}

TEST_F(ProcessTree, TheSmallDevicesBehave) {
  EXPECT_EQ(get("/dev/null"), "");
  EXPECT_EQ(put("/dev/null", "gone"), "ok");
  EXPECT_EQ(put("/dev/full", "x"), "ENOSPC");
  Reference<FileDescription> zero = files.tree().open(files.tree().root(), "/dev/zero", 0, 0).value();
  char bytes[300] = {'x'};
  KernelTransfer zeros(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(zero->read(zeros).value(), sizeof bytes);
  EXPECT_EQ(std::string(bytes, 3), std::string(3, '\0'));
  Reference<FileDescription> urandom = files.tree().open(files.tree().root(), "/dev/urandom", 0, 0).value();
  KernelTransfer sevens(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(urandom->read(sevens).value(), sizeof bytes);
  EXPECT_EQ(std::string(bytes + 297, 3), "777");
  EXPECT_EQ(urandom->status().value().device_number, 0x109u);
  EXPECT_EQ(urandom->status().value().mode(), 0020666u);
}

TEST_F(ProcessTree, TheConsoleIsTheStandardFiles) {
  EXPECT_TRUE(write(*files.descriptors().find(1).value(), "hello ").ok());
  EXPECT_EQ(put("/dev/tty", "world"), "ok");
  EXPECT_EQ(put("/dev/stdout", "!"), "ok");
  EXPECT_EQ(console.out, "hello world!");
  EXPECT_EQ(link("/proc/self/fd/1"), "/dev/console");
}

TEST_F(ProcessTree, ProcTellsOfTheMachine) {
  const std::string cpus = get("/proc/cpuinfo");
  EXPECT_TRUE(holds(cpus, "processor\t: 3\n"));
  EXPECT_FALSE(holds(cpus, "processor\t: 4\n"));
  EXPECT_TRUE(holds(cpus, "model name\t: Test CPU @ 2GHz\n"));
  EXPECT_TRUE(holds(cpus, "flags\t\t: fpu avx2\n"));
  EXPECT_TRUE(holds(cpus, "cpu MHz\t\t: 2000.123\n"));
  EXPECT_TRUE(holds(cpus, "cache size\t: 1024 KB\n"));
  EXPECT_TRUE(holds(cpus, "address sizes\t: 40 bits physical, 48 bits virtual\n"));
  EXPECT_TRUE(holds(get("/proc/meminfo"), "MemTotal:         262144 kB\nMemFree:          102400 kB\n"));
  EXPECT_EQ(get("/proc/uptime"), "12.34 0.00\n");
  EXPECT_TRUE(holds(get("/proc/stat"), "cpu3 "));
  EXPECT_TRUE(holds(get("/proc/version"), "Linux version 6.1.0-test"));
  EXPECT_EQ(get("/proc/sys/kernel/osrelease"), "6.1.0-test\n");
  EXPECT_EQ(get("/proc/sys/vm/overcommit_memory"), "2\n");
  EXPECT_TRUE(holds(get("/proc/filesystems"), "tmpfs"));
  EXPECT_TRUE(holds(get("/proc/mounts"), "/tmp tmpfs rw"));
  EXPECT_EQ(get("/proc/ingot/memory"), "large pages 7\n");
}

TEST_F(ProcessTree, ProcTellsOfTheProcess) {
  EXPECT_EQ(link("/proc/self"), "1");
  EXPECT_EQ(link("/proc/self/exe"), "/bin/tool");
  EXPECT_EQ(get("/proc/self/exe"), "#!tool");
  EXPECT_EQ(get("/proc/1/cmdline"), std::string("tool\0-v\0", 8));
  EXPECT_EQ(get("/proc/self/environ"), std::string("HOME=/\0", 7));
  EXPECT_TRUE(holds(get("/proc/self/status"), "VmHWM:                16 kB\n"));
  EXPECT_TRUE(holds(get("/proc/self/status"), "Threads:\t3\n"));
  EXPECT_TRUE(holds(get("/proc/self/status"), "SigCgt:\t0000000000000402\n"));
  EXPECT_TRUE(holds(get("/proc/self/maps"), "/bin/tool"));
  EXPECT_EQ(get("/proc/self/auxv"), "aux");
  EXPECT_EQ(get("/proc/self/cgroup"), "0::/\n");
  EXPECT_EQ(get("/proc/self/statm"), "10 2 0 0 0 0 0\n");
  const std::string stat = get("/proc/self/stat");
  EXPECT_EQ(std::count(stat.begin(), stat.end(), ' '), 51);
  EXPECT_EQ(get("/proc/self/root/bin/tool"), "#!tool");
  EXPECT_TRUE(files.enter("/bin").ok());
  EXPECT_EQ(link("/proc/self/cwd"), "/bin");
  EXPECT_EQ(get("/proc/self/cwd/tool"), "#!tool");
  EXPECT_FALSE(files.enter("/bin/tool").ok());
  EXPECT_FALSE(files.enter("/none").ok());
}

TEST_F(ProcessTree, ProcShowsTheDescriptors) {
  EXPECT_EQ(put("/tmp/file", "content"), "ok");
  Reference<FileDescription> file = files.tree().open(files.tree().root(), "/tmp/file", 0, 0).value();
  EXPECT_EQ(files.descriptors().add(file, OnExecute::keeps).value(), 3);
  PipeEnds ends = make_pipe(files.services(), 0).value();
  EXPECT_EQ(files.descriptors().add(ends.reading, OnExecute::keeps).value(), 4);
  EXPECT_EQ(list("/proc/self/fd"), (std::vector<std::string>{".", "..", "0", "1", "2", "3", "4"}));
  EXPECT_EQ(link("/proc/self/fd/3"), "/tmp/file");
  EXPECT_EQ(get("/proc/self/fd/3"), "content");
  EXPECT_EQ(link("/proc/self/fd/4"), "pipe:[1]");
  EXPECT_TRUE(write(*ends.writing, "through").ok());
  ends.writing.reset();
  EXPECT_EQ(get("/dev/fd/4"), "through");
  EXPECT_EQ(get("/proc/self/fd/9"), "ENOENT");
  EXPECT_EQ(get("/proc/self/fd/x"), "ENOENT");
  EXPECT_EQ(get("/proc/self/fd/03"), "ENOENT");
  EXPECT_TRUE(files.tree().remove(files.tree().root(), "/tmp/file", Directory::Removes::file).ok());
  EXPECT_EQ(link("/proc/self/fd/3"), "(deleted)");
  EXPECT_EQ(get("/proc/self/fd/3"), "content");
}

TEST_F(ProcessTree, SysTellsOfTheProcessors) {
  const std::string cpu = "/sys/devices/system/cpu/";
  EXPECT_EQ(get(cpu + "online"), "0-3\n");
  EXPECT_EQ(get(cpu + "cpu2/topology/core_id"), "2\n");
  EXPECT_EQ(get(cpu + "cpu2/topology/thread_siblings"), "4\n");
  EXPECT_EQ(get(cpu + "cpu2/topology/core_siblings_list"), "0-3\n");
  EXPECT_EQ(get(cpu + "cpu3/cache/index1/level"), "2\n");
  EXPECT_EQ(get(cpu + "cpu3/cache/index1/type"), "Unified\n");
  EXPECT_EQ(get(cpu + "cpu3/cache/index1/size"), "1024K\n");
  EXPECT_EQ(get(cpu + "cpu3/cache/index1/shared_cpu_list"), "2-3\n");
  EXPECT_EQ(get(cpu + "cpu3/cache/index1/shared_cpu_map"), "c\n");
  EXPECT_EQ(get(cpu + "cpu0/cache/index0/shared_cpu_list"), "0\n");
  EXPECT_EQ(get(cpu + "cpu0/cache/index2/level"), "ENOENT");
  EXPECT_EQ(get("/sys/devices/system/node/node0/cpulist"), "0-3\n");
  EXPECT_TRUE(holds(get("/sys/kernel/mm/transparent_hugepage/enabled"), "[always]"));
}

TEST_F(ProcessTree, ATextStaysAsItWasWhenOpened) {
  Reference<FileDescription> file = files.tree().open(files.tree().root(), "/proc/uptime", 0, 0).value();
  EXPECT_EQ(file->status().value().bytes, 0u);
  EXPECT_EQ(read_all(*file), "12.34 0.00\n");
  EXPECT_EQ(file->seek(6, Whence::begin).value(), 6u);
  EXPECT_EQ(read_all(*file), "0.00\n");
  EXPECT_EQ(files.tree().open(files.tree().root(), "/proc/uptime", open_flag::write_only, 0).error(), Errno::erofs);
}

TEST_F(ProcessTree, NewFilesGetWhatTheMaskLeaves) {
  EXPECT_EQ(files.without_mask(0666), 0644u);
  EXPECT_EQ(files.exchange_mask(0777), 022u);
  EXPECT_EQ(files.without_mask(0666), 0u);
}

}  // namespace
}  // namespace ingot::os
