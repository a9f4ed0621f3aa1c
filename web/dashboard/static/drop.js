// Beside the Data page, which needs no script: a file is sent as soon as it is dropped, and what becomes of it shows
// without a reload.
"use strict";

const POLL_MS = 1000;
let timer = 0;

function section() {
  return document.getElementById("file");
}

// The section of a page, or of its part, in place of the one that is shown.
function take(html) {
  const next = new DOMParser().parseFromString(html, "text/html").getElementById("file");
  if (!next) return false;
  if (next.innerHTML !== section().innerHTML || next.dataset.pending !== section().dataset.pending) {
    section().replaceWith(next);
  }
  follow();
  return true;
}

function follow() {
  clearTimeout(timer);
  const { pending } = section().dataset;
  if (pending) timer = setTimeout(() => look(pending), POLL_MS);
}

async function look(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    // Somebody who was signed out sees it by a reload.
    if (answer.ok && !take(await answer.text())) return location.reload();
  } catch {
    // The service does not answer now.
  }
  follow();
}

function say(form, text, refused) {
  const line = form.querySelector("[data-file-progress], [data-file-refused]");
  line.hidden = false;
  line.textContent = text;
  line.toggleAttribute("data-file-refused", refused);
  line.toggleAttribute("data-file-progress", !refused);
  line.className = refused ? "message problem" : "";
}

function send(form) {
  const request = new XMLHttpRequest();
  const button = form.querySelector("button");
  const body = new FormData(form);
  const end = (text) => {
    button.disabled = form.querySelector("input[type=file]").disabled = false;
    if (text) say(form, text, true);
  };
  request.upload.onprogress = ({ loaded, total }) => {
    say(form, `Sending: ${Math.floor((100 * loaded) / total)} %`, false);
  };
  request.onload = () => {
    if (request.status === 200 && take(request.responseText)) return;
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    end(page.querySelector("main h1 + p")?.textContent || `The service answered with status ${request.status}.`);
  };
  request.onerror = () => end("The connection ended before the file had arrived: it is too large, or came too slowly. Nothing of it was kept.");
  request.open("POST", form.action);
  request.send(body);
  button.disabled = form.querySelector("input[type=file]").disabled = true;
  say(form, "Sending", false);
}

function formOf(event) {
  const found = event.target.closest?.("#file")?.querySelector("form[data-drop-file]");
  return found && !found.querySelector("button").disabled ? found : null;
}

addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-drop-file]")) return;
  event.preventDefault();
  send(event.target);
});
addEventListener("change", (event) => {
  if (event.target.matches("form[data-drop-file] input[type=file]") && event.target.files.length) send(event.target.form);
});
addEventListener("dragover", (event) => {
  if (formOf(event)) event.preventDefault();
});
addEventListener("drop", (event) => {
  const form = formOf(event);
  if (!form || !event.dataTransfer.files.length) return;
  event.preventDefault();
  form.querySelector("input[type=file]").files = event.dataTransfer.files;
  send(form);
});
// A file may have been chosen before this script ran.
const chosen = document.querySelector("form[data-drop-file] input[type=file]");
if (chosen?.files.length) send(chosen.form);
follow();
