import { type ControlPage, linesOf } from './control-page.ts';

/**
 * A way to show a page that a scanner may not see. `adds`: the tags that the disguise itself deserves. `emulator`: the device that it needs.
 * `make`: the page in it, and further pages of its host by their path.
 */
type Disguise = {
  adds?: string[];
  emulator?: string;
  make(page: ControlPage): { html: string; further?: Record<string, string> };
};

const document = (title: string, body: string): string => `<!doctype html><title>${title}</title><body>${body}`;
/** A text as a literal of a script in HTML. */
const literal = (text: string): string => JSON.stringify(text).replaceAll('</', '<\\/');
const attribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
/** An expression for the content of a page; its scripts run once it is inserted. */
const fragment = ({ body, scripts }: ControlPage): string =>
  `document.createRange().createContextualFragment(${literal(body + scripts)})`;
/** Another content in the same page. */
const withBody = (page: ControlPage, body: string) => ({ html: document(page.title, body + page.scripts) });
/** The page with its visible text changed. */
const withText = (page: ControlPage, change: (text: string) => string) =>
  withBody(
    page,
    page.body.replace(/(<style>[\s\S]*?<\/style>|<[^>]*>)|([^<]+)/g, (_, tag, text) => tag ?? change(text)),
  );
const withShadow = (page: ControlPage, mode: string) => ({
  html: document(
    page.title,
    `<div></div><script>document.querySelector('div').attachShadow({ mode: '${mode}' }).append(${fragment(page)})</script>`,
  ),
});
/** A harmless page that inserts the content when `script` calls `show`. */
const shownBy = (page: ControlPage, script: string) => ({
  html: document(
    'Recipes',
    `<h1>Ten recipes for autumn</h1><p style="height: 1500px">Pumpkins, apples and nuts.</p>
<script>
let isShown = false;
const show = () => {
  if (isShown) return;
  isShown = true;
  document.title = ${literal(page.title)};
  document.body.replaceChildren(${fragment(page)});
};
${script}
</script>`,
  ),
});
const onEvents = (page: ControlPage, ...events: string[]) =>
  shownBy(page, events.map((event) => `addEventListener('${event}', show, true);`).join('\n'));
const inFrame = (page: ControlPage, frame: string, further: Record<string, string> = {}) => ({
  html: document(page.title, frame),
  further,
});
const FRAME = 'title="a frame" width="900" height="600"';
const whole = (page: ControlPage): string => document(page.title, page.body + page.scripts);

/** Cyrillic and Greek letters that look like Latin ones. */
const LOOK_ALIKES: Record<string, string> = {
  ...{ a: 'а', c: 'с', e: 'е', i: 'і', j: 'ј', o: 'о', p: 'р', s: 'ѕ', x: 'х', y: 'у', v: 'ν', h: 'һ' },
  ...{ A: 'А', B: 'В', C: 'С', E: 'Е', H: 'Н', I: 'І', K: 'К', M: 'М', O: 'О', P: 'Р', S: 'Ѕ', T: 'Т', X: 'Х', Y: 'Υ' },
};
const lookAlike = (text: string): string => text.replace(/[a-zA-Z]/g, (letter) => LOOK_ALIKES[letter] ?? letter);
/** ASCII letters as those of another block with the same order; `lower` and `upper`: where these begin. */
const inBlock = (lower: number, upper: number) => (text: string) =>
  text.replace(/[a-zA-Z]/g, (letter) => {
    const code = letter.charCodeAt(0);
    return String.fromCodePoint(code >= 97 ? lower + code - 97 : upper + code - 65);
  });
const FILLER = 'Pumpkins, apples and nuts are in season, and soups keep well. '.repeat(600);
const hiddenWords = (style: string) => (page: ControlPage) =>
  withBody(page, `<div style="${style}">scam hoax scam hoax</div>${page.body}`);

/** All disguises by name: a row of the table names one. */
export const DISGUISES = {
  // What the page itself shows.
  'as written': { make: (page) => ({ html: whole(page) }) },
  'open shadow root': { make: (page) => withShadow(page, 'open') },
  'closed shadow root': { make: (page) => withShadow(page, 'closed') },
  'declared shadow root': {
    make: (page) => withBody(page, `<div><template shadowrootmode="closed">${page.body}</template></div>`),
  },
  'shadow root in a shadow root': {
    make: (page) => ({
      html: document(
        page.title,
        `<div></div><script>
        const outer = document.querySelector('div').attachShadow({ mode: 'closed' });
        const inner = document.createElement('section');
        outer.append(inner);
        inner.attachShadow({ mode: 'closed' }).append(${fragment(page)});</script>`,
      ),
    }),
  },
  'text area': {
    make: (page) =>
      withBody(
        page,
        `<textarea readonly style="width: 900px; height: 500px; border: 0">${linesOf(page).join('\n')}</textarea>`,
      ),
  },
  'read-only input': {
    make: (page) =>
      withBody(
        page,
        linesOf(page)
          .map((line) => `<p><input readonly size="150" style="border: 0" value="${attribute(line)}"></p>`)
          .join(''),
      ),
  },
  'CSS content': {
    make: (page) =>
      withBody(
        page,
        linesOf(page)
          .map((line, at) => `<style>#c${at}::before { content: ${literal(line)} }</style><p id="c${at}"></p>`)
          .join(''),
      ),
  },
  'list of SVG texts': {
    make: (page) =>
      withBody(
        page,
        `<svg width="1300" height="600">${linesOf(page)
          .map((line, at) => `<text x="20" y="${40 + at * 40}">${line.replaceAll('&', '&amp;')}</text>`)
          .join('')}</svg>`,
      ),
  },
  'canvas text': {
    make: (page) =>
      withBody(
        page,
        `<canvas width="1300" height="600"></canvas><script>
        const context = document.querySelector('canvas').getContext('2d');
        context.font = '20px sans-serif';
        ${JSON.stringify(linesOf(page)).replaceAll('</', '<\\/')}.forEach((line, at) => context.fillText(line, 20, 40 + at * 40));</script>`,
      ),
  },
  'one element a letter': {
    make: (page) => withText(page, (text) => text.replace(/[a-z]/gi, '<span style="display: inline-block">$&</span>')),
  },
  'letters as flex items': {
    make: (page) =>
      withText(page, (text) =>
        text.trim() === ''
          ? text
          : `<span style="display: flex; flex-wrap: wrap; white-space: pre">${text.trim().replace(/\S/g, '<i>$&</i>').replace(/ /g, '<i> </i>')}</span>`,
      ),
  },
  'look-alike letters': { make: (page) => withText(page, lookAlike) },
  'full-width letters': { make: (page) => withText(page, inBlock(0xff41, 0xff21)) },
  'mathematical letters': { make: (page) => withText(page, inBlock(0x1d5ee, 0x1d5d4)) },
  'combining marks': { make: (page) => withText(page, (text) => text.replace(/[aeiou]/gi, '$&\u0323')) },
  'reversed letters': {
    make: (page) =>
      withText(page, (text) => `<bdo dir="rtl">${[...text.replaceAll('&amp;', '&')].reverse().join('')}</bdo>`),
  },
  'invisible characters': { make: (page) => withText(page, (text) => text.replace(/[a-z]/gi, '$&\u200b\u00ad')) },
  'padding off the screen': {
    make: (page) => {
      const padding = `<div style="position: absolute; left: -9000px; width: 900px">${FILLER}</div>`;
      return withBody(page, padding + page.body + padding);
    },
  },
  'padding below': {
    make: (page) => {
      const padding = `<div style="padding-top: 1500px">${FILLER}</div>`;
      return withBody(
        page,
        `${padding}<div style="position: fixed; inset: 0; background: #789">${page.body}</div>${padding}`,
      );
    },
  },
  'hidden warnings, transparent': { make: hiddenWords('opacity: 0') },
  'hidden warnings, of no size': { make: hiddenWords('font-size: 0') },
  'hidden warnings, off the screen': { make: hiddenWords('position: absolute; left: -9000px') },
  'hidden warnings, clipped': {
    make: hiddenWords('position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)'),
  },
  'hidden warnings, in the colour of the page': { make: hiddenWords('color: white; background: white') },
  'hidden warnings, in transparent letters': { make: hiddenWords('color: transparent') },
  // Where the page is shown.
  frame: { make: (page) => inFrame(page, `<iframe ${FRAME} src="/shown"></iframe>`, { '/shown': whole(page) }) },
  'frame of a srcdoc': {
    make: (page) => inFrame(page, `<iframe ${FRAME} srcdoc="${attribute(whole(page))}"></iframe>`),
  },
  'frame of a blob': {
    make: (page) =>
      inFrame(
        page,
        `<iframe ${FRAME}></iframe><script>
        const blob = new Blob([${literal(whole(page))}], { type: 'text/html; charset=utf-8' });
        document.querySelector('iframe').src = URL.createObjectURL(blob);</script>`,
      ),
  },
  'frame in a closed shadow root': {
    make: (page) =>
      inFrame(
        page,
        `<div></div><script>
        document.querySelector('div').attachShadow({ mode: 'closed' }).innerHTML = '<iframe ${FRAME} src="/shown"></iframe>';</script>`,
        { '/shown': whole(page) },
      ),
  },
  'written window': {
    adds: ['popup_bomb'],
    make: (page) => ({
      html: document(
        'Recipes',
        `<p>Ten recipes for autumn</p><script>
        const shown = open('about:blank');
        shown?.document.write(${literal(whole(page))});
        shown?.document.close();</script>`,
      ),
    }),
  },
  // When it is shown.
  late: { make: (page) => shownBy(page, 'setTimeout(show, 2000);') },
  'late by the timer of a worker': {
    make: (page) =>
      shownBy(
        page,
        `const source = new Blob(['setTimeout(() => postMessage(1), 4500)']);
        new Worker(URL.createObjectURL(source)).onmessage = show;`,
      ),
  },
  'at the end of an animation': {
    make: (page) =>
      shownBy(
        page,
        `let frames = 0;
        const next = () => {
          document.body.style.paddingLeft = frames + 'px';
          if (++frames < 60) requestAnimationFrame(next);
          else show();
        };
        addEventListener('load', next);`,
      ),
  },
  'after a move': { make: (page) => onEvents(page, 'mousemove', 'pointermove') },
  'after a scroll': { make: (page) => onEvents(page, 'scroll', 'wheel') },
  'after a touch': { emulator: 'iphone_15', make: (page) => onEvents(page, 'touchstart') },
  'on activation': {
    make: (page) =>
      shownBy(
        page,
        'const look = () => (navigator.userActivation.hasBeenActive ? show() : setTimeout(look, 50)); look();',
      ),
  },
} satisfies Record<string, Disguise>;

export type DisguiseName = keyof typeof DISGUISES;
export const disguiseOf = (name: DisguiseName): Disguise => DISGUISES[name];
