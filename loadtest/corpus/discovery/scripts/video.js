// @ts-nocheck: a script of pages, which run without types.
// A player that asks an ad server for a VAST document, shows its media file with the click-through over it, then the content.
window.playVideoAd = async (box, url) => {
  const vast = new DOMParser().parseFromString(await (await fetch(url)).text(), 'text/xml');
  const textOf = (name) => vast.querySelector(name)?.textContent.trim() ?? '';
  const video = box.querySelector('video') ?? box.appendChild(document.createElement('video'));
  video.style.cssText = 'display:block;width:100%;height:100%;background:#234';
  video.muted = true;
  video.loop = true;
  video.src = textOf('MediaFile');
  video.play().catch(() => undefined);
  new Image().src = textOf('Impression');
  box.style.cursor = 'pointer';
  box.addEventListener('click', () => window.open(textOf('ClickThrough')));
};
