// The trick this page is here to show: sound on open, without the visitor pressing play. A browser may refuse; it was tried.
const jingle = new Audio('/jingle.wav');
jingle.loop = true;
jingle.play().catch(() => {
  document.documentElement.dataset.sound = 'refused';
});
