"use strict";
// The live page: fetches the documents of its server, again whenever the server says that something has changed.
{
  const known = new Map();
  const ask = async (path) => {
    const answer = await fetch(path, { cache: "no-store" });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const source = {
    kind: "live",
    has: () => true,
    details: async (name) => {
      if (!known.has(name)) known.set(name, await ask(`details?run=${encodeURIComponent(name)}`));
      return known.get(name);
    },
  };
  const page = new tacit.Results(document.getElementById("main"), source);
  let asking = false, again = false;
  const look = async () => {
    if (asking) { again = true; return; }
    asking = true;
    try {
      page.show(await ask("overview"));
      page.state.textContent = "";
    } catch (error) {
      page.state.textContent = "the server does not answer";
    }
    asking = false;
    if (again) { again = false; look(); }
  };
  const events = new EventSource("events");
  events.addEventListener("changed", look);
  events.addEventListener("open", () => { page.state.textContent = ""; page.state.dataset.state = "on"; });
  events.addEventListener("error", () => {
    page.state.dataset.state = "off";
    page.state.textContent = "the server has ended or cannot be reached; what is shown is what it said last";
  });
  look();
}
