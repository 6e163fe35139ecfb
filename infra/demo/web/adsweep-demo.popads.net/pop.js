// Opens a window without a click.
addEventListener('load', () => {
  setTimeout(() => window.open('http://adsweep-demo.popads.net/go', '_blank'), 500);
});
