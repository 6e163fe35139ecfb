// Fills the container of the page with links to advertisers, beside which the widget names itself.
const ITEMS = [
  ['Lamps that sailors trust, now on land', 'Evenlight', 'lamp'],
  ['He opened a shop for quiet people', 'Quiet Shop', 'shop'],
  ['77 spins for night owls', 'Lucky Harbour', 'wheel'],
];

const box = document.getElementById('taboola-below-article');
const tiles = ITEMS.map(([title, advertiser, item]) => {
  const link = document.createElement('a');
  link.className = 'item-thumbnail-href';
  link.href = `http://adsweep-demo.taboola.com/click?item=${item}`;
  link.target = '_blank';
  link.rel = 'nofollow sponsored noopener';
  const picture = document.createElement('img');
  picture.src = `http://adsweep-demo.taboola.com/thumbs/${item}.svg`;
  picture.width = 300;
  picture.height = 170;
  const [words, by] = [document.createElement('b'), document.createElement('small')];
  words.textContent = title ?? '';
  by.textContent = advertiser ?? '';
  link.append(picture, words, by);
  return link;
});
const heading = document.createElement('p');
heading.className = 'trc_header_text';
heading.textContent = 'Sponsored links by Taboola';
const row = document.createElement('div');
row.className = 'trc_rbox_container';
row.append(...tiles);
box?.append(heading, row);
