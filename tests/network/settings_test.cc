#include <gtest/gtest.h>

#include "tests/network/commands.h"
#include "tests/network/replaying_stack.h"
#include "tests/network/script_reader.h"
#include "tests/network/script_settings.h"

namespace ingot::network_scripts {
namespace {

struct Shell {
  Script script;
  ReplayingStack stack{script, {}, {}};
  Profile profile;

  Result<void> run(std::string_view command) { return run_command(command, profile, stack); }
};

TEST(Commands, BecomeAProfile) {
  Shell shell;
  EXPECT_TRUE(shell.run("../common/defaults.sh").ok());
  EXPECT_EQ(shell.profile.manner, Profile::Manner::linux_kernel);
  EXPECT_TRUE(shell.run("../common/defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1  # fully enabled\n").ok());
  EXPECT_EQ(shell.profile.congestion_notification, Profile::Congestion::asked_for);
  EXPECT_TRUE(shell
                  .run("../common/set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"4096 50000 4194304\" \\\n"
                       "   /proc/sys/net/ipv4/tcp_min_tso_segs=10\n")
                  .ok());
  EXPECT_EQ(shell.profile.send_buffer, 50'000u);

  EXPECT_TRUE(shell.run("sysctl -w net.inet.tcp.rfc1323=0").ok());
  EXPECT_EQ(shell.profile.manner, Profile::Manner::freebsd_kernel);
  EXPECT_EQ(shell.profile.receive_buffer, 65'536u);
  EXPECT_FALSE(shell.profile.timestamps);
  EXPECT_TRUE(shell.run("sysctl -w net.inet.tcp.insecure_rst=1").ok());
  EXPECT_FALSE(shell.profile.secure_reset);
  EXPECT_FALSE(shell.profile.timestamps) << "a setting leaves the others as they are";
  EXPECT_TRUE(shell.run("sysctl -w kern.ipc.maxsockbuf=4294967295").ok());
  EXPECT_EQ(shell.profile.most_buffer, 4'294'967'295u);
}

TEST(Commands, WithoutAMeaningAreNamed) {
  Shell shell;
  for (const char* command : {"ip route change 192.0.2.1 via 192.168.0.2", "sysctl -w net.inet.tcp.unheard_of=1",
                              "tc qdisc add dev tun0 root pfifo limit 0", "setkey -F", "sysctl -q net.ipv4.tcp_ecn"}) {
    const Result<void> result = shell.run(command);
    ASSERT_FALSE(result.ok()) << command;
    EXPECT_EQ(result.error().code(), ErrorCode::unsupported) << result.error().text();
  }
}

TEST(Commands, AskForStates) {
  Result<Script> script = read_script(
      "0 `sockstat -4 -P tcp -s | grep packetdril | grep -c TIME_WAIT | grep 1`\n+0 `sockstat | grep -c A | grep 0`");
  ASSERT_TRUE(script.ok());
  ReplayingStack stack(script.value(), {}, {});
  Profile profile;
  EXPECT_TRUE(run_command("sockstat | grep packetdril | grep -c TIME_WAIT | grep 1", profile, stack).ok());
  const Result<void> other = run_command("sockstat | grep -c TIME_WAIT | grep 1", profile, stack);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().text(), "connections in TIME_WAIT: expected 1, actual 0");
}

TEST(ScriptSettings, AreReadFromOptions) {
  const Result<Script> script = read_script(
      "--ip_version=ipv6\n--tolerance_usecs=75000\n--mtu=1280\n--strict_segments\n--bind_port=1\n--tolerance_percent="
      "5\n");
  ASSERT_TRUE(script.ok());
  const Result<ScriptSettings> settings = read_settings(script.value());
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings.value().version, Version::v6);
  EXPECT_EQ(settings.value().tolerance, 75'000);
  EXPECT_EQ(settings.value().mtu, 1280);
  EXPECT_EQ(settings.value().bind_port, 1);
  EXPECT_TRUE(settings.value().strict_segments);
  EXPECT_FALSE(settings.value().environment().local.is_v4());
  for (const char* text : {"--udp_encapsulation=tcp", "--tcp_md5_secret=secret", "--mtu=70000", "--ip_version=ipv5"}) {
    const Result<Script> odd = read_script(text);
    ASSERT_TRUE(odd.ok());
    EXPECT_FALSE(read_settings(odd.value()).ok()) << text;
  }
}

}  // namespace
}  // namespace ingot::network_scripts
