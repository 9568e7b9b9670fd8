// Dark or light, before anything is drawn. A classic script, because modules run when the page has been shown already.
"use strict";

(() => {
  const root = document.documentElement;
  const choices = ["system", "dark", "light"];

  // A browser that keeps nothing for us throws.
  function kept() {
    try {
      return localStorage.getItem("ingot.theme");
    } catch {
      return null;
    }
  }

  function apply(choice) {
    if (choice === "system")
      delete root.dataset.theme;
    else
      root.dataset.theme = choice;
  }

  window.ingotTheme = {
    get choice() {
      return root.dataset.theme ?? "system";
    },
    set choice(choice) {
      apply(choice);
      try {
        localStorage.setItem("ingot.theme", choice);
      } catch {
        // It lasts as long as the page.
      }
    },
    get isDark() {
      const choice = root.dataset.theme;
      return choice ? choice === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    },
  };

  const choice = kept();
  if (choices.includes(choice)) apply(choice);
})();
