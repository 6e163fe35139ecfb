// @ts-nocheck: a script of pages, which run without types.
// A double of AdSense: fills each ins.adsbygoogle with a frame of the ad server.
(() => {
  let count = 0;
  const fill = () => {
    const ins = document.querySelector('ins.adsbygoogle:not([data-adsbygoogle-status])');
    if (!ins) return;
    ins.dataset.adsbygoogleStatus = 'done';
    const query = new URLSearchParams({ client: ins.dataset.adClient, unit: ins.dataset.adSlot });
    const host = document.createElement('div');
    host.id = `aswift_${count}_host`;
    const iframe = document.createElement('iframe');
    iframe.id = iframe.name = `aswift_${count++}`;
    iframe.src = `https://googleads.g.doubleclick.net/pagead/ads?${query}`;
    iframe.style.cssText = `border:0;display:block;width:${ins.offsetWidth}px;height:${ins.offsetHeight}px`;
    host.append(iframe);
    ins.append(host);
    ins.dataset.adStatus = 'filled';
  };
  const waiting = window.adsbygoogle?.length ?? 0;
  window.adsbygoogle = { push: fill };
  for (let at = 0; at < waiting; at++) fill();
})();
