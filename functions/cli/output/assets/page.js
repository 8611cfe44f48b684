// Draw what can be chosen and searched; switch between dark and light; open what is folded before the page is printed.

function switchTheme() {
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme");
  const use = (theme) => {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", theme === "dark" ? "Use light colours" : "Use dark colours");
  };
  let chosen = "";
  const follow = () => use(chosen || (prefersDark.matches ? "dark" : "light"));
  prefersDark.addEventListener("change", follow);
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    follow();
  });
  window.addEventListener("beforeprint", () => use("light"));
  window.addEventListener("afterprint", follow);
  follow();
}

function openForPrint() {
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("main details:not([open])")];
    for (const each of folded) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
  });
}

switchTheme();
drawCluster();
drawLookUp();
document.addEventListener("click", openNamed);
openForPrint();
document.documentElement.dataset.drawn = "yes";
