// A double click on a button that leads to another page sends its form once.

const sent = new WeakSet(); // forms whose response is to come

// Of the window, so that what others do with a form comes first.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), 2_000); // it may have been a download, or fail
});
