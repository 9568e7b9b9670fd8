# %% A text, as it is written
import ingot

model = ingot.Model(threads=1)  # the built-in one; a path opens another
for piece in model.generate("Once there was a thoughtful cook named Ralf.", max_tokens=40, stream=True):
    print(piece, end="", flush=True)

# %% An answer that keeps to a shape
print(model.generate("Was the soup good? ", choice=["yes", "no"], temperature=0.8, seed=7))
