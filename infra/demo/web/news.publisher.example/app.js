// The column "most read" comes by fetch, as on any newspaper.
const list = document.getElementById('headlines');
const { headlines } = await (await fetch('/headlines.json')).json();
for (const headline of headlines) {
  const item = document.createElement('li');
  item.textContent = headline;
  list?.append(item);
}
