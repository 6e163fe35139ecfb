// @ts-nocheck: a script of pages, which run without types.
// A double of the Google Publisher Tag: slots, SafeFrames, lazy loading, refreshing, out-of-page slots.
(() => {
  const slots = [];
  let isLazy = false;
  const render = async (slot) => {
    const element = document.getElementById(slot.id);
    if (!element) return;
    const size = slot.size.join('x');
    const query = new URLSearchParams({ iu: slot.unit, sz: size, correlator: String(Math.random()) });
    const response = await fetch(`https://securepubads.g.doubleclick.net/gampad/ads?${query}`);
    const markup = await response.text();
    element.dataset.googleQueryId = `C${Math.random().toString(36).slice(2)}`;
    const name = `google_ads_iframe_${slot.unit}_0`;
    const container = document.createElement('div');
    container.id = `${name}__container__`;
    container.style.border = '0pt none';
    element.replaceChildren(container);
    if (markup === '') {
      element.style.display = 'none';
      return;
    }
    container.style.cssText += `;margin:auto;width:${slot.size[0]}px;height:${slot.size[1]}px`;
    const iframe = document.createElement('iframe');
    Object.assign(iframe, { id: name, title: '3rd party ad content', width: slot.size[0], height: slot.size[1] });
    iframe.style.cssText = 'border:0;vertical-align:bottom';
    iframe.scrolling = 'no';
    iframe.dataset.isSafeframe = String(slot.isSafe);
    if (slot.isSafe) {
      iframe.name = `1-0-40;${markup.length};${markup}`;
      iframe.src = 'https://5f2c.safeframe.googlesyndication.com/safeframe/1-0-40/html/container.html';
    } else iframe.name = name;
    container.append(iframe);
    if (slot.isSafe) return;
    iframe.contentDocument.open();
    iframe.contentDocument.write(`<!doctype html><body style="margin:0">${markup}</body>`);
    iframe.contentDocument.close();
  };
  const show = (slot) => {
    if (!isLazy) return void render(slot);
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry.isIntersecting) return;
        observer.disconnect();
        render(slot);
      },
      { rootMargin: '200px' },
    );
    observer.observe(document.getElementById(slot.id));
  };
  const define = (unit, size, id) => {
    const slot = { unit, size, id, isSafe: false };
    slot.addService = () => slot;
    slot.setForceSafeFrame = (isSafe) => {
      slot.isSafe = isSafe;
      return slot;
    };
    slots.push(slot);
    return slot;
  };
  const service = {
    enableLazyLoad: () => {
      isLazy = true;
    },
    collapseEmptyDivs: () => undefined,
    enableSingleRequest: () => undefined,
    refresh: (chosen = slots) => chosen.forEach(render),
  };
  const anchored = (unit, id, size, style) => {
    const box = document.createElement('ins');
    Object.assign(box, { id, className: 'adsbygoogle' });
    box.style.cssText = style;
    document.body.append(box);
    return define(unit, size, id);
  };
  const commands = window.googletag?.cmd ?? [];
  window.googletag = {
    apiReady: true,
    pubads: () => service,
    enableServices: () => undefined,
    defineSlot: define,
    defineOutOfPageSlot: (unit, format) =>
      format === 'BOTTOM_ANCHOR'
        ? anchored(
            unit,
            'gpt_unit_anchor',
            [innerWidth < 728 ? 320 : 728, innerWidth < 728 ? 50 : 90],
            'display:block;position:fixed;bottom:0;left:0;width:100%;z-index:99999',
          )
        : anchored(
            unit,
            'gpt_unit_interstitial',
            [innerWidth, innerHeight],
            'display:block;position:fixed;inset:0;z-index:99999;background:#fff',
          ),
    display: (id) => show(typeof id === 'string' ? slots.find((slot) => slot.id === id) : id),
    enums: { OutOfPageFormat: { INTERSTITIAL: 'INTERSTITIAL', BOTTOM_ANCHOR: 'BOTTOM_ANCHOR' } },
    cmd: { push: (command) => command() },
  };
  for (const command of commands) command();
})();
