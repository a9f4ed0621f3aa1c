// The copy buttons of the page that shows a key. Without this script they stay hidden.
"use strict";

async function copy(source) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(source.textContent);
    return;
  }
  // Plain HTTP has no clipboard to write to: have the browser copy what is selected.
  getSelection().selectAllChildren(source);
  if (!document.execCommand("copy")) throw new Error("not copied");
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const status = button.parentElement.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await copy(source);
      status.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(source);
      status.textContent = "Selected: copy it with your keyboard.";
    }
  });
}
