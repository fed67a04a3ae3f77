"use strict";
// Fetch the page again when something happens, and replace the parts of it that have changed.
const state = document.getElementById("state"), said = document.getElementById("said");
const token = document.getElementById("token");  // absent if the server has none
let busy = false, again = false, tag = "";

function live(is) {
  state.className = is ? "yes" : "no";
  state.textContent = is ? "live" : "not live";
  if (is) document.getElementById("now").textContent = new Date().toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch("/", {cache: "no-store", headers: tag ? {"If-None-Match": tag} : {}});
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error(answer.status);
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      tag = answer.headers.get("ETag") || "";
    }
    live(true);
  } catch { live(false); }
  busy = false;
  if (again) { again = false; refresh(); }
}

function show(found) {
  const focused = document.activeElement && document.activeElement.id;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = found.getElementById(part.id);
    if (fresh && fresh.innerHTML !== part.innerHTML) {
      const at = [...part.querySelectorAll(".wide")].map(wide => wide.scrollLeft);
      part.innerHTML = fresh.innerHTML;
      part.querySelectorAll(".wide").forEach((wide, i) => { wide.scrollLeft = at[i] || 0; });
    }
  }
  const before = focused && document.getElementById(focused);
  if (before && before !== document.activeElement) before.focus({preventScroll: true});
}

async function send(path, body) {
  said.textContent = "Working ...";
  const headers = {"Content-Type": "application/json", Authorization: "Bearer " + token.token.value};
  try {
    const answer = await fetch(path, {method: "POST", headers, body: JSON.stringify(body)});
    const found = await answer.json();
    said.textContent = answer.ok ? done(found) : found.error;
    if (answer.status === 401) token.token.focus();
  } catch { said.textContent = "The server did not answer."; }
  await refresh();
}

function done(found) {
  if ("released" in found) return found.released ? "Released: " + found.released + "." : "Not released: it cannot be read, or was released before.";
  return "Taken back: " + found.rows + " rows, entry " + found.entry + " of the ledger.";
}

document.addEventListener("click", event => {
  const row = event.target.dataset && event.target.dataset.release;
  if (!row) return;
  event.target.disabled = true;
  send("/release", {rows: [Number(row)]}).finally(() => { event.target.disabled = false; });
});
if (token) {
  token.token.value = sessionStorage.getItem("holdfast token") || "";
  token.addEventListener("input", () => sessionStorage.setItem("holdfast token", token.token.value));
  token.addEventListener("submit", event => event.preventDefault());
  document.getElementById("retract").addEventListener("submit", event => {
    event.preventDefault();
    const form = event.target, rows = form.rows.value.trim();
    if (confirm("Take back rows " + rows + "?")) send("/retract", {rows, why: form.why.value});
  });
}

const events = new EventSource("/events");
events.onopen = refresh;
events.onmessage = refresh;
events.onerror = () => live(false);
for (const kind of ["skips", "alarm", "release", "retraction"]) events.addEventListener(kind, refresh);
setInterval(() => { if (!document.hidden) refresh(); }, 2000);
