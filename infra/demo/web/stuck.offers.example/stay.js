// The trick this page is here to show: history is filled with copies of the page, and Back leads to another offer.
const COPIES = 10;

for (let copy = 1; copy <= COPIES; copy++) history.pushState({ copy }, '', location.href);
addEventListener('popstate', () => location.assign('/last-chance'));
