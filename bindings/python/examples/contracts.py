# %% A contract on arrays, and what NumPy says of it
import numpy as np

import ingot

x = np.random.default_rng(1).standard_normal((4, 64), np.float32)
gamma = np.ones(64, np.float32)
y = ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=1e-6)
print(abs(y - x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)).max())

# %% Proof of each of its variants
for row in ingot.verify("norm.rms_norm", reduced=True, variant="reference"):
    print(row["status"], row["variant"], row["cases"])
