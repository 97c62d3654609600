"use strict";
// A report: everything is in the file.
{
  const found = JSON.parse(document.getElementById("document").textContent);
  const source = {
    kind: "report",
    has: (name) => Object.hasOwn(found.details, name),
    details: (name) => Promise.resolve(found.details[name]),
  };
  new tacit.Results(document.getElementById("main"), source).show(found);
}
