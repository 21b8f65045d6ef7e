// Live updates. Every page is whole without this script: it reloads the parts marked data-live when an event comes.
"use strict";
(() => {
  const source = document.querySelector("[data-events]");
  if (!source || !window.EventSource) return;
  let due = 0;
  let busy = false;

  async function refresh() {
    due = 0;
    if (busy) return schedule();
    busy = true;
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(part.id);
        if (!fresh || fresh.innerHTML === part.innerHTML) continue;
        const focused = document.activeElement && part.contains(document.activeElement) ? document.activeElement.id : "";
        const open = new Map([...part.querySelectorAll("details[id]")].map((item) => [item.id, item.open]));
        const scrolled = new Map([...part.querySelectorAll("[data-scroll]")].map((item) => [item.id, item.scrollTop]));
        part.replaceChildren(...fresh.childNodes);
        for (const item of part.querySelectorAll("details[id]")) if (open.has(item.id)) item.open = open.get(item.id);
        for (const item of part.querySelectorAll("[data-scroll]")) item.scrollTop = scrolled.get(item.id) || 0;
        if (focused) document.getElementById(focused)?.focus();
      }
    } finally {
      busy = false;
    }
  }

  function schedule() {
    if (!due) due = setTimeout(refresh, 300);
  }

  const events = new EventSource(source.dataset.events);
  events.addEventListener("run", (event) => {
    if (event.data === "session_finished" || event.data === "pull_finished") events.close();
    schedule();
  });
})();
