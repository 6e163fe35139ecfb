// @ts-nocheck: a script of pages, which run without types.
// A double of the widgets of native networks: fetches items and writes them into the container that the page has for them.
(() => {
  const own = new URL(document.currentScript.src);
  const { id, unit, from } = Object.fromEntries(own.searchParams);
  fetch(`https://${from}/items?unit=${encodeURIComponent(unit)}`)
    .then((response) => response.text())
    .then((markup) => {
      document.getElementById(id).innerHTML = markup;
    });
})();
