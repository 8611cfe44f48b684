// Draw all sections, the contents and the switch between dark and light; open what is folded before the page is printed.

function drawContents() {
  for (const section of document.querySelectorAll("main section")) {
    byId("contents").append(element("li", {}, element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
  }
}

function drawBasis() {
  body("basis").append(element("ul", { class: "notes" }, report.notes.map((note) => element("li", { class: warns(note) ? "warning" : "" }, note))));
  body("glossary").append(element("dl", { class: "words" }, report.glossary.flatMap((each) => [element("dt", {}, each.word), element("dd", {}, each.meaning)])));
}

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
drawHead();
drawLadder();
drawCluster();
drawFill();
drawBlockers();
drawCalendar();
drawOrder();
drawExtras();
drawLookUp();
drawBasis();
drawContents();
openForPrint();
document.documentElement.dataset.drawn = "yes";
