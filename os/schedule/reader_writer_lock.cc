#include "os/schedule/reader_writer_lock.h"

#include "os/schedule/scheduler.h"

namespace ingot::os {

void ReaderWriterLock::lock_shared() {
  Waiter waiter(current_thread());
  const bool taken = state_.with([&](State& state) {
    if (state.writing || !state.waiting_writers.is_empty()) {
      state.waiting_readers.join(waiter);
      return false;
    }
    ++state.readers;
    return true;
  });
  if (!taken) block_current_thread();
}

void ReaderWriterLock::unlock_shared() {
  state_.with([](State& state) {
    if (state.readers == 0) __builtin_trap();
    if (--state.readers == 0) state.writing = state.waiting_writers.wake_one();
  });
}

void ReaderWriterLock::lock_exclusive() {
  Waiter waiter(current_thread());
  const bool taken = state_.with([&](State& state) {
    if (state.writing || state.readers != 0) {
      state.waiting_writers.join(waiter);
      return false;
    }
    state.writing = true;
    return true;
  });
  if (!taken) block_current_thread();
}

void ReaderWriterLock::unlock_exclusive() {
  state_.with([](State& state) {
    if (!state.writing) __builtin_trap();
    // Counted before they run: they cannot give the lock back before this section ends.
    state.readers = state.waiting_readers.wake_all();
    state.writing = state.readers == 0 && state.waiting_writers.wake_one();
  });
}

}  // namespace ingot::os
