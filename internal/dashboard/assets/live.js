// Keeps an open page current: one stream of events carries the rooms whose numbers changed.
"use strict";
(() => {
  const retryAfter = 3000; // ms until a new stream when the server refused one
  const number = new Intl.NumberFormat("en");
  const news = document.getElementById("news");
  const link = document.getElementById("link");
  const linkText = document.getElementById("link-text");

  function setLink(state, text) {
    link.dataset.link = state;
    if (linkText.textContent !== text) linkText.textContent = text;
  }

  function setField(element, line) {
    const value = line[element.dataset.field];
    if (element instanceof HTMLProgressElement) {
      element.max = Math.max(1, line.limit);
      element.value = value;
      return;
    }
    const text = typeof value === "number" ? number.format(value) : value;
    if (element.textContent !== text) element.textContent = text;
  }

  // Only a change of the room's state is spoken; counts change too often for that.
  function setLine(line) {
    for (const box of document.querySelectorAll(`[data-room="${CSS.escape(line.id)}"]`)) {
      if (box.dataset.state !== line.state) {
        box.dataset.state = line.state;
        news.textContent = `${box.dataset.name}: ${line.status}`;
      }
      for (const element of box.querySelectorAll("[data-field]")) setField(element, line);
    }
  }

  // Settings or the set of rooms changed: take the marked parts from a fresh copy of this page.
  async function refresh() {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) {
      location.reload();
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const focused = document.activeElement?.getAttribute?.("href");
    for (const fresh of page.querySelectorAll("[data-swap]")) {
      document.getElementById(fresh.id)?.replaceWith(fresh);
    }
    document.title = page.title;
    document.body.dataset.version = page.body.dataset.version;
    if (focused && document.activeElement === document.body) {
      document.querySelector(`main a[href="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  let refreshing = false;
  async function refreshOnce() {
    if (refreshing) return;
    refreshing = true;
    try {
      await refresh();
    } catch {
      // The server is away; the stream notices as well and the next event asks again.
    } finally {
      refreshing = false;
    }
  }

  function take(message) {
    const event = JSON.parse(message.data);
    setLink("live", "Live");
    for (const line of event.rooms) setLine(line);
    document.dispatchEvent(new CustomEvent("rooms", { detail: event }));
    if (event.version !== document.body.dataset.version) refreshOnce();
  }

  function connect() {
    const source = new EventSource("/dashboard/events");
    source.onopen = () => setLink("live", "Live");
    source.onmessage = take;
    source.onerror = () => {
      setLink("off", "Reconnecting…");
      if (source.readyState !== EventSource.CLOSED) return;
      // Refused: either the session is over, then the reload shows the form, or there is no room.
      setTimeout(async () => {
        await refreshOnce();
        connect();
      }, retryAfter);
    };
    addEventListener("pagehide", () => source.close(), { once: true });
  }

  addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
  setLink("off", "Connecting…");
  connect();

  const figures = document.getElementById("figures");
  if (figures) {
    figures.open = false;
    figures.addEventListener("toggle", () => figures.open && refreshOnce());
    setInterval(() => figures.open && !document.hidden && refreshOnce(), 30000);
  }
})();
