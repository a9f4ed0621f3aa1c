// The forms on the page of Set up, as they are seen. Without this script the page shows them when it is loaded.
"use strict";

const LOOK_MS = 3000;
const list = document.querySelector("[data-seen-forms]");
const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

function tellAgo() {
  for (const ago of list.querySelectorAll("[data-ago]")) {
    const at = new Date(ago.parentElement.querySelector("time").dateTime);
    const seconds = Math.max(0, Math.floor((Date.now() - at) / 1000));
    const [size, unit] = units.find(([size]) => seconds >= size) || [1, "s"];
    ago.textContent = `${Math.floor(seconds / size)} ${unit} ago`;
  }
}

async function look() {
  // Nobody looks, or somebody is about to press a button.
  if (document.hidden || list.contains(document.activeElement)) return;
  const headers = look.tag ? { "If-None-Match": look.tag } : {};
  const answer = await fetch(list.dataset.seenForms, { headers });
  // The same list (304), a sign-in that ended, or a service that is down: the list stays.
  if (!answer.ok || answer.redirected) return;
  const text = await answer.text();
  look.tag = answer.headers.get("ETag");
  list.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  tellAgo();
}

setInterval(() => look().catch(() => {}), LOOK_MS);
setInterval(tellAgo, 1000);
tellAgo();
