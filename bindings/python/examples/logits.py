# %% What may follow a text, by its logits
import numpy as np

import ingot

model = ingot.Model(threads=1)
session = model.session()
logits = session.forward(model.tokenizer.encode("Once there was a"))[0]
likely = np.argsort(logits)[::-1][:5]
for token in likely:
    print(f"{logits[token]:7.3f}  {model.tokenizer.piece(int(token))!r}")
