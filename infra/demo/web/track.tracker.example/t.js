// Counts a page view with a pixel, and the time spent on the page with a beacon when it is left.
const site = document.currentScript?.dataset.site ?? 'unknown';
const since = performance.now();
new Image().src = `http://track.tracker.example/pixel.gif?site=${site}&page=${encodeURIComponent(location.href)}`;
addEventListener('pagehide', () => {
  const seconds = Math.round((performance.now() - since) / 1000);
  navigator.sendBeacon('http://track.tracker.example/collect', JSON.stringify({ site, seconds }));
});
