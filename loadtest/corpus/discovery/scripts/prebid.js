// @ts-nocheck: a script of pages, which run without types.
// A double of Prebid.js: asks a bidder for markup and renders it in the frame of a slot.
(() => {
  const commands = window.pbjs?.que ?? [];
  window.pbjs = {
    version: 'v9.9.0',
    adUnits: [],
    requestBids: async ({ adUnits, bidsBackHandler }) => {
      await Promise.all(
        adUnits.map(async (unit) => {
          const query = new URLSearchParams({ unit: unit.code, prebid: '9.9.0' });
          unit.ad = await (await fetch(`${unit.endpoint}?${query}`)).text();
          window.pbjs.adUnits.push(unit);
        }),
      );
      bidsBackHandler();
    },
    renderAd: (frameDocument, code) => {
      frameDocument.open();
      frameDocument.write(window.pbjs.adUnits.find((unit) => unit.code === code).ad);
      frameDocument.close();
    },
    markupOf: (code) => window.pbjs.adUnits.find((unit) => unit.code === code).ad,
    que: { push: (command) => command() },
  };
  for (const command of commands) command();
})();
