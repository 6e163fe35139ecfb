// @ts-nocheck: a script of pages, which run without types.
// A double of the runtime of AMP: an amp-ad gets a frame of the ad server.
for (const ad of document.querySelectorAll('amp-ad')) {
  const iframe = document.createElement('iframe');
  iframe.src = `${ad.dataset.src}`;
  iframe.name = JSON.stringify({ type: ad.getAttribute('type') });
  iframe.className = 'i-amphtml-fill-content';
  iframe.style.cssText = `border:0;display:block;width:${ad.getAttribute('width')}px;height:${ad.getAttribute('height')}px`;
  ad.style.display = 'block';
  ad.append(iframe);
}
