// @ts-nocheck the browser runs this file as it is; its types are those of a document that a test drives
/**
 * Keeps pages of the console up to date and lets them be used by keyboard. Every page is whole without it: it reads the same pages again and
 * replaces the regions (`data-region`) that have changed.
 */

const main = document.querySelector('main');

/** The element of a region in a document. */
const regionOf = (name, within = document) => within.querySelector(`[data-region="${CSS.escape(name)}"]`);

/** Whether somebody is using a region: it is left as it is then. */
const isInUse = (region) =>
  region.querySelector('details.asks[open], input:checked') ||
  (region.contains(document.activeElement) &&
    document.activeElement.matches('input, select, textarea, .asks > summary, button'));

/** What can be unfolded in a region, each with a name: its text, and which one it is of those that have the same. */
function foldsIn(region) {
  const counts = new Map();
  return [...region.querySelectorAll('details:not(.asks)')].map((fold) => {
    const words = fold.textContent;
    counts.set(words, (counts.get(words) ?? 0) + 1);
    return [`${counts.get(words)} ${words}`, fold];
  });
}

/** Unfolds in the replacement of a region what is unfolded in it, and keeps the focus on what unfolds it. */
function keepUnfolded(shown, replacement) {
  const before = new Map(foldsIn(shown));
  const isFocused = (fold) => fold.firstElementChild === document.activeElement;
  return foldsIn(replacement).flatMap(([name, fold]) => {
    const same = before.get(name);
    if (same) fold.open = same.open;
    return same && isFocused(same) ? fold.firstElementChild : [];
  })[0];
}

/** Replaces regions that differ; `names`: only these. Returns whether one was left as it was because somebody uses it. */
function replaceRegions(page, names = null) {
  let isOneLeft = false;
  for (const next of page.querySelectorAll('[data-region]')) {
    const name = next.dataset.region;
    const shown = regionOf(name);
    if (!shown || (names && !names.includes(name)) || plain(shown) === plain(next)) continue;
    if (!names && isInUse(shown)) {
      isOneLeft = true;
      continue;
    }
    const focused = shown.contains(document.activeElement) ? document.activeElement : null;
    const selector = focused?.id
      ? `#${CSS.escape(focused.id)}`
      : focused?.getAttribute('href')
        ? `a[href="${CSS.escape(focused.getAttribute('href'))}"]:not([aria-hidden])`
        : null;
    const [focusedRow, current] = [focused?.closest('tr[data-row]'), shown.querySelector('tr[data-current]')];
    const replacement = document.importNode(next, true);
    const focusedFold = keepUnfolded(shown, replacement);
    shown.replaceWith(replacement);
    focusedFold?.focus({ preventScroll: true });
    const rowLike = (row) => replacement.querySelector(`tr[data-row="${CSS.escape(row.dataset.row)}"]`);
    if (current) rowLike(current)?.toggleAttribute('data-current', true);
    // Rows may have links to the same address.
    if (selector)
      (focusedRow ? rowLike(focusedRow) : replacement)?.querySelector(selector)?.focus({ preventScroll: true });
  }
  return isOneLeft;
}

/** The markup without the tokens of forms, which are new on each page, without the mark of the current row, and whatever is unfolded. */
const plain = (region) => region.outerHTML.replaceAll(/name="token" value="[^"]*"| data-current=""| open=""/g, '');

const parse = (text) => new DOMParser().parseFromString(text, 'text/html');

/** When the page last showed what is there, and how many readings have failed since: a person must not take old numbers for new ones. */
let shownAt = new Date();
let failures = 0;
function noteReading(hasSucceeded) {
  failures = hasSucceeded ? 0 : failures + 1;
  if (hasSucceeded) {
    shownAt = new Date();
    document.getElementById('outdated')?.remove();
  }
  // One alone is no more than a short outage.
  if (failures !== 2) return;
  const note = document.createElement('p');
  note.id = 'outdated';
  note.role = 'status';
  note.textContent = `This page cannot be updated at the moment. It shows what was there at ${shownAt.toISOString().slice(11, 16)} UTC.`;
  main.append(note);
}

/** A reading that takes longer has failed. */
const READING_MS = 30_000;

/** The pages read less often what rarely changes: it depends on how long they are open. */
let openSeconds = 0;
let isReading = false;
/** Whether something changed after the page that is being read was asked for. */
let isOutdated = false;
async function readAgain() {
  if (document.hidden) return;
  isOutdated = isReading;
  if (isReading) return;
  isReading = true;
  try {
    const headers = { Accept: 'text/html', 'Console-Open-Seconds': String(openSeconds) };
    const signal = AbortSignal.timeout(READING_MS);
    const answer = await fetch(location.href, { headers, credentials: 'same-origin', signal });
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) location.reload();
    else if (!answer.ok) noteReading(false);
    else {
      const page = parse(await answer.text());
      const isOneLeft = replaceRegions(page);
      if (!isOneLeft && !page.querySelector('main')?.dataset.every) stop();
      noteReading(true);
    }
  } catch {
    // The connection is gone for now; the next reading tries again.
    noteReading(false);
  } finally {
    isReading = false;
  }
  if (isOutdated) await readAgain();
}

let timer = 0;
let events = null;
function stop() {
  clearInterval(timer);
  events?.close();
}
function start() {
  if (!main?.dataset.every) return;
  const every = Number(main.dataset.every);
  timer = setInterval(() => {
    if (document.hidden) return;
    openSeconds += every;
    void readAgain();
  }, every * 1000);
  if (!main.dataset.events) return;
  events = new EventSource(main.dataset.events);
  events.addEventListener('state', readAgain);
  events.addEventListener('error', () => events.close());
}
start();
addEventListener('pagehide', stop);
/** A browser that goes back may show the page as it was left. */
addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  sent = new WeakMap();
  // What a person sends from here is meant to be done once more.
  for (const form of document.querySelectorAll('form[method="post"]')) {
    form.querySelector('[name="again"]')?.remove();
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'again', value: Date.now() }));
  }
  start();
  if (main?.dataset.every) void readAgain();
});

/** A button that is pressed twice would create, and charge, twice: a form is sent once until its answer is there, or for ten seconds. */
const SENT_MS = 10_000;
let sent = new WeakMap();
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented || event.target.getAttribute('method') !== 'post') return;
  const last = sent.get(event.target);
  if (last && last.by === event.submitter && performance.now() - last.at < SENT_MS) event.preventDefault();
  else sent.set(event.target, { by: event.submitter, at: performance.now() });
});

/**
 * The server keeps nothing of a form that somebody sends after their session has ended: this tab does, without passwords, and fills the form in again
 * after the sign-in.
 */
const KEPT = 'form without a session';
const isSignIn = main?.matches('.sign-in') ?? false;
document.addEventListener('submit', ({ target: form }) => {
  if (isSignIn || form.getAttribute('method') !== 'post') return;
  const isTyped = ([name, value]) =>
    name !== 'token' && typeof value === 'string' && form.elements[name].type !== 'password';
  const fields = [...new FormData(form)].filter(isTyped);
  const kept = { path: location.pathname, action: form.getAttribute('action'), fields, isUnsaved: false };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // It is longer than a browser keeps.
    sessionStorage.removeItem(KEPT);
  }
});

function fillInAgain() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
  if (!kept) return;
  const isUnsaved = new URLSearchParams(location.search).has('unsaved');
  if (isSignIn) return isUnsaved && sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, isUnsaved }));
  sessionStorage.removeItem(KEPT);
  const valuesOf = (name) => kept.fields.flatMap(([one, value]) => (one === name ? [value] : []));
  const isSame = (form) =>
    form.getAttribute('action') === kept.action && (form.elements.what?.value ?? '') === (valuesOf('what')[0] ?? '');
  const form = kept.isUnsaved && kept.path === location.pathname && [...document.forms].find(isSame);
  const controls = form ? [...form.elements].filter(({ type }) => type !== 'submit' && type !== 'file') : [];
  if (!controls.some(({ type }) => type !== 'hidden')) return;
  for (const control of controls) {
    const values = valuesOf(control.name);
    if (['checkbox', 'radio'].includes(control.type)) control.checked = values.includes(control.value);
    else if (values.length > 0 && (control.type !== 'hidden' || control.name === 'loaded')) control.value = values[0];
  }
  for (const fold of [form.closest('details'), ...form.querySelectorAll('details')]) if (fold) fold.open = true;
  const note = Object.assign(document.createElement('p'), { className: 'done', role: 'status' });
  note.textContent = 'What you had sent without being signed in is in its form again. It was not done yet.';
  form.before(note);
  form.dispatchEvent(new Event('change'));
}

/** Forms that say what they would do while they are filled in: sent without their button, of the answer only some regions are shown. */
for (const form of document.querySelectorAll('form[data-try]')) {
  let waiting = 0;
  let latest = 0;
  const attempt = async () => {
    const mine = ++latest;
    const fields = new URLSearchParams(new FormData(form));
    for (const [name, value] of new URLSearchParams(form.dataset.try)) fields.set(name, value);
    const answer = await fetch(form.action, { method: 'POST', body: fields, credentials: 'same-origin' }).catch(
      () => null,
    );
    if (!answer?.ok || mine !== latest) return;
    replaceRegions(parse(await answer.text()), form.dataset.regions.split(' '));
  };
  const later = (event) => {
    if (event.target.type === 'file') return;
    // An answer about what the form said before would replace what was chosen since.
    latest++;
    clearTimeout(waiting);
    waiting = setTimeout(attempt, event.type === 'change' ? 50 : 600);
  };
  form.addEventListener('input', later);
  form.addEventListener('change', later);
}

// After these listen: what is filled in again is tried too.
fillInAgain();

/** A text file fills a field. */
for (const input of document.querySelectorAll('input[type="file"][data-fills]'))
  input.addEventListener('change', async () => {
    const field = document.getElementById(input.dataset.fills);
    if (field && input.files[0]) field.value = await input.files[0].text();
  });

/** Rows (`data-row`: their id) that are moved through by keyboard: j and k move, x selects, other keys press the button of the row that has them, ? shows all. */
const rowsOf = () => [...document.querySelectorAll('tr[data-row]')];
const currentRow = () => document.querySelector('tr[data-current]');

function moveTo(row) {
  if (!row) return;
  currentRow()?.removeAttribute('data-current');
  row.toggleAttribute('data-current', true);
  row.querySelector('.row-link')?.focus({ preventScroll: true });
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
  row.scrollIntoView({ block: 'nearest', behavior });
}

/** People who speak to their computer, or whose hands are not steady, can switch these keys off (WCAG 2.2, 2.1.4). */
const KEYS_OFF = 'keys off';
const keysOff = document.getElementById('keys-off');
if (keysOff) keysOff.checked = localStorage.getItem(KEYS_OFF) !== null;
keysOff?.addEventListener('change', () => {
  if (keysOff.checked) localStorage.setItem(KEYS_OFF, 'yes');
  else localStorage.removeItem(KEYS_OFF);
});

const KEYS = {
  j: () => moveTo(rowsOf()[rowsOf().indexOf(currentRow()) + 1]),
  k: () => moveTo(rowsOf()[Math.max(0, rowsOf().indexOf(currentRow()) - 1)]),
  x: () => currentRow()?.querySelector('input[type="checkbox"]')?.click(),
  u: () => document.querySelector('button[data-key="u"]')?.click(),
  '?': () => document.getElementById('keys')?.togglePopover(),
};

document.addEventListener('keydown', (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.target.matches('input:not([type="checkbox"]), textarea, select')
  )
    return;
  if (keysOff?.checked || rowsOf().length === 0) return;
  // A key that is held goes on on the next page, where it would decide about the next row, and the one after it.
  if (event.repeat && event.key !== 'j' && event.key !== 'k') return;
  const press =
    KEYS[event.key] ??
    (() =>
      currentRow()
        ?.querySelector(`button[data-key="${CSS.escape(event.key)}"]`)
        ?.click());
  press();
});

/** Escape takes a question back. */
document.addEventListener('keydown', (event) => {
  const asked = event.key === 'Escape' && document.querySelector('details.asks[open]');
  if (!asked) return;
  asked.open = false;
  asked.querySelector('summary').focus();
});

/** After an action the next row is the current one. */
const first = rowsOf()[0];
if (first) {
  const kept = Number(sessionStorage.getItem(`row ${location.pathname}`) ?? -1);
  if (kept >= 0) moveTo(rowsOf()[Math.min(kept, rowsOf().length - 1)]);
  sessionStorage.removeItem(`row ${location.pathname}`);
  document.addEventListener('submit', (event) => {
    const row = event.target.closest('tr[data-row]') ?? currentRow();
    if (row) sessionStorage.setItem(`row ${location.pathname}`, String(rowsOf().indexOf(row)));
  });
}

/** One box selects all rows. */
document.addEventListener('change', (event) => {
  if (!event.target.matches('input[data-selects]')) return;
  for (const box of document.querySelectorAll(`input[name="${CSS.escape(event.target.dataset.selects)}"]`))
    box.checked = event.target.checked;
});

/** A slider over two pictures. */
document.addEventListener('input', (event) => {
  if (!event.target.matches('input[data-slides]')) return;
  document.getElementById(event.target.dataset.slides)?.setAttribute('width', `${event.target.value}%`);
});
