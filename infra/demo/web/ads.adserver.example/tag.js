// Each slot of the page asks what to show, then shows it in a frame of the ad server's own.
/** @type {Record<string, [width: number, height: number]>} */
const SIZES = { leaderboard: [728, 90], rectangle: [300, 250] };

/** @type {NodeListOf<HTMLElement>} */
const slots = document.querySelectorAll('[data-slot]');

for (const slot of slots) {
  const name = slot.dataset.slot ?? '';
  fetch(`http://ads.adserver.example/bid?slot=${name}&page=${encodeURIComponent(location.href)}`)
    .then((answer) => answer.json())
    .then(({ creative }) => {
      const [width, height] = SIZES[name] ?? [0, 0];
      const frame = document.createElement('iframe');
      frame.src = creative;
      frame.title = 'Advertisement';
      frame.width = String(Math.min(width, slot.clientWidth));
      frame.height = String(height);
      slot.append(frame);
    });
}
