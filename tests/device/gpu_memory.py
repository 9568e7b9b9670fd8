"""The first GPU's memory as its driver tells of it to this process, and a way to hold most of it."""

import ctypes
import subprocess
import sys
import time


class Gpu:
    """This process's context there, from when it is made on; `context_seconds` is what that took."""

    def __init__(self):
        begin = time.monotonic()
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.context_seconds = time.monotonic() - begin

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status != 0:
            raise OSError(f"{name}: status {status}")

    def free_bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value


class TakenMemory:
    """All but so many bytes of the first GPU's memory, while the block lasts."""

    def __init__(self, left):
        self.gpu = Gpu()
        self.address = ctypes.c_uint64()
        self.gpu.call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(self.gpu.free_bytes() - left))

    def __enter__(self):
        return self.gpu

    def __exit__(self, *_):
        self.gpu.call("cuMemFree_v2", self.address)


class OtherContext:
    """A process that has a context there and nothing else, while the block lasts."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-B", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seconds = float(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        self.process.communicate()


if __name__ == "__main__":
    gpu = Gpu()
    print(gpu.context_seconds, flush=True)
    sys.stdin.read()
