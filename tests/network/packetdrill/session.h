// Session: our stack as packetdrill drives it, in virtual time. Time goes on where packetdrill sleeps, waits for a
// packet, or looks at the clock again and again. Its second thread makes the calls that block: they try again whenever
// something happened, and time stands until they have.
#pragma once

#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "tests/network/ingot_stack.h"

namespace ingot::network_scripts {

// Ends the program as failed.
[[noreturn]] void give_up(std::string_view why);

class Session {
 public:
  // VERSION MTU FILE: ipv4 or ipv6; FILE gets the name of a file for each of the script's commands, when it is due.
  static std::unique_ptr<Session> create(const char* flags);
  Session(const Environment& place, const std::string& commands);

  // use(IngotStack&), which answers as its functions do.
  template <class Use>
  std::int64_t with(Use&& use) {
    const Entry entry(*this);
    return use(stack_);
  }
  // The same, again until it answers something else than EAGAIN, unless the descriptor or the flags say not to wait.
  std::int64_t insist(int descriptor, int flags, const std::function<std::int64_t(IngotStack&)>& use);

  void set_waiting(int descriptor, bool waits);
  bool waits(int descriptor) const { return !impatient_.contains(descriptor); }
  void pass(Microseconds span);
  Microseconds look_at_clock();
  std::optional<SentPacket> await_packet();

 private:
  // From the begin of a call of packetdrill's to its end.
  class Entry {
   public:
    explicit Entry(Session& session);
    ~Entry();
    std::unique_lock<std::mutex>& lock() { return lock_; }

   private:
    Session& session_;
    std::unique_lock<std::mutex> lock_;
  };

  bool is_main_thread() const { return std::this_thread::get_id() == main_thread_; }
  void run_commands();
  void advance_to_timer(std::unique_lock<std::mutex>& lock);
  // Those who wait try again, and have looked at the clock if they came to an end.
  void let_others_try(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable happened_, tried_;
  std::uint64_t happenings_ = 0, tried_until_ = 0;
  int waiting_ = 0;
  bool has_returned_ = false;  // a call that waited did, and nobody has looked at the clock since
  int looks_ = 0;              // at the clock, without anything in between
  const std::thread::id main_thread_ = std::this_thread::get_id();

  IngotStack stack_;
  Profile profile_ = linux_profile();
  std::ifstream commands_;
  std::set<int> impatient_;  // O_NONBLOCK
};

}  // namespace ingot::network_scripts
