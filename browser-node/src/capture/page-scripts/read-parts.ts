import { composeScript } from './compose-script.ts';
import { type DomReader, domReader } from './dom-reader.ts';
import type { KeptShadowRoots } from './read-document.ts';
import { contrastReader, type Price, priceReader } from './read-prices.ts';

/**
 * Parts of a document that a visitor fills in, answers or overlooks; the fields are those of the observations of the
 * same names.
 */
export type PageParts = {
  forms: { fields: string[]; action_url: string; text: string }[];
  boxes: { text: string; buttons: string[] }[];
  prices: Price[];
  preselected: string[];
};
export type PartLimits = {
  nodes: number;
  forms: number;
  boxes: number;
  prices: number;
  /** The source of the expression for amounts of money. */
  money: string;
  preselected: number;
  url: number;
};

/** Collects what forms ask for, and the labels of checkboxes that are ticked. */
function formReader({ get, parentOf, boxOf, textOf, isVisible }: DomReader, limits: PartLimits) {
  const FIELDS: [string, RegExp][] = [
    ['password', /^password /],
    [
      'card_number',
      /cc-number|card.?num|cardno|\bcc.?num|card number|(credit|debit).?card|kartennummer|n[uú]m.ro.(de |da |do |della |di )?(la )?(carte|tarjeta|cart.o|carta\b)|kaartnummer|kort(num|nr)|numer karty|номер карты|kart numara|カード番号|卡号|卡號|카드 ?번호|رقم البطاقة|số thẻ|nomor kartu|หมายเลขบัตร|\d{4}( \d{4}){3}(?! ?\d)/,
    ],
    ['card_code', /cc-csc|\bcv[vc]2?\b|security.?code|card.?code|pr.fziffer/],
    [
      'one_time_code',
      /one.?time.?(code|pass|pin)|\botp\b|sms.?code|\b2fa\b|(verification|authentication|confirmation|\d.?digit).{0,14}code|(code|kod|c.digo|codice).{1,4}sms|код.{1,6}смс/,
    ],
    ['seed_phrase', /mnemonic|seed.?(phrase|word)|(recovery|secret).?phrase|private.?key/],
    ['personal_id', /\bssn\b|social.?security|passport|national.?id|\bcpf\b|\bdni\b/],
    [
      'identifier',
      /\busername\b|\bloginfmt\b|\b(user|login|account|apple).?id\b|skype|e-?mail.{0,12}(phone|mobile|handy|t.?l.?f)|(phone|mobile|handy|telefon).{1,24}e-?mail/,
    ],
    ['phone', /^tel |\btel\b|phone|mobile|msisdn|handynummer|celular|telefon/],
  ];
  /** Names of fields that look like text and are for a password. Autocompletion names it on many others, to be switched off there. */
  const PASSWORD =
    /passw(or)?d|passwort|mot.de.passe|contrase.a|\bsenha\b|wachtwoord|парол|şifre|パスワード|密码|密碼|비밀번호|كلمة المرور|mật khẩu/;
  /** One of the fields for the words of a phrase that opens a wallet, which has twelve of them or more: "word 1", "1.". */
  const NUMBERED = /(^|word|phrase|seed|mnemonic)[ _-]?#?\d{1,2}[.)]?$/;
  const [WORDS_OF_A_PHRASE, OF_A_WALLET] = [12, /phrase|wallet|mnemonic|seed/i];
  /** Boxes of one digit or letter each make one field, of at most so many characters; a puzzle has more. */
  const [BOXES_MIN, BOXES_MAX] = [4, 8];
  /** How far above a form its heading may be, in CSS pixels: a line of text between them is too much. */
  const HEADING_GAP = 40;
  const WITHOUT_TEXT = new Set(['radio', 'button', 'submit', 'reset', 'image', 'range', 'color']);
  const WORDS_MAX = 300;
  const fieldsOf = new Map<HTMLFormElement | null, Set<string>>();
  const preselected: string[] = [];
  const kindOf = (field: Element) => (field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement);
  const labelOf = (field: Element): string => {
    const [label] = get(kindOf(field), 'labels', field) ?? [];
    return label ? textOf(label, WORDS_MAX) : '';
  };
  const numbered = new Map<HTMLFormElement | null, number>();
  const boxes = new Map<HTMLFormElement | null, number>();
  /** The last heading so far, and for each form the one above it. */
  let heading: Element | null = null;
  const headingOf = new Map<HTMLFormElement | null, Element | null>();
  const containerOf = (form: HTMLFormElement | null): HTMLElement | null => form ?? get(Document, 'body', document);
  /** Whether a style shows points in place of what is typed. */
  const isMasked = (field: Element): boolean =>
    (getComputedStyle(field).getPropertyValue('-webkit-text-security') || 'none') !== 'none';
  const addField = (field: Element) => {
    const about = ['type', 'autocomplete', 'name', 'id', 'placeholder', 'aria-label'].map((name) =>
      (Element.prototype.getAttribute.call(field, name) ?? '').slice(0, WORDS_MAX).toLowerCase(),
    );
    const names = [...about.slice(2), labelOf(field).toLowerCase()];
    const words = [...about.slice(0, 2), ...names].join(' ').slice(0, WORDS_MAX);
    const known = FIELDS.find(([, pattern]) => pattern.test(words))?.[0];
    const mayBePassword = !known || known === 'identifier' || known === 'phone';
    const isPassword = () => PASSWORD.test(names.join(' ').slice(0, WORDS_MAX)) || isMasked(field);
    const kind = mayBePassword && isPassword() ? 'password' : known;
    const isNumbered = names.some((name) => NUMBERED.test(name.trim()));
    const isBox = get(kindOf(field), 'maxLength', field) === 1;
    if ((!kind && !isNumbered && !isBox) || !isVisible(field)) return;
    const form = get(kindOf(field), 'form', field);
    if (!headingOf.has(form)) headingOf.set(form, heading);
    if (isBox) boxes.set(form, (boxes.get(form) ?? 0) + 1);
    if (!kind && !isNumbered) return;
    const fields = fieldsOf.get(form) ?? new Set();
    if (kind) fieldsOf.set(form, fields.add(kind));
    if (!isNumbered) return;
    const count = (numbered.get(form) ?? 0) + 1;
    numbered.set(form, count);
    const container = count === WORDS_OF_A_PHRASE ? containerOf(form) : null;
    if (container && OF_A_WALLET.test(textOf(container, 500))) fieldsOf.set(form, fields.add('seed_phrase'));
  };
  const addCheckbox = (box: Element) => {
    if (!get(HTMLInputElement, 'checked', box) || preselected.length >= limits.preselected) return;
    const parent = parentOf(box);
    const label = labelOf(box) || (parent ? textOf(parent, WORDS_MAX) : '');
    if (label && isVisible(parent ?? box)) preselected.push(label);
  };
  const add = (element: Element) => {
    if (element instanceof HTMLHeadingElement && isVisible(element)) heading = element;
    if (element instanceof HTMLTextAreaElement) addField(element);
    if (!(element instanceof HTMLInputElement)) return;
    const type = get(HTMLInputElement, 'type', element);
    if (type === 'checkbox') addCheckbox(element);
    else if (!WITHOUT_TEXT.has(type)) addField(element);
  };
  /** The text of a form, below the heading above it where it has none of its own. */
  const readText = (form: HTMLFormElement | null): string => {
    const container = containerOf(form);
    const above = headingOf.get(form);
    if (!container) return '';
    return `${above && isHeadingOf(above, container) ? `${textOf(above, WORDS_MAX)}\n` : ''}${textOf(container, 500)}`.slice(
      0,
      500,
    );
  };
  /** Whether a heading is shown right above a form that has none: that of an article may be far above. */
  const isHeadingOf = (above: Element, container: Element): boolean => {
    if (Element.prototype.querySelector.call(container, 'h1, h2, h3, h4, h5, h6')) return false;
    const [title, form] = [boxOf(above), boxOf(container)];
    const isBeside = title.right <= form.left || title.left >= form.right;
    return !isBeside && title.bottom <= form.top + 1 && form.top - title.bottom <= HEADING_GAP;
  };
  const addBoxes = () => {
    for (const [form, count] of boxes)
      if (count >= BOXES_MIN && count <= BOXES_MAX)
        fieldsOf.set(form, (fieldsOf.get(form) ?? new Set<string>()).add('one_time_code'));
  };
  const forms = () => {
    addBoxes();
    return [...fieldsOf].slice(0, limits.forms).map(([form, fields]) => {
      const action_url = form ? String(get(HTMLFormElement, 'action', form)).slice(0, limits.url) : '';
      return { fields: [...fields], action_url, text: readText(form) };
    });
  };
  return { add, forms, preselected };
}

/** Finds boxes with buttons at points of the viewport where dialogs are placed. */
function readBoxes(
  { get, parentOf, hostOf, boxOf, textOf, isVisible }: DomReader,
  boxesMax: number,
  roots: ShadowRoot[],
): PageParts['boxes'] {
  const BUTTONS = 'button, a[href], [role=button], [onclick], input[type=button], input[type=submit]';
  const POINTS = [
    [0.5, 0.5],
    [0.5, 0.3],
    [0.5, 0.15],
    [0.15, 0.15],
    [0.85, 0.15],
    [0.85, 0.85],
  ] as const;
  const buttonsIn = (element: Element): string[] =>
    [...Element.prototype.querySelectorAll.call(element, BUTTONS)]
      .slice(0, 20)
      .flatMap((button) => {
        const text =
          button instanceof HTMLInputElement ? String(get(HTMLInputElement, 'value', button)) : textOf(button, 60);
        return text && isVisible(button) ? [text.slice(0, 60)] : [];
      })
      .slice(0, 5);
  /** The largest box around a point that has buttons and little text, and leaves a part of the viewport free. */
  const boxAt = (x: number, y: number): { element: Element; text: string; buttons: string[] } | null => {
    let found = null;
    let at: Element | null = Document.prototype.elementFromPoint.call(document, x, y);
    // Of what is in a shadow root, the document has its host only.
    for (const root of roots) if (root.host === at) at = root.elementFromPoint(x, y) ?? at;
    for (let step = 0; at && step < 12; step++, at = parentOf(at) ?? hostOf(at)) {
      const { width, height } = boxOf(at);
      if (width < 120 || height < 60 || (window.parent === window && width * height > innerWidth * innerHeight * 0.85))
        continue;
      const text = textOf(at, 700);
      if (text.length > 600) break;
      const buttons = text ? buttonsIn(at) : [];
      if (buttons.length > 0) found = { element: at, text, buttons };
    }
    return found;
  };
  const found = new Map<Element, { text: string; buttons: string[] }>();
  for (const [x, y] of POINTS) {
    const box = found.size < boxesMax ? boxAt(innerWidth * x, innerHeight * y) : null;
    if (box && !found.has(box.element)) found.set(box.element, { text: box.text, buttons: box.buttons });
  }
  return [...found.values()];
}

const PARTS = { domReader, formReader, contrastReader, priceReader, readBoxes };

/**
 * Runs in the page, in an isolated world: the forms, boxes with buttons, prices and ticked checkboxes of a document,
 * open shadow roots and those that `keepShadowRoots` has kept included.
 */
export const readParts = composeScript(function readParts(limits: PartLimits, parts: typeof PARTS): PageParts {
  const dom = parts.domReader();
  const forms = parts.formReader(dom, limits);
  const prices = parts.priceReader(dom, parts.contrastReader(dom), { most: limits.prices, money: limits.money });
  let nodes = 0;
  const keptShadowRoots = (globalThis as KeptShadowRoots)[Symbol.for('shadow roots')] ?? [];
  const closedRoots = keptShadowRoots.filter(({ mode }) => mode === 'closed');
  const walk = (root: Node) => {
    const what = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT;
    const walker = Document.prototype.createTreeWalker.call(document, root, what);
    for (let node = walker.nextNode(); node && nodes < limits.nodes; node = walker.nextNode()) {
      nodes += 1;
      if (node instanceof Text) {
        prices.add(node);
        continue;
      }
      forms.add(node as Element);
      const shadowRoot = dom.shadowRootOf(node as Element);
      if (shadowRoot) walk(shadowRoot);
    }
  };
  // The main forms of a page may be in a closed shadow root, however much is beside it.
  for (const root of closedRoots) walk(root);
  nodes = 0;
  walk(document);
  const boxes = parts.readBoxes(dom, limits.boxes, keptShadowRoots);
  return { forms: forms.forms(), boxes, prices: prices.prices, preselected: forms.preselected };
}, PARTS);
