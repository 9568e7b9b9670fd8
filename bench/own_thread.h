// A thread for the other side's calls: both sides configure the tile registers of the thread that they run on, and each
// thinks that it is alone there.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ingot {

class OwnThread {
 public:
  OwnThread() : thread_([this] { serve(); }) {}
  ~OwnThread() {
    post({}, State::ends);
    thread_.join();
  }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  // Returns when it is done.
  void run(std::function<void()> work) {
    post(std::move(work), State::asked);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ == State::idle; });
  }

 private:
  enum class State { idle, asked, ends };

  void post(std::function<void()> work, State state) {
    {
      const std::scoped_lock lock(mutex_);
      work_ = std::move(work);
      state_ = state;
    }
    changed_.notify_all();
  }

  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return state_ != State::idle; });
      if (state_ == State::ends) return;
      work_();
      state_ = State::idle;
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::idle;
  std::function<void()> work_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace ingot
